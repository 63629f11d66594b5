//! Drawings of modules: what computes what.

mod html;
mod module;

pub use html::html;
pub use module::module;
