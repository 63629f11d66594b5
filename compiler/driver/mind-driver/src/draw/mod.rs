//! Drawings of a module's data flow.

mod html;
mod module;

pub use html::html;
pub use module::module;
