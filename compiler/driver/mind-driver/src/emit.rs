//! Prints modules, in the input's format if possible.

use crate::formats::{Format, FormatInfo, Formats};
use mind_diag::{Diagnostic, Diagnostics, Severity};
use mind_ir::Graph;

use crate::interface::left_out;
use crate::load::warnings;

/// A printed module.
pub struct Emitted {
    /// The text.
    pub text: String,
    /// Its format.
    pub format: Format,
    /// The reason, if the format is not that of the input.
    pub note: Option<Diagnostic>,
    /// The warnings of the format, unless it is the input's because reading has already warned, and a note for each
    /// part of the interface that it cannot represent.
    pub warnings: Diagnostics,
}

/// Prints `g` as `wanted`. Without `wanted` it is printed in the format of the input, or as Core text if the input is
/// not in a text format of modules, or if that format cannot express `g`.
///
/// # Errors
///
/// Errors if `wanted` cannot express an op.
pub fn emit(
    formats: &Formats,
    g: &Graph,
    input: &FormatInfo,
    wanted: Option<Format>,
) -> Result<Emitted, Diagnostics> {
    let format = wanted.or(input.text()).unwrap_or(Format::Core);
    match formats.print(format, g) {
        Ok(text) => Ok(Emitted {
            text,
            format,
            note: None,
            warnings: warned(format, g, input),
        }),
        Err(found) if wanted.is_some() || format == Format::Core => Err(found),
        Err(found) => {
            let text = formats.print(Format::Core, g)?;
            let reason = found
                .first_error()
                .map_or(String::new(), |first| first.message.clone());
            let message = format!("printed as Core text: {reason}");
            let span = found
                .first_error()
                .map(|first| first.span)
                .unwrap_or_default();
            let note = Some(Diagnostic::new(Severity::Note, span, message));
            Ok(Emitted {
                text,
                format: Format::Core,
                note,
                warnings: Diagnostics::new(),
            })
        }
    }
}

/// Returns the warnings of a module that was printed as `format`.
fn warned(format: Format, g: &Graph, input: &FormatInfo) -> Diagnostics {
    let row = format.info();
    let mut found = match input.text() == Some(format) {
        true => Diagnostics::new(),
        false => warnings(row, g),
    };
    left_out(row, g)
        .into_iter()
        .for_each(|note| found.push(note));
    found
}
