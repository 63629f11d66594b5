//! Drawings that passes make of their own data.

/// A drawing that is wanted of one e-graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// How it is written.
    pub form: DrawingForm,
    /// How many regions come before the one that is wanted; falls as passes work through theirs.
    pub skip: usize,
    /// What was drawn.
    pub text: Option<String>,
}

/// How a drawing is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrawingForm {
    /// The language of Graphviz.
    Dot,
    /// A picture.
    Svg,
}
