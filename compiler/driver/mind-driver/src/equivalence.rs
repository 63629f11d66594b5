//! Compares the results of two modules bit for bit.

use crate::formats::{FormatInfo, LoadOptions};
use mind_diag::SourceFile;
use mind_interp::{Arrays, Extents, RunConfig, bind, compare, random_inputs, run, special_inputs};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;

use crate::load::parse_and_verify;
use crate::session::Session;

/// Runs both texts in the interpreter, on random and on special values, and compares the results bit for bit; all NaNs
/// are equal. `from` is the format of `input`, or `None` to detect it.
///
/// # Errors
///
/// Describes the first difference, or why a module could not be run.
pub fn same_results(
    session: &Session,
    input: &str,
    from: Option<&'static FormatInfo>,
    output: &str,
) -> Result<(), String> {
    let before = load(session, "the input", input, from)?;
    let after = load(session, "the output", output, None)?;
    same_graphs(&before, &after)
}

/// As [`same_results`], for verified modules.
///
/// # Errors
///
/// Describes the first difference, or why a module could not be run.
pub fn same_graphs(before: &Graph, after: &Graph) -> Result<(), String> {
    same_runs(before, after, &interpreted)
}

/// Runs a module on arrays.
///
/// # Errors
///
/// Describes why the module could not be run.
pub type Execute<'e> = dyn Fn(&Graph, &Arrays) -> Result<Vec<Tensor>, String> + 'e;

/// As [`same_graphs`], but `after` is run by `execute`.
///
/// # Errors
///
/// Describes the first difference, or why a module could not be run.
pub fn same_runs(before: &Graph, after: &Graph, execute: &Execute<'_>) -> Result<(), String> {
    let seeds = (1..=2)
        .map(|seed| (seed, false))
        .chain((3..=8).map(|seed| (seed, true)));
    for (seed, special) in seeds {
        let make = if special {
            special_inputs
        } else {
            random_inputs
        };
        let arrays = make(before, seed, Extents::default())
            .map_err(|errors| format!("inputs: {errors:?}"))?;
        same_on(before, after, execute, &arrays)
            .map_err(|why| format!("with seed {seed}: {why}"))?;
    }
    Ok(())
}

fn same_on(
    before: &Graph,
    after: &Graph,
    execute: &Execute<'_>,
    arrays: &Arrays,
) -> Result<(), String> {
    match (interpreted(before, arrays), execute(after, arrays)) {
        (Ok(expected), Ok(found)) => {
            compare(&expected, &found).map_err(|differ| differ.to_string())
        }
        (Ok(_), Err(why)) => Err(format!("only the output fails: {why}")),
        // A rewrite may remove an op that fails, for example fold `x / y * 0` to 0.
        (Err(_), _) => Ok(()),
    }
}

/// Runs a module in the interpreter and returns the results.
///
/// # Errors
///
/// Describes why the module could not be run.
pub fn interpreted(g: &Graph, arrays: &Arrays) -> Result<Vec<Tensor>, String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    run(g, &bound, &RunConfig::default()).map_err(|error| error.error.to_string())
}

fn load(
    session: &Session,
    what: &str,
    text: &str,
    from: Option<&'static FormatInfo>,
) -> Result<Graph, String> {
    let options = LoadOptions {
        from,
        ..LoadOptions::default()
    };
    match parse_and_verify(&session.formats, text, 0, &options) {
        Ok((_, graph)) => Ok(graph),
        Err(found) => {
            let file = SourceFile::new(what, text);
            Err(mind_diag::render_text(&found, &file, false))
        }
    }
}
