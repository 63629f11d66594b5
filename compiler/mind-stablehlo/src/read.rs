//! From a text to a module.

use mind_convert::Imported;
use mind_diag::Diagnostics;
use mind_ir::Graph;

use crate::import::import as import_model;
use crate::options::ImportOptions;
use crate::text;

/// Returns the module that [`import`] makes, without its warnings.
///
/// # Errors
///
/// Those of [`import`].
pub fn read(text: &str, options: &ImportOptions) -> Result<Graph, Diagnostics> {
    Ok(import(text, options)?.module)
}

/// Returns the module that a text is: the ops of its public function, with all functions that it calls in their places.
///
/// # Errors
///
/// A text that is no module of MLIR, and everything in it that cannot be imported: an error for each op and reason,
/// with the number of operations and the place of the first.
///
/// Source: StableHLO specification; MLIR language reference.
pub fn import(text: &str, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    let module = text::parse(text)?;
    import_model(&module, options)
}

/// Returns whether a text looks like a module of StableHLO: it begins as modules of MLIR do, and has an op of the
/// dialect.
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
    // A function that does nothing has no op, but JAX says of the module that it is one of its.
    let marks = [
        "stablehlo.",
        "chlo.",
        "jax.uses_shape_polymorphism",
        "jax.result_info",
    ];
    let has_op = || marks.iter().any(|mark| text.contains(mark));
    (starts("module") || starts("func.func")) && has_op()
}
