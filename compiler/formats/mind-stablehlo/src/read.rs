//! Entry points: text to module.

use mind_convert::Imported;
use mind_diag::Diagnostics;
use mind_ir::Graph;

use crate::import::import as import_model;
use crate::options::ImportOptions;
use crate::text;

/// Imports a text as [`import`] does, and drops the warnings.
///
/// # Errors
///
/// As [`import`].
pub fn read(text: &str, options: &ImportOptions) -> Result<Graph, Diagnostics> {
    Ok(import(text, options)?.module)
}

/// Imports the public function of a text, with all calls inlined.
///
/// # Errors
///
/// A text that is not an MLIR module, and everything in it that cannot be imported: one error for each op and reason,
/// with the number of such operations and the position of the first.
///
/// Source: StableHLO specification; MLIR language reference.
pub fn import(text: &str, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    let module = text::parse(text)?;
    import_model(&module, options)
}

/// Returns whether a text looks like a StableHLO module, because it begins like an MLIR module and contains an op of
/// the dialect.
pub fn is_module(text: &str) -> bool {
    let start = text.trim_start_matches('\u{feff}');
    let mut lines = start.lines().map(str::trim_start);
    let is_code =
        |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//");
    let first = lines.find(is_code).unwrap_or("");
    let starts = |word: &str| {
        let behind = first.strip_prefix(word);
        behind.is_some_and(|behind| !behind.starts_with(|own: char| own.is_alphanumeric()))
    };
    // A function that returns its arguments has no op, but JAX adds its own attributes to the module.
    let marks = [
        "stablehlo.",
        "chlo.",
        "jax.uses_shape_polymorphism",
        "jax.result_info",
    ];
    let has_op = || marks.iter().any(|mark| text.contains(mark));
    (starts("module") || starts("func.func")) && has_op()
}
