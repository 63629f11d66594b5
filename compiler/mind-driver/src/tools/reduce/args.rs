//! The command line of `mind-reduce`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_pass::{Pipeline, parse_pipeline};
use mind_text::Format;

use crate::host::Host;
use crate::load::LoadOptions;
use crate::session::{LEVELS, PASSES};
use crate::tools::cli::{self, DiagnosticFormat};
use crate::tools::opt::rules;

/// The level whose pipeline is suspected where none is named.
const SUSPECTED: &str = "2";

pub(super) fn command() -> Command {
    Command::new("mind-reduce")
        .about("Makes a module smaller while it stays interesting, or finds the first bad rewrite")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(
            "Exit status: 0 done, 1 the input was rejected or is not interesting, 2 usage.\n\n\
             Every candidate verifies. A command is run by the shell with the path of the candidate behind it, \
             or in place of `{}`, and should end by itself: `--test 'timeout 10 ./test.sh'`.",
        )
        .args(cli::input_args())
        .args([
            Arg::new("test")
                .long("test")
                .value_name("CMD|@crash|@differs")
                .required(true)
                .help(
                    "what is interesting: a file for which CMD exits with 0, a crash of the passes (`@crash`), or \
                     results of the passes' output that differ from those of their input (`@differs`)",
                ),
            Arg::new("bisect")
                .long("bisect")
                .action(ArgAction::SetTrue)
                .help("name the first rewrite that makes the passes' output interesting; CMD is given that output"),
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("write there, not to standard output"),
            Arg::new("to")
                .long("to")
                .value_name("FORMAT")
                .value_parser(Format::ALL.map(Format::name))
                .help("the output's format; the input's own, or Core text, where not given"),
            Arg::new("trials")
                .long("trials")
                .value_name("N")
                .value_parser(clap::value_parser!(usize))
                .default_value("10000")
                .help("how often the test is made at most"),
        ])
        .args([
            Arg::new("pass-pipeline")
                .long("pass-pipeline")
                .value_name("TEXT")
                .conflicts_with("level")
                .help("the passes that are suspected, as text; those of -O2 where nothing is said")
                .help_heading(PASSES_HEADING),
            Arg::new("level")
                .short('O')
                .value_name("LEVEL")
                .value_parser(LEVELS.iter().map(|level| level.name).collect::<Vec<_>>())
                .help("a named pipeline")
                .help_heading(PASSES_HEADING),
            Arg::new("engine")
                .long("engine")
                .value_name("ENGINE")
                .value_parser(["interp", "jit"])
                .default_value("interp")
                .help("what runs the passes' output for `@differs`; with `jit` no passes run where nothing is said")
                .help_heading(PASSES_HEADING),
        ])
        .args(rules::args())
}

const PASSES_HEADING: &str = "What is suspected";

/// What makes a module interesting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Test {
    /// The command succeeds.
    Command(String),
    /// The passes panic, or leave a module that breaks a rule.
    Crash,
    /// The passes change results.
    Differs,
}

impl Test {
    fn parse(text: &str) -> Result<Test, String> {
        match text {
            "@crash" => Ok(Test::Crash),
            "@differs" => Ok(Test::Differs),
            _ if text.starts_with('@') => Err(format!(
                "`--test={text}`: built in are `@crash` and `@differs`; a command does not start with `@`"
            )),
            _ if text.trim().is_empty() => Err("`--test` is empty".to_owned()),
            command => Ok(Test::Command(command.to_owned())),
        }
    }
}

/// What runs the module after the passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineKind {
    Interp,
    Jit,
}

/// The command line, understood.
pub(super) struct Args {
    pub(super) path: String,
    pub(super) load: LoadOptions,
    pub(super) form: DiagnosticFormat,
    pub(super) test: Test,
    pub(super) bisect: bool,
    pub(super) output: Option<String>,
    pub(super) to: Option<Format>,
    pub(super) trials: usize,
    pub(super) pipeline: Pipeline,
    pub(super) engine: EngineKind,
}

impl Args {
    /// Errors: the exit code after a usage error has been printed.
    pub(super) fn of(matches: &ArgMatches, host: &mut dyn Host) -> Result<Args, u8> {
        let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let test = Test::parse(word("test").unwrap_or_default());
        let test = test.map_err(|message| cli::usage_error(host, &message))?;
        let bisect = matches.get_flag("bisect");
        let named = word("pass-pipeline").is_some() || word("level").is_some();
        if named && !bisect && matches!(test, Test::Command(_)) {
            let message = "passes are named, but CMD runs its own; `--bisect`, `@crash` and `@differs` run them";
            return Err(cli::usage_error(host, message));
        }
        let engine = match word("engine") {
            Some("jit") => EngineKind::Jit,
            _ => EngineKind::Interp,
        };
        let usual = if engine == EngineKind::Jit {
            "0"
        } else {
            SUSPECTED
        };
        let level = word("level").unwrap_or(usual);
        let level = LEVELS.iter().find(|own| own.name == level);
        let text = word("pass-pipeline")
            .or(level.map(|level| level.pipeline))
            .unwrap_or_default();
        let pipeline = parse_pipeline(text, &PASSES).map_err(|found| {
            let file = mind_diag::SourceFile::new("<pass-pipeline>", text);
            cli::report(host, &found, &file, DiagnosticFormat::Text);
            cli::USAGE
        })?;
        Ok(Args {
            path: word("FILE").unwrap_or("-").to_owned(),
            load: cli::load_options(matches),
            form: DiagnosticFormat::of(matches),
            test,
            bisect,
            output: word("output").map(str::to_owned),
            to: word("to").and_then(Format::parse),
            trials: matches.get_one("trials").copied().unwrap_or(10_000),
            pipeline,
            engine,
        })
    }
}
