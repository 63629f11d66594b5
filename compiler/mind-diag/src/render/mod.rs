//! Diagnostics as text for people and JSON for programs.

mod json;
mod text;

pub use json::render_json;
pub use text::render_text;
