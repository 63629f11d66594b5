//! The command line of `mind-opt`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::rules;
use mind_driver::formats::FormatInfo;
use mind_driver::host::Host;
use mind_driver::session::{LEVELS, PASSES};
use mind_pass::{PassInfo, Pipeline, parse_pipeline};

use crate::check_rules;

const PASS_FLAGS: &str = "Passes, run in the order given";
const WATCHING: &str = "Watching the passes";
const REWRITES: &str = "Asking about rewrites";

/// The command line of the tool.
pub(super) fn command() -> Command {
    Command::new("mind-opt")
        .about("Verifies, optimises and prints a module")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help("Exit status: 0 done, 1 the input was rejected, 2 usage.")
        .args(mind_cli::module_args())
        .args(output_args())
        .args(PASSES.iter().map(pass_flag))
        .args(pipeline_args())
        .args(rules::args())
        .args(check_rules::args())
        .args(watching_args())
        .args(asking_args())
        .args(listing_args())
}

fn output_args() -> [Arg; 6] {
    [
        Arg::new("to")
            .long("to")
            .value_name("FORMAT")
            .value_parser(FormatInfo::words(|row| row.text().is_some()))
            .help("the output's format; the input's own, or Core text, where not given"),
        Arg::new("output")
            .short('o')
            .value_name("OUT")
            .help("write there, not to standard output"),
        Arg::new("ane-report")
            .long("ane-report")
            .value_name("FORM")
            .value_parser(["text", "json"])
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("text")
            .help("print, instead of the module, which of its MIL ops run on the neural engine, and why"),
        Arg::new("diff")
            .long("diff")
            .value_name("OLD")
            .help("print how the module OLD differs from FILE as a graph, and exit with 1 if it does"),
        Arg::new("split-input-file")
            .long("split-input-file")
            .action(ArgAction::SetTrue)
            .help("take the input apart at lines `# -----` and work on each part alone"),
        Arg::new("verify-diagnostics")
            .long("verify-diagnostics")
            .action(ArgAction::SetTrue)
            .help(
                "print nothing and check the diagnostics against `expected-error {{...}}` comments",
            ),
    ]
}

fn pass_flag(info: &'static PassInfo) -> Arg {
    let arg = Arg::new(info.name)
        .long(info.name)
        .help(info.summary)
        .help_heading(PASS_FLAGS)
        .action(ArgAction::Append)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("");
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
        Arg::new("pass-pipeline")
            .long("pass-pipeline")
            .value_name("TEXT")
            .conflicts_with("level")
            .help("the passes as text: `canonicalize,cse`, options in braces")
            .help_heading(PASS_FLAGS),
        Arg::new("level")
            .short('O')
            .value_name("LEVEL")
            .value_parser(LEVELS.iter().map(|level| level.name).collect::<Vec<_>>())
            .help("a named pipeline, with passes before and after it; all keep every bit of the results")
            .help_heading(PASS_FLAGS),
        Arg::new("run-reproducer")
            .long("run-reproducer")
            .action(ArgAction::SetTrue)
            .conflicts_with_all(["level", "pass-pipeline"])
            .help("run the pipeline written in the file itself")
            .help_heading(PASS_FLAGS),
    ]
}

fn watching_args() -> Vec<Arg> {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
            .help_heading(WATCHING)
    };
    let passes = |name: &'static str, help: &'static str| {
        let names = PASSES.iter().map(|info| info.name).collect::<Vec<_>>();
        let arg = Arg::new(name)
            .long(name)
            .value_name("PASS,...")
            .value_delimiter(',');
        arg.value_parser(names)
            .hide_possible_values(true)
            .help(help)
            .help_heading(WATCHING)
    };
    vec![
        Arg::new("verify-each")
            .long("verify-each")
            .value_name("true|false")
            .value_parser(["true", "false"])
            .hide_possible_values(true)
            .num_args(0..=1)
            .require_equals(true)
            .default_value("true")
            .default_missing_value("true")
            .help("verify after every pass")
            .help_heading(WATCHING),
        Arg::new("timing")
            .long("timing")
            .value_name("FORM")
            .value_parser(["tree", "json"])
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("tree")
            .help("print how long everything took")
            .help_heading(WATCHING),
        Arg::new("stats")
            .long("stats")
            .value_name("FORM")
            .value_parser(["text", "json"])
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("text")
            .help("print what the passes counted")
            .help_heading(WATCHING),
        passes("print-ir-before", "print the module before these passes"),
        passes("print-ir-after", "print the module after these passes"),
        flag("print-ir-after-all", "print the module after every pass"),
        flag(
            "print-ir-after-change",
            "print what each pass changed, as a diff",
        ),
        Arg::new("print-ir-tree-dir")
            .long("print-ir-tree-dir")
            .value_name("DIR")
            .help("write the module after every pass to a separate file")
            .help_heading(WATCHING),
        Arg::new("report")
            .long("report")
            .value_name("FILE")
            .conflicts_with("split-input-file")
            .help("write a page: the graph before and after every pass, rules, groups, kernels, times")
            .help_heading(WATCHING),
        Arg::new("pass-pipeline-crash-reproducer")
            .long("pass-pipeline-crash-reproducer")
            .value_name("FILE")
            .help("when a pass fails, write the module before it and the passes left to run")
            .help_heading(WATCHING),
    ]
}

/// Arguments about rewrites.
fn asking_args() -> [Arg; 5] {
    let arg = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help);
        arg.require_equals(true).help_heading(REWRITES)
    };
    [
        arg(
            "remarks",
            "KIND[:REGEX],...",
            "say what rules did (`passed`) and why they did not act (`missed`), of all rules or of those \
             whose names match",
        )
        .num_args(1),
        arg(
            "explain",
            "VALUE|RULE@LINE",
            "say which rules led to a value of the output (`%7`, `out:0`), to all of them, or how a rule \
             fared on a line of the input",
        )
        .num_args(0..=1)
        .default_missing_value(""),
        arg(
            "opt-bisect-limit",
            "[RULE:]N",
            "make N rewrites, or N of one rule, and no more; -1 makes all and lists them numbered",
        )
        .num_args(1)
        .allow_hyphen_values(true),
        arg(
            "dump-egraph",
            "FILE",
            "draw the e-graph of a region of `fold` or `fuse`, as `.dot` or `.svg`",
        )
        .num_args(1),
        arg(
            "dump-egraph-region",
            "N",
            "draw region N instead of the first, which is 0; those of all passes count",
        )
        .num_args(1)
        .value_parser(clap::value_parser!(usize))
        .requires("dump-egraph"),
    ]
}

fn listing_args() -> [Arg; 4] {
    [
        Arg::new("list-passes")
            .long("list-passes")
            .value_name("NAME")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .help("describe all passes, or one"),
        Arg::new("list-rules")
            .long("list-rules")
            .value_name("NAME|TOPIC")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .help("describe all rules, one, or those of a topic"),
        Arg::new("show-dialects")
            .long("show-dialects")
            .action(ArgAction::SetTrue)
            .help("describe all dialects and their ops"),
        Arg::new("lit-features")
            .long("lit-features")
            .action(ArgAction::SetTrue)
            .help("name the features that tests may require"),
    ]
}

/// The pipeline that the flags ask for, or the exit code after a usage error has been printed.
pub(super) fn pipeline(matches: &ArgMatches, host: &mut dyn Host) -> Result<Pipeline, u8> {
    let flags = pass_flags(matches);
    let text = matches.get_one::<String>("pass-pipeline");
    let reproducer = matches
        .get_flag("run-reproducer")
        .then_some("--run-reproducer");
    let named = text.map(|_| "--pass-pipeline").or(reproducer);
    if let (Some(named), Some(flag)) = (named, flags.first()) {
        let flag = flag.pass;
        let message = format!("`{named}` and `--{flag}` both say what to run; use one of them");
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

/// A pass flag.
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

/// The pipeline text of the pass flags and the level, in the order of the command line.
fn steps(flags: Vec<PassFlag>, matches: &ArgMatches) -> Vec<String> {
    let level = matches.get_one::<String>("level");
    let level = level.and_then(|name| LEVELS.iter().find(|level| level.name == name));
    let level = level.zip(matches.index_of("level"));
    let named = level.map(|(level, at)| (at, level.pipeline.to_owned()));
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
