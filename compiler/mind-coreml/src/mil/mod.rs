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
//! docs/formats/mil.md has the grammar, and what of it is read and printed. Both generations are read and
//! printed as they were read; a program's function `main`, or its first, is the module.

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

/// How deep blocks, lists and types may nest.
pub(crate) const MAX_NESTING: usize = 32;

/// A part of a program, or why it cannot be read.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Whether `text` begins as a program does.
pub fn is_program(text: &str) -> bool {
    mind_text::first_line(text).is_some_and(|line| line.starts_with("program"))
}

/// Reads a program. `base` is added to every span, for a text that is part of a larger file.
///
/// Weights in a file stay unread, their path checked to stay inside the model's folder.
///
/// # Errors
///
/// Everything that is wrong with the text itself, in the order of its places; types and
/// shapes are for the verifier.
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
/// The same; `map` then holds the names of the statements that could be read.
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

/// The words that name ops, with what each names, in no order.
pub fn ops() -> impl Iterator<Item = (&'static str, &'static OpDef)> {
    let ops = ROWS.iter().map(|row| (row.name, &row.def));
    ops.chain([("const", Const::DEF)])
}

/// Writes a program as compilers lay it out; the last byte is its closing brace.
///
/// # Errors
///
/// Each op that MIL does not have.
pub fn print(g: &Graph, spelling: Spelling) -> Result<String, Diagnostics> {
    print::print(g, spelling)
}
