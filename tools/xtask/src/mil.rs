//! What can be done with each op of MIL.

use std::fmt::Write;

use mind_mil::ops::ROWS;

use crate::root;

const HEAD: &str = "\
# Ops of MIL by state

- **since**: the opset that brought it, and those that changed what it takes.
- **lowered**: `--lower-to-mil` emits it.
- **imported**: `--import-mil` has ops of core for it, `constants` where it computes it from constants
  alone, else why not.
- **evaluated**: the interpreter runs it; else why not.
- **judged**: `numerically` where its numbers are held to those of coremltools 9.0 or of NumPy, `types` where its
  signature alone is.

Generated from the op tables by `cargo run -p xtask`.

| op | since | lowered | imported | evaluated | judged |
|---|---|---|---|---|---|
";

/// The numbers that others computed, which tests hold evaluation to.
const JUDGED: [&str; 2] = [
    "dialects/mind-mil/tests/signatures/inferred.json",
    "dialects/mind-mil/tests/signatures/referenced.json",
];

/// The table, and how many ops are in each state.
pub fn document() -> String {
    let read = |path: &&str| std::fs::read_to_string(root().join(path)).unwrap_or_default();
    let judged: String = JUDGED.iter().map(read).collect();
    let mut out = HEAD.to_owned();
    let mut counts = [0usize; 4];
    for row in ROWS {
        let since: Vec<&str> = row
            .signatures
            .iter()
            .map(|(since, _)| since.tag())
            .collect();
        let states = [
            mind_to_mil::EMITTED
                .iter()
                .any(|own| std::ptr::eq(*own, *row)),
            mind_from_mil::imports(row),
            row.eval.is_some(),
            judged.contains(&format!("-{}\"", row.name)),
        ];
        let mark = |state: bool| if state { "yes" } else { "" };
        for (count, state) in counts.iter_mut().zip(states) {
            *count += usize::from(state);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} |",
            row.name,
            since.join(", "),
            mark(states[0]),
            mind_from_mil::not_imported(row).unwrap_or(match mind_from_mil::computes(row) {
                true if !states[1] => "constants",
                _ => mark(states[1]),
            }),
            row.not_run.unwrap_or(mark(states[2])),
            if states[3] { "numerically" } else { "types" }
        );
    }
    let [lowered, imported, evaluated, judged] = counts;
    let _ = writeln!(
        out,
        "\n{} ops: {lowered} lowered to, {imported} imported, {evaluated} evaluated, {judged} judged numerically.",
        ROWS.len()
    );
    out
}
