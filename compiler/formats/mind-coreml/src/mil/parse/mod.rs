//! Parser: text to syntax tree, and syntax tree to graph.

mod body;
mod literal;
mod program;
mod reader;
mod types;

use mind_diag::Diagnostics;
use mind_ir::Graph;

use super::build;
use super::lex::Lexer;
use super::spelling::Spelling;
use mind_text::Limits;
use mind_text::SourceMap;
use reader::Reader;

/// Reads a program.
pub(super) fn parse(
    text: &str,
    base: u32,
    limits: &Limits,
    spelling: Spelling,
    map: Option<&mut SourceMap>,
) -> Result<Graph, Diagnostics> {
    let lexer = Lexer::new(text, base, limits).map_err(|error| Diagnostics::from(*error))?;
    let mut reader = Reader::new(lexer, limits, spelling, map);
    let program = program::program(&mut reader);
    let (mut found, map) = reader.finish();
    let broken = found.has_errors();
    // A program with errors is still built for its names; the errors of that build are dropped because they follow from
    // the first ones.
    if let Some(program) = program
        && !program.functions.is_empty()
        && (!broken || map.is_some())
    {
        match build::build(&program, map) {
            Ok(graph) if !broken => return Ok(graph),
            Err(errors) if !broken => found.append(errors),
            _ => {}
        }
    }
    found.sort_by_place();
    Err(found)
}
