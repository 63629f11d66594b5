//! mic@1, the compact text format with explicit ids.
//!
//! ```
//! use mind::ir::compact::{emit_mic, parse_mic};
//! use mind::ir::IRModule;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mic_str = "mic@1\nT0 [f32;2]\nN0 param \"x\" T0\nN1 relu N0 T0\nO N1\n";
//! // Parse MIC to IR
//! let module = parse_mic(mic_str)?;
//!
//! // Emit IR to MIC
//! let mic = emit_mic(&module);
//!
//! // Roundtrip is deterministic
//! assert_eq!(emit_mic(&parse_mic(&mic)?), mic);
//! # let _: IRModule = module;
//! # Ok(())
//! # }
//! ```

pub mod v2;

use mind_text::Format;

use super::IRModule;

/// The first error of a text that is not valid mic@1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MicParseError {
    /// The line, from 1; 0 for the text as a whole.
    pub line: usize,
    /// The message.
    pub message: String,
}

impl std::fmt::Display for MicParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "mic:{}: error: {}", self.line, self.message)
    }
}

impl std::error::Error for MicParseError {}

/// Parses mic@1. The module is not verified.
///
/// # Errors
///
/// Returns the first error of the text.
pub fn parse_mic(text: &str) -> Result<IRModule, MicParseError> {
    let parsed = binding::parse(Format::Mic1, text);
    parsed.map_err(|(line, message)| MicParseError { line, message })
}

/// Prints a module as canonical mic@1.
///
/// # Panics
///
/// Panics if mic@1 cannot express the module; [`try_emit_mic`] returns the reason instead.
pub fn emit_mic(module: &IRModule) -> String {
    try_emit_mic(module).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Prints a module as canonical mic@1.
///
/// # Errors
///
/// Errors if mic@1 cannot express an op.
pub fn try_emit_mic(module: &IRModule) -> Result<String, String> {
    binding::print(Format::Mic1, module)
}

/// Parsers and printers for the ops of all dialects.
mod binding {
    use std::sync::OnceLock;

    use mind_diag::Diagnostics;
    use mind_driver::session::Session;
    use mind_text::{Format, Formats, Limits, first_error};

    use crate::ir::IRModule;

    fn formats() -> &'static Formats {
        static SESSION: OnceLock<Session> = OnceLock::new();
        &SESSION.get_or_init(Session::default).formats.text
    }

    pub(super) fn parse(format: Format, text: &str) -> Result<IRModule, (usize, String)> {
        let parsed = formats().parse(format, text, 0, &Limits::default());
        parsed.map_err(|found| first(&found, text))
    }

    pub(super) fn print(format: Format, module: &IRModule) -> Result<String, String> {
        formats()
            .print(format, module)
            .map_err(|found| first(&found, "").1)
    }

    /// Returns the line and the message of the first error.
    fn first(found: &Diagnostics, text: &str) -> (usize, String) {
        let first = first_error(text, 0, found);
        first.map_or((0, String::new()), |error| (error.line, error.message))
    }
}
