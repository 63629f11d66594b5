//! The command line of `mind-opt`.

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::{binary, constants, flag, output, rules, value};
use mind_driver::formats::{FormatInfo, Output};
use mind_driver::host::Host;
use mind_driver::session::{LEVELS, PASSES};
use mind_pass::{PassInfo, Pipeline, parse_pipeline};

use crate::{check_rules, egraph, mil, report};

const PASS_FLAGS: &str = "Passes, run in the order given";
const WATCHING: &str = "Watching the passes";
const REWRITES: &str = "Explaining rewrites";

/// Returns the command line of the tool.
pub(super) fn command() -> Command {
    Command::new("mind-opt")
        .about("Verifies, optimises and prints a module")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help("Exit status: 0 done, 1 the input was rejected, 2 usage.")
        .args(mind_cli::module_args())
        .arg(
            mind_cli::value(
                "dim",
                "NAME=EXTENT",
                "the extent of a symbolic dimension of an ONNX or StableHLO module",
            )
            .action(ArgAction::Append)
            .value_parser(ValueParser::new(mind_cli::parse_dim)),
        )
        .arg(constants::arg())
        .args(output_args())
        .args([binary::opset_arg(), binary::data_arg()])
        .next_help_heading(PASS_FLAGS)
        .args(PASSES.iter().map(pass_flag))
        .args(pipeline_args())
        .args(rules::args())
        .next_help_heading(check_rules::HEADING)
        .args(check_rules::args())
        .next_help_heading(WATCHING)
        .args(watching_args())
        .args(report::args())
        .next_help_heading(REWRITES)
        .args(asking_args())
        .args(egraph::args())
        .next_help_heading(None)
        .args(listing_args())
}

fn output_args() -> Vec<Arg> {
    let target = [
        value(
            "to",
            "FORMAT",
            "the output's format; by default that of the extension of -o, else the input's format or Core text",
        )
        .value_parser(FormatInfo::words(is_written)),
        output::arg(output::FILE),
    ];
    let form = [
        value(
            "diff",
            "OLD",
            "print the structural diff of the modules OLD and FILE, and exit with 1 if they differ",
        )
        .conflicts_with("bind"),
        flag(
            "split-input-file",
            "split the input at lines `# -----` or `// -----` and process each part separately",
        ),
        flag(
            "verify-diagnostics",
            "print nothing and check the diagnostics against `expected-error {{...}}` \
                 comments",
        ),
    ];
    target.into_iter().chain(mil::args()).chain(form).collect()
}

/// Makes the value of an argument, given after `=`, optional; the default is `missing`.
pub(super) fn optional(arg: Arg, missing: &'static str) -> Arg {
    arg.num_args(0..=1)
        .require_equals(true)
        .default_missing_value(missing)
}

fn pass_flag(info: &'static PassInfo) -> Arg {
    let arg = Arg::new(info.name).long(info.name).help(info.summary);
    let arg = optional(arg.action(ArgAction::Append), "");
    let arg = if info.options.is_empty() {
        arg.value_name("OPTIONS").hide_possible_values(true)
    } else {
        arg.value_name("NAME=VALUE ...")
    };
    match info.alias {
        Some(alias) => arg.visible_alias(alias),
        None => arg,
    }
}

fn pipeline_args() -> [Arg; 3] {
    [
        value(
            "pass-pipeline",
            "TEXT",
            "the passes as text: `canonicalize,cse`, options in braces",
        )
        .conflicts_with("level"),
        Arg::new("level")
            .short('O')
            .value_name("LEVEL")
            .value_parser(LEVELS.iter().map(|level| level.name).collect::<Vec<_>>())
            .help(
                "the pipeline of an optimisation level, with passes before and after it; results stay bit-identical",
            ),
        flag(
            "run-reproducer",
            "run the pipeline written in the file itself",
        )
        .conflicts_with_all(["level", "pass-pipeline"]),
    ]
}

fn watching_args() -> Vec<Arg> {
    let passes = |name: &'static str, help: &'static str| {
        let names = PASSES.iter().map(|info| info.name).collect::<Vec<_>>();
        let arg = value(name, "PASS,...", help).value_delimiter(',');
        arg.value_parser(names).hide_possible_values(true)
    };
    vec![
        value("verify-each", "true|false", "verify after every pass")
            .value_parser(["true", "false"])
            .hide_possible_values(true)
            .num_args(0..=1)
            .require_equals(true)
            .default_value("true")
            .default_missing_value("true"),
        optional(
            value("timing", "FORM", "print how long everything took")
                .overrides_with("timing")
                .value_parser(["tree", "json"]),
            "tree",
        ),
        optional(
            value("stats", "FORM", "print the counters of the passes")
                .overrides_with("stats")
                .value_parser(["text", "json"]),
            "text",
        ),
        passes("print-ir-before", "print the module before these passes"),
        passes("print-ir-after", "print the module after these passes"),
        flag("print-ir-after-all", "print the module after every pass"),
        flag(
            "print-ir-after-change",
            "print the changes of each pass as a diff",
        ),
        value(
            "print-ir-tree-dir",
            "DIR",
            "write the module after every pass to a separate file",
        ),
        value(
            "pass-pipeline-crash-reproducer",
            "FILE",
            "when a pass fails, write the module before it and the passes left to run",
        ),
    ]
}

/// Returns the arguments about rewrites.
fn asking_args() -> [Arg; 3] {
    let arg = |name, shown, help| value(name, shown, help).require_equals(true);
    [
        arg(
            "remarks",
            "KIND[:REGEX],...",
            "report rewrites (`passed`) and why rules did not act (`missed`), for all rules or for those whose \
             names match",
        )
        .num_args(1),
        optional(
            value(
                "explain",
                "VALUE|RULE@LINE",
                "explain which rules led to a value of the output (`%7`, `out:0`) or to all values, or whether and \
                 why a rule acted on a line of the input",
            ),
            "",
        ),
        arg(
            "opt-bisect-limit",
            "[RULE:]N",
            "make at most N rewrites, or at most N of one rule; -1 makes all and lists them with numbers",
        )
        .num_args(1)
        .allow_hyphen_values(true),
    ]
}

fn listing_args() -> [Arg; 4] {
    [
        optional(
            value("list-passes", "NAME", "describe all passes, or one"),
            "",
        ),
        optional(
            value(
                "list-rules",
                "NAME|TOPIC",
                "describe all rules, one, or those of a topic",
            ),
            "",
        ),
        flag("show-dialects", "describe all dialects and their ops"),
        flag("lit-features", "list the features that tests may require"),
    ]
}

/// Parses the pipeline of the flags.
///
/// # Errors
///
/// Returns the exit code after reporting a usage error.
pub(super) fn pipeline(matches: &ArgMatches, host: &mut dyn Host) -> Result<Pipeline, u8> {
    let flags = pass_flags(matches);
    let text = matches.get_one::<String>("pass-pipeline");
    let reproducer = matches
        .get_flag("run-reproducer")
        .then_some("--run-reproducer");
    let named = text.map(|_| "--pass-pipeline").or(reproducer);
    if let (Some(named), Some(flag)) = (named, flags.first()) {
        let flag = flag.pass;
        let message = format!("`{named}` and `--{flag}` both select passes; use one of them");
        return Err(mind_cli::usage_error(host, &message));
    }
    let text = match text {
        Some(text) => text.clone(),
        None => steps(flags, matches).join(","),
    };
    if text.is_empty() && !matches.contains_id("pass-pipeline") {
        return Ok(Pipeline::default());
    }
    parse_pipeline(&text, &PASSES).map_err(|found| {
        let file = mind_diag::SourceFile::new("<pass-pipeline>", text);
        mind_cli::report(host, &found, &file, mind_cli::DiagnosticFormat::Text);
        mind_cli::USAGE
    })
}

/// An occurrence of a pass flag.
struct PassFlag {
    /// Its position on the command line.
    at: usize,
    pass: &'static str,
    options: String,
}

fn pass_flags(matches: &ArgMatches) -> Vec<PassFlag> {
    let mut flags = Vec::new();
    for info in PASSES.iter() {
        let indices = matches.indices_of(info.name).into_iter().flatten();
        let values = matches.get_many::<String>(info.name).into_iter().flatten();
        flags.extend(indices.zip(values).map(|(at, options)| PassFlag {
            at,
            pass: info.name,
            options: options.clone(),
        }));
    }
    flags
}

/// Returns whether the tool writes modules in a format.
fn is_written(row: &FormatInfo) -> bool {
    row.text().is_some() || row.binary().is_some()
}

/// Returns the output of the command line.
pub(super) fn output(matches: &ArgMatches) -> Output<'_> {
    output::asked(matches, is_written)
}

/// Returns whether the output format is binary.
fn is_binary(matches: &ArgMatches) -> bool {
    let format = output(matches).format(None);
    format.is_ok_and(|row| row.is_some_and(|row| row.binary().is_some()))
}

/// Returns the passes of the pass flags and the level, as pipeline text, in command-line order.
fn steps(flags: Vec<PassFlag>, matches: &ArgMatches) -> Vec<String> {
    let level = matches.get_one::<String>("level");
    let level = level.and_then(|name| LEVELS.iter().find(|level| level.name == name));
    let level = level.zip(matches.index_of("level"));
    let named = level.map(|(level, at)| {
        let mut next_lowering = flags
            .iter()
            .filter(|flag| flag.at > at)
            .map(|flag| flag.pass);
        let channels_first = match next_lowering.find(|pass| pass.starts_with("lower-to-")) {
            Some(pass) => pass == "lower-to-mil",
            None => is_binary(matches),
        };
        (at, level.pipeline_for(channels_first))
    });
    let flags = flags.into_iter().map(|flag| {
        let text = match flag.options.as_str() {
            "" => flag.pass.to_owned(),
            options => format!("{}{{{options}}}", flag.pass),
        };
        (flag.at, text)
    });
    let mut steps: Vec<_> = flags.chain(named).collect();
    steps.sort();
    steps.into_iter().map(|(_, text)| text).collect()
}
