//! Drawings of modules: what computes what, as Graphviz, as a picture, as a page.

mod dot;
mod drawing;
mod escape;
mod html;
mod layout;
mod palette;
mod svg;

pub use dot::dot;
pub use drawing::{Drawing, Kind, Mark, Node};
pub use escape::escape;
pub use html::html;
pub use palette::{STYLE, group_colour};
pub use svg::{svg, svg_figure};
