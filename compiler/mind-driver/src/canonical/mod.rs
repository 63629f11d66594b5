//! Texts in the canonical form of their format: modules by [`canonical`], rule files by [`format_rules`].

mod comments;
mod lines;
#[cfg(feature = "mil")]
mod mil;
mod split;

use crate::formats::{Format, Formats};
use mind_diag::Diagnostics;
use mind_ir::Graph;
pub use mind_rules::{Comments, format_rules};

/// The canonical form of `source`, which reads as `g`, with its line end at the end where the format leaves
/// that open.
///
/// # Errors
///
/// An op that the format cannot say; a comment to keep that has no place in the canonical form.
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
