//! Parsing: text to syntax, and syntax to a graph.

mod body;
mod build;
mod literal;
mod program;
mod reader;
mod types;

use mind_diag::Diagnostics;
use mind_ir::Graph;

use super::lex::Lexer;
use super::spelling::Spelling;
use super::table::Table;
use crate::limits::Limits;
use reader::Reader;

/// Reads a program.
pub(super) fn parse(
    table: &Table,
    text: &str,
    base: u32,
    limits: &Limits,
    spelling: Spelling,
) -> Result<Graph, Diagnostics> {
    let lexer = Lexer::new(text, base, limits).map_err(|error| Diagnostics::from(*error))?;
    let mut reader = Reader::new(lexer, limits, spelling);
    let program = program::program(&mut reader);
    let mut found = reader.finish();
    if let (Some(program), false) = (program, found.has_errors()) {
        match build::build(table, &program) {
            Ok(graph) => return Ok(graph),
            Err(errors) => found.append(errors),
        }
    }
    found.sort_by_place();
    Err(found)
}
