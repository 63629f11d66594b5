//! Drawings of graphs: boxes of text and arrows between them, as SVG and as DOT.
//!
//! - [`Drawing`] is the input: callers translate their data into boxes and edges.
//! - [`Drawing::simplified`] folds repeated parts into one and reduces large drawings to an overview.
//! - [`Layout`] places boxes in layers and routes edges around boxes.
//! - [`svg`], [`svg_figure`] and [`dot`] print. All of them are deterministic.

mod check;
mod coordinates;
mod crossings;
mod dot;
mod drawing;
mod geometry;
mod layers;
mod layout;
mod overview;
mod place;
mod repeats;
mod simplify;
mod style;
mod svg;
mod text;

pub use dot::dot;
pub use drawing::{BoxLine, DrawBox, Drawing, Edge, Fill, Mark};
pub use geometry::{Area, Point};
pub use layout::Layout;
pub use simplify::Detail;
pub use style::{STYLE, group_colour};
pub use svg::{svg, svg_figure};
pub use text::{cut, escape};
