//! Drawings that a pass makes of its own data.

/// A request for the drawing of one e-graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drawing {
    /// The output format.
    pub form: DrawingForm,
    /// The number of regions before the requested one; passes decrement it.
    pub skip: usize,
    /// The drawing, once it is made.
    pub text: Option<String>,
}

/// The output format of a drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrawingForm {
    /// DOT, for Graphviz.
    Dot,
    /// SVG.
    Svg,
}
