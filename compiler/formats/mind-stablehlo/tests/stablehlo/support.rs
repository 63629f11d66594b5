//! Helpers that make texts and modules.

use mind_diag::{Diagnostics, SourceFile, render_text};
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};
use mind_stablehlo::{ImportOptions, read};
use mind_text::core::Syntax;

/// Returns a function with the given arguments and operations, the last of which returns.
pub fn function(arguments: &str, results: &str, operations: &str) -> String {
    format!("func.func public @main({arguments}) -> ({results}) {{\n{operations}\n}}\n")
}

pub fn imported(text: &str, options: &ImportOptions) -> Result<Graph, Diagnostics> {
    let mut graph = read(text, options)?;
    let found = verify(&mut graph, &VerifyConfig::default());
    assert!(!found.has_errors(), "a text that is read is a module");
    Ok(graph)
}

/// Returns the Core text of an imported module with the given extents.
pub fn core_with(text: &str, dims: &[(&str, i64)]) -> String {
    let dims = dims
        .iter()
        .map(|(name, extent)| ((*name).to_owned(), *extent));
    let options = ImportOptions {
        dims: dims.collect(),
        ..ImportOptions::default()
    };
    let graph = imported(text, &options).unwrap_or_else(|found| panic!("{}", shown(text, &found)));
    let registry = Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
    Syntax::new(&registry).print(&graph).expect("a module")
}

/// Returns the Core text of an imported module.
pub fn core(text: &str) -> String {
    core_with(text, &[])
}

/// Returns the diagnostics of a text as tools show them.
pub fn problems(text: &str) -> String {
    match imported(text, &ImportOptions::default()) {
        Ok(_) => panic!("the text is read"),
        Err(found) => shown(text, &found),
    }
}

fn shown(text: &str, found: &Diagnostics) -> String {
    render_text(
        found,
        &SourceFile::new("m.stablehlo", text.to_owned()),
        false,
    )
}
