//! Rendering of diagnostics as text or JSON.

mod json;
mod text;

pub use json::render_json;
pub use text::render_text;
