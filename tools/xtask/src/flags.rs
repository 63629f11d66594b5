//! The flags of `mind-opt` beside those of mlir-opt, each with its test.

use std::fmt::Write;

use clap::{Arg, Command};

/// What is said of a flag besides its help.
struct Row {
    flag: &'static str,
    /// What mlir-opt has for it; empty for nothing.
    mlir: &'static str,
    /// The test that shows it, below `lit_tests/`; `None` for `mind-opt/FLAG.core`.
    test: Option<&'static str>,
}

impl Row {
    fn test(&self) -> String {
        let own = || format!("mind-opt/{}.core", self.flag);
        self.test.map_or_else(own, str::to_owned)
    }
}

const fn row(flag: &'static str, mlir: &'static str, test: &'static str) -> Row {
    let test = Some(test);
    Row { flag, mlir, test }
}

/// A flag whose test is called like it.
const fn own(flag: &'static str, mlir: &'static str) -> Row {
    let test = None;
    Row { flag, mlir, test }
}

const ROWS: &[Row] = &[
    row("from", "", "mind-opt/from.mic"),
    own("profile", ""),
    row("no-input-limits", "", "mind-text/limits/bytes.test"),
    row("keep-padding", "", "mind-irv2/padding.test"),
    row("diagnostic-format", "", "mind-opt/diagnostics-json.core"),
    own("color", "`--color`"),
    row("quiet", "", "mind-opt/quiet.mic2"),
    row("dim", "", "mind-onnx/classifier.test"),
    row("bind", "", "mind-onnx/classifier.test"),
    own("to", ""),
    row("output", "`-o`", "mind-opt/output-file.core"),
    row("opset", "", "mind-onnx/opset.core"),
    row("external-data", "", "mind-onnx/external-data.test"),
    row("ane-report", "", "mind-to-mil/ane-report.core"),
    row("diff", "", "mind-opt/diff.mic2"),
    own("split-input-file", "`--split-input-file`"),
    own("verify-diagnostics", "`--verify-diagnostics`"),
    own("pass-pipeline", "`--pass-pipeline`"),
    row("level", "", "mind-opt/levels.core"),
    row(
        "run-reproducer",
        "`--run-reproducer`",
        "mind-opt/run-reproducer.test",
    ),
    row(
        "rules",
        "PDL files; pass plugins",
        "mind-eqsat/rules/file.core",
    ),
    row(
        "fast-math",
        "flags on ops",
        "mind-eqsat/rules/fast-math.core",
    ),
    row(
        "only-rule",
        "`--enable-patterns` of `canonicalize`",
        "mind-eqsat/rules/selection.core",
    ),
    row(
        "disable-rule",
        "`--disable-patterns` of `canonicalize`",
        "mind-eqsat/rules/selection.core",
    ),
    row(
        "allow-unchecked-rule",
        "",
        "mind-eqsat/check-rules/before-use.test",
    ),
    row("check-rules", "", "mind-eqsat/check-rules/verdicts.test"),
    row("draws", "", "mind-eqsat/check-rules/sound.test"),
    row("check-seed", "", "mind-eqsat/check-rules/sound.test"),
    row("format", "", "mind-eqsat/check-rules/sound.test"),
    own("verify-each", "`--verify-each`"),
    row(
        "timing",
        "`--mlir-timing`, `--mlir-timing-display`",
        "mind-opt/timing-json.core",
    ),
    own("stats", "`--mlir-pass-statistics`, debug builds"),
    own("print-ir-before", "`--mlir-print-ir-before`"),
    own("print-ir-after", "`--mlir-print-ir-after`"),
    own("print-ir-after-all", "`--mlir-print-ir-after-all`"),
    own(
        "print-ir-after-change",
        "`--mlir-print-ir-after-change`, whole modules",
    ),
    own("print-ir-tree-dir", "`--mlir-print-ir-tree-dir`"),
    own("report", ""),
    row(
        "pass-pipeline-crash-reproducer",
        "`--mlir-pass-pipeline-crash-reproducer`",
        "mind-eqsat/rules/loops.test",
    ),
    own("remarks", "`--remarks-filter`, from 22"),
    own("explain", ""),
    own("opt-bisect-limit", "`--mlir-debug-counter`"),
    own("dump-egraph", ""),
    row("dump-egraph-region", "", "mind-opt/dump-egraph.core"),
    row(
        "list-passes",
        "`--list-passes`, from 20",
        "mind-opt/list-passes.test",
    ),
    row("list-rules", "", "mind-eqsat/rules/list.test"),
    row(
        "show-dialects",
        "`--show-dialects`",
        "mind-opt/show-dialects.test",
    ),
    row("lit-features", "", "mind-opt/lit-features.test"),
];

/// A flag of mlir-opt that mind-opt does not have.
struct Missing {
    mlir: &'static str,
    /// What there is in its place, or why there is nothing.
    instead: &'static str,
}

const fn missing(mlir: &'static str, instead: &'static str) -> Missing {
    Missing { mlir, instead }
}

const MISSING: &[Missing] = &[
    missing(
        "`--allow-unregistered-dialect`",
        "an op outside the tables has no meaning, and nothing is guessed",
    ),
    missing(
        "`--dump-pass-pipeline`",
        "`--timing` names the pipeline with all defaults",
    ),
    missing(
        "`--load-dialect-plugin`, `--load-pass-plugin`",
        "`--rules FILE` for rewrites; [a driver of one's own](../examples/own_driver.rs) for passes and ops",
    ),
    missing(
        "`--mlir-disable-threading`",
        "passes run on one thread; no output depends on how many there are",
    ),
    missing(
        "`--mlir-elide-elementsattrs-if-larger`",
        "dumps leave out the middle of long lines; what is printed as the result never does",
    ),
    missing(
        "`--mlir-pass-pipeline-local-reproducer`",
        "a reproducer always starts with the module before the pass that failed",
    ),
    missing(
        "`--mlir-print-ir-module-scope`",
        "passes run on modules, so that a dump is one",
    ),
    missing(
        "`--mlir-print-op-generic`",
        "Core text reads every op by its full name, as `core.relu`",
    ),
    missing(
        "`--emit-bytecode`",
        "modules are text; mic@2 is the shortest",
    ),
    missing(
        "`--log-actions-to`",
        "`--remarks`, `--explain` and `--opt-bisect-limit=-1` log rewrites",
    ),
];

/// `docs/flags.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# The flags of mind-opt\n\nGenerated from the flag table by `cargo run -p xtask`. Passes are flags too, in the \
         order given: [passes.md](passes.md). The third column says what mlir-opt 19 has for it.\n\n\
         | flag | | mlir-opt | test |\n|---|---|---|---|\n",
    );
    for arg in flags(&command()) {
        let known = ROWS.iter().find(|row| row.flag == arg.get_id().as_str());
        let (mlir, test) = known.map_or(("", String::new()), |row| (row.mlir, row.test()));
        let mlir = if mlir.is_empty() { "–" } else { mlir };
        let help = arg
            .get_help()
            .map_or(String::new(), |help| help.to_string())
            .replace('|', "\\|");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {help} | {mlir} | [{test}](../lit_tests/{test}) |",
            spelling(arg).replace('|', "\\|")
        );
    }
    text.push_str(
        "\n## The other way round\n\nWhat someone who knows mlir-opt looks for, and what there is.\n\n\
         | mlir-opt | mind-opt | test |\n|---|---|---|\n\
         | `--cse`, `--canonicalize`, a pass by its name | the same, options in `--pass-pipeline` too | \
         [mind-opt/pass-flags-order.core](../lit_tests/mind-opt/pass-flags-order.core) |\n",
    );
    let command = command();
    let mut known: Vec<(&str, String, String)> = ROWS
        .iter()
        .filter(|row| !row.mlir.is_empty())
        .filter_map(|row| {
            let arg = flags(&command).find(|arg| arg.get_id() == row.flag)?;
            Some((row.mlir, spelling(arg).replace('|', "\\|"), row.test()))
        })
        .collect();
    known.sort();
    for (mlir, own, test) in known {
        let _ = writeln!(text, "| {mlir} | `{own}` | [{test}](../lit_tests/{test}) |");
    }
    for Missing { mlir, instead } in MISSING {
        let _ = writeln!(text, "| {mlir} | {instead} | – |");
    }
    text
}

/// The command line with all that follows from its rows.
fn command() -> Command {
    let mut command = mind_opt::command();
    command.build();
    command
}

/// The flags that are no passes.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_usual = |arg: &Arg| arg.get_id() == "help" || arg.get_id() == "version";
    let is_pass = |arg: &Arg| {
        mind_driver::session::PASSES
            .get(arg.get_id().as_str())
            .is_some()
    };
    command
        .get_arguments()
        .filter(move |arg| !arg.is_positional() && !is_pass(arg) && !is_usual(arg))
}

/// The flag as it is typed.
fn spelling(arg: &Arg) -> String {
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => String::new(),
    };
    let values: Vec<String> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(|name| name.to_string())
        .collect();
    match (
        arg.get_num_args().is_some_and(|count| count.takes_values()),
        values.join(" "),
    ) {
        (true, values) if arg.is_require_equals_set() => {
            let optional = arg
                .get_num_args()
                .is_some_and(|count| count.min_values() == 0);
            if optional {
                format!("{name}[={values}]")
            } else {
                format!("{name}={values}")
            }
        }
        (true, values) if !values.is_empty() => format!("{name} {values}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_a_test_that_uses_it() {
        let command = command();
        for arg in flags(&command) {
            let name = arg.get_id().as_str();
            let row = ROWS.iter().find(|row| row.flag == name);
            let row = row.unwrap_or_else(|| {
                panic!("`{name}` has no row here: say what mlir-opt has and which test shows it")
            });
            let test = row.test();
            let path = crate::root().join("lit_tests").join(&test);
            let text =
                std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{test}: {error}"));
            let typed = spelling(arg);
            let flag = typed.split(['=', ' ', '[']).next().unwrap_or_default();
            let mut runs = text
                .lines()
                .filter(|line| line.contains("RUN:") && line.contains("mind-opt"));
            assert!(
                runs.any(|line| line.contains(flag)),
                "{test} does not use `{flag}`"
            );
        }
    }

    #[test]
    fn no_row_is_left_of_a_flag_that_went() {
        let command = command();
        for row in ROWS {
            assert!(
                flags(&command).any(|arg| arg.get_id() == row.flag),
                "there is no flag `{}`",
                row.flag
            );
        }
    }
}
