//! Round trips of exported models.

use std::collections::BTreeMap;

use mind_interp::{Arrays, Extents, RunConfig, bind, compare, random_inputs, run, special_inputs};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_onnx::{ExportOptions, ImportOptions};

use crate::sources::{Source, sources};

/// The number of random modules.
const DRAWN: u64 = 400;

/// The opsets of the models, used in turns.
const OPSETS: [i64; 3] = [13, 21, 26];

/// Maximum trip count of a loop, because some modules of the suite never end.
const MAX_STEPS: u64 = 1000;

/// Parts of our importer's errors for models whose unknown extents it needs to know.
const UNREAD: [&str; 6] = [
    "has more than 2^63 - 1 bytes",
    "which it cuts, is not known",
    "has two extents that are not known",
    "broadcasting failed",
    "the contracted extents",
    "reshape changes the element count",
];

/// Inputs without a name, which ONNX does not have.
const UNNAMED: [&str; 2] = ["{name=\"\"}", "input \"\""];

/// Minimum number of modules that must survive the round trip.
const LEAST: usize = 4000;

/// The outcome for a module.
enum Fate {
    /// It was not exported.
    Refused(String),
    /// Our importer rejected it.
    Unread(String),
    /// Its results changed.
    Differs(String),
    /// Its results are identical.
    Same,
}

fn fate(source: &Source, opset: i64) -> Fate {
    let options = ExportOptions {
        opset,
        ..ExportOptions::default()
    };
    let first = |found: mind_diag::Diagnostics| {
        let first = found.first_error().map(|own| own.message.clone());
        first.unwrap_or_default()
    };
    let written = match mind_onnx::write(&source.graph, &options) {
        Ok(written) => written,
        Err(found) => return Fate::Refused(first(found)),
    };
    let mut back = match mind_onnx::read(written.model.into(), &ImportOptions::default()) {
        Ok(back) => back,
        Err(found) => return Fate::Unread(first(found)),
    };
    let found = verify(&mut back, &VerifyConfig::default());
    if found.has_errors() {
        return Fate::Unread(first(found));
    }
    match same_bits(&source.graph, &back) {
        Ok(()) => Fate::Same,
        Err(why) => Fate::Differs(why),
    }
}

pub fn results(g: &Graph, arrays: &Arrays) -> Result<Vec<Tensor>, String> {
    let bound = bind(g, arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let config = RunConfig {
        max_steps: MAX_STEPS,
        ..RunConfig::default()
    };
    run(g, &bound, &config).map_err(|error| error.error.to_string())
}

/// Compares the results of two modules on ordinary and on special values, if the first one has results.
fn same_bits(before: &Graph, after: &Graph) -> Result<(), String> {
    for (seed, make) in [(1, random_inputs as fn(&_, _, _) -> _), (3, special_inputs)] {
        // Some inputs of the suite are too large for random arrays.
        let Ok(arrays) = make(before, seed, Extents::default()) else {
            continue;
        };
        let Ok(expected) = results(before, &arrays) else {
            continue;
        };
        let found =
            results(after, &arrays).map_err(|why| format!("only what is read fails: {why}"))?;
        compare(&expected, &found).map_err(|differ| format!("with seed {seed}: {differ}"))?;
    }
    Ok(())
}

/// Checks the round trips of all modules.
///
/// # Errors
///
/// Modules whose results change or that are rejected without a known reason, or too few successful round trips.
pub fn check() -> Result<(), String> {
    let mut counts: BTreeMap<(i64, &str, &str), usize> = BTreeMap::new();
    let mut refused: BTreeMap<(i64, String), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (at, source) in sources(DRAWN).into_iter().enumerate() {
        let opset = OPSETS[at % OPSETS.len()];
        let Source {
            group, name, text, ..
        } = &source;
        let knows = |reasons: &[&str], why: &str| reasons.iter().any(|own| why.contains(own));
        let (state, why) = match fate(&source, opset) {
            Fate::Refused(why) => {
                let op = why.split('`').nth(1).unwrap_or_default().to_owned();
                *refused.entry((opset, op)).or_default() += 1;
                ("not written", None)
            }
            Fate::Unread(why) if knows(&UNREAD, &why) => ("not read back", None),
            Fate::Unread(why) => ("not read back", Some(why)),
            Fate::Differs(_) if knows(&UNNAMED, text) => ("without names", None),
            Fate::Differs(why) => ("other bits", Some(why)),
            Fate::Same => ("same bits", None),
        };
        *counts.entry((opset, group, state)).or_default() += 1;
        let line = |why| format!("{group} {name} in opset {opset}: {state}: {why}\n{text}");
        wrong.extend(why.map(line));
    }
    for ((opset, op), count) in refused {
        println!("opset {opset}: {count} with `{op}` not written");
    }
    let mut came_back = 0;
    for ((opset, group, state), count) in counts {
        println!("opset {opset}, {group}: {count} {state}");
        came_back += if state == "same bits" { count } else { 0 };
    }
    if came_back < LEAST {
        wrong.push(format!("only {came_back} come back"));
    }
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("{count} are wrong\n{}", wrong.join("\n"))),
    }
}
