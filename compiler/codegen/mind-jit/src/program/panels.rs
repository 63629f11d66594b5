//! Choice of panel widths for packed weights.

/// How the panel widths of weights are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PanelChoice {
    /// The best panels for the product that reads them.
    #[default]
    Best,
    /// The same panels for any number of rows, with elements in their stored dtype, so that programs for several
    /// numbers of rows can [share](super::BoundProgram::sharing) them.
    Shared,
}
