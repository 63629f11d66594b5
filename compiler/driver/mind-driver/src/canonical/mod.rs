//! Canonical forms of texts: modules by [`canonical`], rule files by [`format_rules`].

mod comments;
mod lines;
#[cfg(feature = "mil")]
mod mil;
mod split;

use crate::formats::{Format, Formats};
use mind_diag::Diagnostics;
use mind_ir::Graph;
pub use mind_rules::{Comments, format_rules};

/// Returns the canonical form of `source`, whose module is `g`. The final line end is that of `source`, except in
/// formats that prescribe it.
///
/// # Errors
///
/// Errors if the format cannot express an op, or if a comment to keep belongs to a statement that the canonical form
/// lacks.
pub fn canonical(
    formats: &Formats,
    format: Format,
    source: &str,
    g: &Graph,
    comments: Comments,
) -> Result<String, Diagnostics> {
    let printed = formats.print(format, g)?;
    let mut text = match comments {
        Comments::Drop => printed,
        Comments::Keep => comments::carry_over(source, &printed, format)?,
    };
    if format != Format::Mic2 && source.ends_with('\n') && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}
