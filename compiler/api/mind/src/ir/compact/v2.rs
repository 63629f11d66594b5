//! mic@2, the compact text format with implicit ids.
//!
//! ```
//! use mind::ir::compact::v2::{parse_mic2, emit_mic2, Graph};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let text = "mic@2\n# a comment\nT0 f16 128 128\na X T0\nr 0\nO 1\n";
//! // Parse mic@2 text
//! let graph = parse_mic2(text)?;
//!
//! // Emit canonical mic@2
//! let canonical = emit_mic2(&graph);
//!
//! // Roundtrip is deterministic
//! assert_eq!(emit_mic2(&parse_mic2(&canonical)?), canonical);
//! # let _: Graph = graph;
//! # Ok(())
//! # }
//! ```
//!
//! Errors name the line:
//!
//! ```
//! use mind::ir::compact::v2::{parse_mic2, Mic2ParseError};
//!
//! # let input = "mic@2\nT0 f32 4\na x T0\nm 0\nO 1";
//! match parse_mic2(input) {
//!     Ok(graph) => { /* use graph */
//! #       unreachable!("{} outputs", graph.outputs().len());
//!     }
//!     Err(Mic2ParseError { line, message }) => {
//!         eprintln!("mic@2:{}: error: {}", line, message);
//! #       assert_eq!((line, message.as_str()), (4, "'m' needs 2 inputs, found 1"));
//!     }
//! }
//! ```

use mind_text::Format;

use super::binding;

/// A module in any format.
pub use mind_ir::Graph;

/// The first error of a text that is not valid mic@2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mic2ParseError {
    /// The line, from 1; 0 for the text as a whole.
    pub line: usize,
    /// The message.
    pub message: String,
}

impl std::fmt::Display for Mic2ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "mic@2:{}: error: {}", self.line, self.message)
    }
}

impl std::error::Error for Mic2ParseError {}

/// Parses mic@2. The module is not verified.
///
/// # Errors
///
/// Returns the first error of the text.
pub fn parse_mic2(text: &str) -> Result<Graph, Mic2ParseError> {
    let parsed = binding::parse(Format::Mic2, text);
    parsed.map_err(|(line, message)| Mic2ParseError { line, message })
}

/// Prints a module as canonical mic@2.
///
/// # Panics
///
/// Panics if mic@2 cannot express the module; [`try_emit_mic2`] returns the reason instead.
pub fn emit_mic2(graph: &Graph) -> String {
    try_emit_mic2(graph).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Prints a module as canonical mic@2.
///
/// # Errors
///
/// Errors if mic@2 cannot express an op.
pub fn try_emit_mic2(graph: &Graph) -> Result<String, String> {
    binding::print(Format::Mic2, graph)
}
