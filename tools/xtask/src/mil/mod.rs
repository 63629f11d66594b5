//! The support state of each MIL op, determined by programs of a single op.

mod outcome;

use std::collections::BTreeSet;
use std::fmt::Write;

use mind_mil::MilOp;
use mind_mil::ops::ROWS;

pub use outcome::{Import, OPSETS, Outcome, outcomes, untried};

use crate::root;

const HEAD: &str = "\
# Ops of MIL by state

Each op has programs for each of its versions, with `fp16` and `fp32`, in `tools/mind-testgen/src/mil_cases.txt`. They are
run in the opsets from iOS 15 to iOS 18, and the table has the outcomes:

- **since**: the opset that introduced it, and those that changed its signature.
- **programs**: the number of its programs, and of the combinations of opset and float type in which they were run.
- **lowered**: `--lower-to-mil` emits it, for an imported program or a module of core.
- **imported**: `--import-mil` converts it to ops of core, or evaluates it if its operands are `constants`, which also
  counts; otherwise the reason. `in part` means that [some of its forms](#forms-that-are-not-imported) are rejected.
- **evaluated**: the interpreter runs it; otherwise the reason.
- **judged**: `numerically` if its results are compared with those of coremltools 9.0 or of NumPy, `types` if only its
  signature is.

Generated from the op tables by `cargo run -p xtask`.

| op | since | programs | lowered | imported | evaluated | judged |
|---|---|---|---|---|---|---|
";

const REFUSED: &str = "
## Forms that are not imported

The parameters of the program, and the statement; `F` is `fp16` or `fp32`.

| op | form | opsets | reason |
|---|---|---|---|
";

/// The maximal length of a form's text.
const LONGEST: usize = 240;

/// Reference results of other implementations, with which tests compare the evaluation.
const JUDGED: [&str; 2] = [
    "dialects/mind-mil/tests/signatures/inferred.json",
    "dialects/mind-mil/tests/signatures/referenced.json",
];

/// Returns the table, the number of ops in each state, and the rejected forms.
pub fn document() -> String {
    let read = |path: &&str| std::fs::read_to_string(root().join(path)).unwrap_or_default();
    let judged: String = JUDGED.iter().map(read).collect();
    let (outcomes, emitted) = outcomes();
    let mut out = HEAD.to_owned();
    let mut counts = [0usize; 4];
    for row in ROWS {
        let own: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.program.op == row.name)
            .collect();
        let states = [
            emitted.contains(row.name),
            own.iter()
                .any(|own| !matches!(own.import, Import::Refused(_))),
            own.iter().any(|own| own.evaluation.is_ok()),
            judged.contains(&format!("-{}\"", row.name)),
        ];
        for (count, state) in counts.iter_mut().zip(states) {
            *count += usize::from(state);
        }
        let since = row.signatures.iter().map(|(since, _)| since.tag());
        let forms: BTreeSet<String> = own.iter().map(|own| own.program.form()).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | {} | {} in {} | {} | {} | {} | {} |",
            row.name,
            since.collect::<Vec<_>>().join(", "),
            forms.len(),
            own.len(),
            if states[0] { "yes" } else { "" },
            imported(&own),
            evaluated(row, &own),
            if states[3] { "numerically" } else { "types" }
        );
    }
    let [lowered, imported, evaluated, judged] = counts;
    let _ = writeln!(
        out,
        "\n{} ops: {lowered} lowered to, {imported} imported, {evaluated} evaluated, {judged} judged numerically.",
        ROWS.len()
    );
    out += REFUSED;
    refused(&outcomes, &mut out);
    out
}

/// Returns the outcome of importing the programs of an op.
fn imported(own: &[&Outcome]) -> String {
    let mut reasons: BTreeSet<&str> = BTreeSet::new();
    for outcome in own {
        if let Import::Refused(reason) = &outcome.import {
            reasons.insert(reason);
        }
    }
    let did = |import: &Import| own.iter().any(|own| own.import == *import);
    let reasons: Vec<&str> = reasons.into_iter().collect();
    if did(&Import::Emitted) {
        let all = if reasons.is_empty() { "yes" } else { "in part" };
        return all.to_owned();
    }
    let constants = did(&Import::Computed).then_some("constants");
    let parts: Vec<&str> = constants.into_iter().chain(reasons).collect();
    parts.join("; ")
}

/// Returns whether the interpreter runs the programs of an op.
fn evaluated(row: &MilOp, own: &[&Outcome]) -> String {
    let errors: BTreeSet<&str> = own
        .iter()
        .filter_map(|own| own.evaluation.as_ref().err())
        .map(String::as_str)
        .collect();
    if errors.is_empty() && !own.is_empty() {
        return "yes".to_owned();
    }
    let error = errors.into_iter().collect::<Vec<_>>().join("; ");
    row.not_run.map_or(error, str::to_owned)
}

/// Appends a row for each rejected form and reason, with the opsets in which it is rejected.
fn refused(outcomes: &[Outcome], out: &mut String) {
    for row in ROWS {
        let own = outcomes.iter().filter(|own| own.program.op == row.name);
        let mut rows: Vec<(String, &str, Vec<&str>)> = Vec::new();
        for outcome in own {
            let Import::Refused(reason) = &outcome.import else {
                continue;
            };
            let (form, opset) = (shown(&outcome.program.form()), outcome.opset.tag());
            let known = rows
                .iter_mut()
                .find(|(known, why, _)| *known == form && why == reason);
            match known {
                Some((.., opsets)) if opsets.contains(&opset) => {}
                Some((.., opsets)) => opsets.push(opset),
                None => rows.push((form, reason, vec![opset])),
            }
        }
        for (form, reason, opsets) in rows {
            let opsets = opsets.join(", ");
            let _ = writeln!(out, "| `{}` | `{form}` | {opsets} | {reason} |", row.name);
        }
    }
}

/// Returns a form on one line that fits into a table.
fn shown(form: &str) -> String {
    let form = form.replace('@', "F").replace('|', "\\|");
    match form.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &form[..end]),
        None => form,
    }
}
