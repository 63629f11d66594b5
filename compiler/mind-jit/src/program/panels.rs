//! The choice of the panels that weights are packed into.

/// How the panels that weights are packed into are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PanelChoice {
    /// The best ones for the product that reads them.
    #[default]
    Best,
    /// The same ones whatever the rows of the product, with elements as they are stored, so that programs for
    /// several numbers of rows can [share](super::BoundProgram::sharing) them.
    Shared,
}
