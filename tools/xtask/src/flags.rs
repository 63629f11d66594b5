//! The flags of `mind-opt` with their counterparts in mlir-opt and their tests.

use std::fmt::Write;

use clap::{Arg, Command};
use mind_opt::mlir::{COUNTERPARTS, Counterpart, Ours};

/// The test of a flag.
struct FlagTest {
    flag: &'static str,
    /// The test of the flag, relative to `lit_tests/`; `None` for `mind-opt/FLAG.core`.
    test: Option<&'static str>,
}

impl FlagTest {
    fn test(&self) -> String {
        let own = || format!("mind-opt/{}.core", self.flag);
        self.test.map_or_else(own, str::to_owned)
    }
}

const fn row(flag: &'static str, test: &'static str) -> FlagTest {
    let test = Some(test);
    FlagTest { flag, test }
}

/// A flag with a test of the same name.
const fn own(flag: &'static str) -> FlagTest {
    let test = None;
    FlagTest { flag, test }
}

const ROWS: &[FlagTest] = &[
    row("from", "mind-opt/from.mic"),
    own("profile"),
    row("no-input-limits", "mind-text/limits/bytes.test"),
    row("keep-padding", "mind-irv2/padding.test"),
    row("diagnostic-format", "mind-opt/diagnostics-json.core"),
    own("color"),
    row("quiet", "mind-opt/quiet.mic2"),
    row("dim", "mind-onnx/classifier.test"),
    row("bind", "mind-onnx/classifier.test"),
    own("to"),
    row("output", "mind-opt/output-file.core"),
    row("opset", "mind-onnx/opset.core"),
    row("external-data", "mind-onnx/external-data.test"),
    row("ane-report", "mind-to-mil/ane-report.core"),
    row("diff", "mind-opt/diff.mic2"),
    own("split-input-file"),
    own("verify-diagnostics"),
    own("pass-pipeline"),
    row("level", "mind-opt/levels.core"),
    row("run-reproducer", "mind-opt/run-reproducer.test"),
    row("rules", "mind-eqsat/rules/file.core"),
    row("fast-math", "mind-eqsat/rules/fast-math.core"),
    row("only-rule", "mind-eqsat/rules/selection.core"),
    row("disable-rule", "mind-eqsat/rules/selection.core"),
    row(
        "allow-unchecked-rule",
        "mind-eqsat/check-rules/before-use.test",
    ),
    row("check-rules", "mind-eqsat/check-rules/verdicts.test"),
    row("draws", "mind-eqsat/check-rules/sound.test"),
    row("check-seed", "mind-eqsat/check-rules/sound.test"),
    row("format", "mind-eqsat/check-rules/sound.test"),
    own("verify-each"),
    row("timing", "mind-opt/timing-json.core"),
    own("stats"),
    own("print-ir-before"),
    own("print-ir-after"),
    own("print-ir-after-all"),
    own("print-ir-after-change"),
    own("print-ir-tree-dir"),
    own("report"),
    row(
        "pass-pipeline-crash-reproducer",
        "mind-eqsat/rules/loops.test",
    ),
    own("remarks"),
    own("explain"),
    own("opt-bisect-limit"),
    own("dump-egraph"),
    row("dump-egraph-region", "mind-opt/dump-egraph.core"),
    row("list-passes", "mind-opt/list-passes.test"),
    row("list-rules", "mind-eqsat/rules/list.test"),
    row("show-dialects", "mind-opt/show-dialects.test"),
    row("lit-features", "mind-opt/lit-features.test"),
];

/// Returns the options of mlir-opt that a flag corresponds to; `None` if there are none.
fn of_mlir(flag: &str) -> Option<String> {
    let is_flag = |row: &&Counterpart| match row.ours {
        Ours::Same(own) | Ours::Read(own) | Ours::Flag(own) => own == flag,
        Ours::Instead(_) => false,
    };
    COUNTERPARTS.iter().find(is_flag).map(Counterpart::shown)
}

/// `docs/flags.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# The flags of mind-opt\n\nGenerated from the flag table by `cargo run -p xtask`. Passes are flags too, in the \
         order given: [passes.md](passes.md). The third column is the corresponding option of mlir-opt 19.\n\n\
         | flag | | mlir-opt | test |\n|---|---|---|---|\n",
    );
    for arg in flags(&command()) {
        let known = ROWS.iter().find(|row| row.flag == arg.get_id().as_str());
        let test = known.map_or_else(String::new, FlagTest::test);
        let mlir = of_mlir(arg.get_id().as_str()).unwrap_or_else(|| "–".to_owned());
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
        "\n## The other way round\n\nOptions of mlir-opt and their counterparts. They are accepted with one dash too, \
         and `--mlir-…` options if they have a counterpart; the error for the others refers to this table.\n\n\
         | mlir-opt | mind-opt | test |\n|---|---|---|\n\
         | `--cse`, `--canonicalize`, a pass by its name | the same, options in `--pass-pipeline` too | \
         [mind-opt/pass-flags-order.core](../lit_tests/mind-opt/pass-flags-order.core) |\n",
    );
    let command = command();
    let mut known: Vec<(String, String, String)> = ROWS
        .iter()
        .filter_map(|row| {
            let arg = flags(&command).find(|arg| arg.get_id() == row.flag)?;
            let mlir = of_mlir(row.flag)?;
            Some((mlir, spelling(arg).replace('|', "\\|"), row.test()))
        })
        .collect();
    known.sort();
    for (mlir, own, test) in known {
        let _ = writeln!(text, "| {mlir} | `{own}` | [{test}](../lit_tests/{test}) |");
    }
    for row in COUNTERPARTS {
        if let Ours::Instead(instead) = row.ours {
            let _ = writeln!(text, "| {} | {instead} | – |", row.shown());
        }
    }
    text
}

/// Returns the command line with all derived arguments.
fn command() -> Command {
    let mut command = mind_opt::command();
    command.build();
    command
}

/// Returns the flags that are not passes.
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

/// Returns the spelling of a flag, for example `--from`.
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
                "unknown flag `{}`",
                row.flag
            );
        }
    }
}
