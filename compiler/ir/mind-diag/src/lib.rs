//! Spans, source files, diagnostics and their codes.
//!
//! Parsers and the verifier collect [`Diagnostic`]s in [`Diagnostics`]. Tools render them with their [`SourceFile`], as
//! text for people or as JSON for programs.

mod code;
mod diagnostic;
mod render;
mod source;
mod span;

pub use code::{CATALOGUE, Code, CodeInfo};
pub use diagnostic::{Diagnostic, Diagnostics, Fix, Severity};
pub use render::{render_json, render_text};
pub use source::SourceFile;
pub use span::Span;
