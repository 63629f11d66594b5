//! Core text: both spellings of every op, bodies, errors with their spans, and hostile input.

mod bodies;
mod coverage;
mod dialect;
mod errors;
mod generate;
mod hostile;
mod modules;
mod spellings;

use std::sync::LazyLock;

use mind_diag::{Diagnostics, SourceFile, render_text};
use mind_ir::graph::Graph;
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::core::Syntax;
use mind_text::limits::Limits;

/// The syntax of the core dialect and of [`dialect::DIALECT`].
static SYNTAX: LazyLock<Syntax> = LazyLock::new(|| {
    Syntax::new(&Registry::with([
        mind_ir::builtin::DIALECT,
        mind_core::DIALECT,
        dialect::DIALECT,
    ]))
});

fn try_parse(text: &str) -> Result<Graph, Diagnostics> {
    SYNTAX.parse(text, 0, &Limits::default())
}

#[track_caller]
fn parse(text: &str) -> Graph {
    try_parse(text).unwrap_or_else(|found| panic!("{}", rendered(text, &found)))
}

#[track_caller]
fn print(g: &Graph) -> String {
    SYNTAX.print(g).unwrap_or_else(|found| panic!("{found:?}"))
}

fn rendered(text: &str, found: &Diagnostics) -> String {
    render_text(found, &SourceFile::new("m", text), false)
}

/// Asserts that `text` prints as `expected`, and that `expected` is canonical.
#[track_caller]
fn reads_as(text: &str, expected: &str) {
    assert_eq!(print(&parse(text)), expected);
    assert_eq!(print(&parse(expected)), expected);
}

/// Asserts that `text` is canonical.
#[track_caller]
fn canonical(text: &str) {
    reads_as(text, text);
}

/// Prints the module with its inferred types.
#[track_caller]
fn verified(text: &str) -> String {
    let mut g = parse(text);
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(found.is_empty(), "{}", rendered(text, &found));
    print(&g)
}

/// Returns errors as `E4001 2:10 "%7": message`: code, line, column, marked text.
fn errors(text: &str) -> Vec<String> {
    let Err(found) = try_parse(text) else {
        return Vec::new();
    };
    let file = SourceFile::new("m", text);
    let line = |diagnostic: &mind_diag::Diagnostic| {
        let code = diagnostic
            .code
            .map_or("-".to_owned(), |code| code.to_string());
        let (line, column) = file.position(diagnostic.span);
        let marked = &text[diagnostic.span.start as usize..diagnostic.span.end as usize];
        format!("{code} {line}:{column} {marked:?}: {}", diagnostic.message)
    };
    found.iter().map(line).collect()
}
