//! The command line of `mind-reduce`.

use std::time::Duration;

use clap::builder::ValueParser;
use clap::{Arg, ArgMatches, Command};
use mind_cli::{DiagnosticFormat, flag, output, rules, value};
use mind_driver::formats::{Format, FormatInfo, LoadOptions, Output, Read};
use mind_driver::host::{ChildLimits, Host};
use mind_driver::session::LEVELS;
use mind_ir::verify::Profile;
use mind_irv2::graph::document::Padding;
use mind_pass::{PassRegistry, Pipeline, RewriteOptions, parse_pipeline};

/// The default optimisation level.
const SUSPECTED: &str = "2";

pub(super) fn command() -> Command {
    Command::new("mind-reduce")
        .about("Reduces a module while it stays interesting, or finds the first bad rewrite")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(
            "Exit status: 0 done, 1 the input was rejected or is not interesting, 2 usage.\n\n\
             Every candidate verifies. A command is run by the shell with the path of the candidate after it, \
             or in place of `{}`; one that takes longer than --time-limit is ended, with the processes that \
             it started, and its candidate is not interesting.",
        )
        .args(mind_cli::input_args(|row| {
            matches!(
                row.read,
                Some(Read::Module(_) | Read::Document(_) | Read::Import(_))
            )
        }))
        .args(search_args())
        .next_help_heading(PASSES_HEADING)
        .args(suspect_args())
        .args(rules::args())
}

fn search_args() -> [Arg; 7] {
    [
        value(
            "test",
            "CMD|@crash|@differs",
            "the interestingness test: CMD exits with 0 for the file, the passes or the given engine crash \
             (`@crash`), or the results of the passes' output differ from those of their input (`@differs`)",
        )
        .required(true),
        flag(
            "bisect",
            "name the first rewrite that makes the passes' output interesting; CMD is given \
             that output",
        ),
        output::arg(output::FILE),
        value(
            "to",
            "FORMAT",
            "the output's format; by default that of the extension of -o, else the input's format or Core text",
        )
        .value_parser(FormatInfo::words(is_written)),
        value("trials", "N", "the maximal number of tests")
            .value_parser(clap::value_parser!(usize))
            .default_value("10000"),
        value(
            "time-limit",
            "SECONDS",
            "the time limit of CMD, or of passes and engine, for one module",
        )
        .value_parser(clap::value_parser!(u64).range(1..))
        .default_value("20"),
        value(
            "memory-limit",
            "SIZE",
            "the memory limit of passes and engine for one module; K, M, G for KiB, ...",
        )
        .value_parser(ValueParser::new(mind_cli::parse_size))
        .default_value("8G"),
    ]
}

fn suspect_args() -> [Arg; 3] {
    [
        value(
            "pass-pipeline",
            "TEXT",
            "the passes to run, as text; by default those of -O2",
        )
        .conflicts_with("level"),
        Arg::new("level")
            .short('O')
            .value_name("LEVEL")
            .value_parser(LEVELS.iter().map(|level| level.name).collect::<Vec<_>>())
            .help("a named pipeline"),
        value(
            "engine",
            "ENGINE",
            "the engine that runs the passes' output: by default the interpreter for `@differs`, and none for \
             `@crash`; with `jit` no passes run by default",
        )
        .value_parser(["interp", "jit"]),
    ]
}

const PASSES_HEADING: &str = "Passes";

/// Returns whether the tool can write modules in a format.
fn is_written(row: &FormatInfo) -> bool {
    row.text().is_some()
}

/// The interestingness test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Test {
    /// The command succeeds.
    Command(String),
    /// The passes panic, or leave an invalid module.
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

/// The engine that runs the module after the passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineKind {
    Interp,
    Jit,
}

/// The parsed command line.
pub(super) struct Args {
    pub(super) path: String,
    pub(super) load: LoadOptions,
    pub(super) form: DiagnosticFormat,
    pub(super) test: Test,
    pub(super) bisect: bool,
    pub(super) output: Option<String>,
    to: Option<&'static FormatInfo>,
    pub(super) trials: usize,
    pub(super) pipeline: Pipeline,
    /// The engine that runs the module after the passes, if it is given.
    pub(super) engine: Option<EngineKind>,
    /// Time and memory limits of a case.
    pub(super) child: ChildLimits,
    no_input_limits: bool,
}

impl Args {
    /// # Errors
    ///
    /// The exit code, after a usage error has been printed.
    pub(super) fn of(
        matches: &ArgMatches,
        passes: &PassRegistry,
        host: &mut dyn Host,
    ) -> Result<Args, u8> {
        let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let test = Test::parse(word("test").unwrap_or_default());
        let test = test.map_err(|message| mind_cli::usage_error(host, &message))?;
        let bisect = matches.get_flag("bisect");
        let asked = output::asked(matches, is_written);
        match asked.path.filter(|_| bisect) {
            Some(path) => output::check_not_module(path, "the name of a rewrite")
                .map_err(|message| mind_cli::usage_error(host, &message))?,
            None => drop(output::format(&asked, None, host)?),
        }
        let named = word("pass-pipeline").is_some() || word("level").is_some();
        if named && !bisect && matches!(test, Test::Command(_)) {
            let message = "passes are named, but CMD runs its own; `--bisect`, `@crash` and `@differs` run them";
            return Err(mind_cli::usage_error(host, message));
        }
        let engine = word("engine").map(|word| match word {
            "jit" => EngineKind::Jit,
            _ => EngineKind::Interp,
        });
        let usual = if engine == Some(EngineKind::Jit) {
            "0"
        } else {
            SUSPECTED
        };
        let level = word("level").unwrap_or(usual);
        let level = LEVELS.iter().find(|own| own.name == level);
        let text = word("pass-pipeline")
            .or(level.map(|level| level.pipeline))
            .unwrap_or_default();
        let pipeline = parse_pipeline(text, passes).map_err(|found| {
            let file = mind_diag::SourceFile::new("<pass-pipeline>", text);
            mind_cli::report(host, &found, &file, DiagnosticFormat::Text);
            mind_cli::USAGE
        })?;
        Ok(Args {
            path: word("FILE").unwrap_or("-").to_owned(),
            load: mind_cli::load_options(matches),
            form: DiagnosticFormat::of(matches),
            test,
            bisect,
            output: output::file(matches).cloned(),
            to: asked.to,
            trials: matches.get_one("trials").copied().unwrap_or(10_000),
            pipeline,
            engine,
            child: ChildLimits {
                time: Duration::from_secs(matches.get_one("time-limit").copied().unwrap_or(20)),
                memory: matches.get_one("memory-limit").copied().unwrap_or(8 << 30),
            },
            no_input_limits: matches.get_flag("no-input-limits"),
        })
    }

    /// Returns the requested output format for a module that was read from `input`; `None` for the format of the input.
    pub(super) fn format(&self, input: &FormatInfo) -> Option<Format> {
        let output = Output {
            to: self.to,
            path: self.output.as_deref(),
            writes: is_written,
        };
        // Names without a known format have been rejected before anything is read.
        output.format(Some(input)).ok().flatten()?.text()
    }

    /// Returns the command that stops after rewrite `number`.
    pub(super) fn replay(&self, rewriting: &RewriteOptions, number: u64) -> String {
        let RewriteOptions {
            rules,
            fast_math,
            only,
            disabled,
            unchecked,
        } = rewriting;
        let mut command = "mind-opt".to_owned();
        let mut flag = |name: &str, value: &str| {
            command.push_str(&format!(" --{name}={}", mind_cli::shell_word(value)));
        };
        if let Some(format) = self.load.from {
            flag("from", format.word);
        }
        if self.load.profile != Profile::default() {
            flag("profile", self.load.profile.name());
        }
        flag("pass-pipeline", &self.pipeline.text());
        for source in rules {
            let is_stdin = source.name == mind_cli::input_name("-");
            flag("rules", if is_stdin { "-" } else { &source.name });
        }
        let lists = [
            ("fast-math", fast_math),
            ("only-rule", only),
            ("disable-rule", disabled),
            ("allow-unchecked-rule", unchecked),
        ];
        for (name, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
            flag(name, &names.join(","));
        }
        flag("opt-bisect-limit", &number.to_string());
        if self.no_input_limits {
            command.push_str(" --no-input-limits");
        }
        if self.load.padding == Padding::Kept {
            command.push_str(" --keep-padding");
        }
        command.push(' ');
        command.push_str(&mind_cli::shell_word(&self.path));
        command
    }
}
