//! MIL, the text of Core ML's compiled programs.
//!
//! ```text
//! program(1.3)
//! [buildInfo = dict<string, string>({{"coremlc-version", "0"}})]
//! {
//!     func main<ios18>(tensor<fp16, [1, 4]> x) {
//!             tensor<fp16, [1, 4]> y = relu(x = x)[name = string("y")];
//!         } -> (y);
//! }
//! ```
//!
//! docs/formats/mil.md has the grammar and the supported part of it. There are two generations of the text; a program
//! is printed in the generation that it was read in. The module is the program's function `main`, or the first one if
//! none has that name.

pub(crate) mod build;
mod float;
mod lex;
mod names;
mod parse;
pub(crate) mod print;
mod spelling;
pub(crate) mod syntax;
pub(crate) mod types;

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef};
use mind_mil::ops::ROWS;
use mind_mil::structure::Const;

use mind_text::{Limits, SourceMap};
pub use spelling::Spelling;

/// Maximum nesting depth of blocks, lists and types.
pub(crate) const MAX_NESTING: usize = 32;

/// A part of a program, or the error that prevented reading it.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Returns whether `text` begins like a MIL program.
pub fn is_program(text: &str) -> bool {
    mind_text::first_line(text).is_some_and(|line| line.starts_with("program"))
}

/// Reads a program. `base` is added to every span, because a text may be part of a larger file.
///
/// Weights in a file are not read; their paths are checked to stay inside the model's folder.
///
/// # Errors
///
/// Every error in the text itself, in text order. Types and shapes are left to the verifier.
pub fn parse(
    text: &str,
    base: u32,
    limits: &Limits,
    spelling: Spelling,
) -> Result<Graph, Diagnostics> {
    parse::parse(text, base, limits, spelling, None)
}

/// Reads a program as [`parse`] does, and fills `map` with the names of the text.
///
/// # Errors
///
/// As [`parse`]; `map` then holds the names of the statements that could be read.
pub fn parse_mapped(
    text: &str,
    base: u32,
    limits: &Limits,
    spelling: Spelling,
    map: &mut SourceMap,
) -> Result<Graph, Diagnostics> {
    let parsed = parse::parse(text, base, limits, spelling, Some(map));
    map.sort();
    parsed
}

/// Returns the op names of MIL with their definitions, in no particular order.
pub fn ops() -> impl Iterator<Item = (&'static str, &'static OpDef)> {
    let ops = ROWS.iter().map(|row| (row.name, &row.def));
    ops.chain([("const", Const::DEF)])
}

/// Prints a program in the layout of Apple's compilers. The last byte is its closing brace.
///
/// # Errors
///
/// One error for each op that is not in MIL.
pub fn print(g: &Graph, spelling: Spelling) -> Result<String, Diagnostics> {
    print::print(g, spelling)
}
