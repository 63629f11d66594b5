//! Command line of `mind-run`.

use std::num::NonZero;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::{DiagnosticFormat, constants, flag, output, value};
use mind_driver::engine::{Config, MAX_THREADS};
use mind_driver::formats::LoadOptions;
use mind_ir::eval::EvalCx;
use mind_vir::target::Isa;

use crate::model::args as model;

/// Format of results and timings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Text for people.
    Text,
    /// One JSON object.
    Json,
}

/// Engine that runs a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineKind {
    /// Machine code.
    Jit,
    /// The reference interpreter.
    Interp,
}

/// The parsed command line.
#[derive(Debug)]
pub(super) struct Args {
    /// The module; `-` for standard input.
    pub(super) file: String,
    /// Options for reading the module.
    pub(super) load: LoadOptions,
    /// Format of diagnostics.
    pub(super) diagnostics: DiagnosticFormat,
    /// The archive of arrays.
    pub(super) inputs: Option<String>,
    /// Seed for missing arrays; `None` if they are errors.
    pub(super) random: Option<u64>,
    /// Extents of symbolic dimensions.
    pub(super) dims: Vec<(String, usize)>,
    /// The engine, if specified.
    pub(super) engine: Option<EngineKind>,
    /// Configuration of the compiler.
    pub(super) config: Config,
    /// Path of the results, if they are not printed.
    pub(super) outputs: Option<String>,
    /// Whether to time the runs.
    pub(super) bench: bool,
    /// Whether to time the steps of runs, and the path of the trace, if any.
    pub(super) steps: Option<Option<String>>,
    /// Limit on the schedules to measure; `None` disables tuning.
    pub(super) tune: Option<u64>,
    /// Whether the compile cache is used.
    pub(super) is_cached: bool,
    /// Format of results and timings.
    pub(super) form: Form,
    /// Whether to print every element.
    pub(super) full: bool,
    /// Limit in bytes on the inputs, and on the values live at one time.
    pub(super) memory_limit: u64,
    /// Limit on the steps of a loop.
    pub(super) max_steps: u64,
}

impl Args {
    /// Reads the arguments; `available` is the available memory in bytes, if known.
    pub(super) fn of(matches: &ArgMatches, available: Option<u64>) -> Args {
        let memory_limit = matches.get_one("memory-limit").copied();
        let memory_limit = memory_limit.unwrap_or_else(|| usual_memory_limit(available));
        let max_steps = matches.get_one("max-steps").copied();
        let max_steps = max_steps.unwrap_or(EvalCx::MAX_STEPS);
        let word = |name: &str| matches.get_one::<String>(name).cloned();
        Args {
            file: word("FILE").unwrap_or_else(|| "-".to_owned()),
            load: mind_cli::load_options(matches),
            diagnostics: DiagnosticFormat::of(matches),
            inputs: word("inputs"),
            random: matches.get_one("random").copied(),
            dims: matches
                .get_many("dim")
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            engine: word("engine").map(|engine| match engine.as_str() {
                "interp" => EngineKind::Interp,
                _ => EngineKind::Jit,
            }),
            config: Config {
                isa: word("isa").and_then(|isa| isa.parse().ok()),
                threads: matches.get_one("threads").copied(),
                memory_limit: Some(memory_limit),
                max_steps: Some(max_steps),
                ..Config::default()
            },
            outputs: word("outputs"),
            bench: matches.get_flag("bench"),
            steps: word("profile-steps").map(|path| (!path.is_empty()).then_some(path)),
            tune: matches.get_one("tune").copied(),
            is_cached: !matches.get_flag("no-cache"),
            form: match word("format").as_deref() {
                Some("json") => Form::Json,
                _ => Form::Text,
            },
            full: matches.get_flag("full"),
            memory_limit,
            max_steps,
        }
    }
}

/// Checks the extensions of the output files.
///
/// # Errors
///
/// Errors, in one line, if an extension is wrong.
pub(super) fn check_names(matches: &ArgMatches) -> Result<(), String> {
    let named = [
        ("outputs", "an archive of arrays", "npz"),
        ("logits", "an archive of arrays", "npz"),
        ("profile-steps", "a trace as JSON", "json"),
    ];
    for (flag, what, end) in named {
        if let Some(path) = matches.get_one::<String>(flag) {
            output::check_name(path, what, &[end])
                .map_err(|message| format!("`--{flag}`: {message}"))?;
        }
    }
    Ok(())
}

/// Returns the default memory limit: three quarters of the available memory, or 4 GiB if that is unknown.
fn usual_memory_limit(available: Option<u64>) -> u64 {
    available.map_or(EvalCx::TENSOR_LIMIT, |bytes| bytes / 4 * 3)
}

pub(super) fn command() -> Command {
    let one_of = |words: [&'static str; 2]| PossibleValuesParser::new(words);
    Command::new("mind-run")
        .about("Runs a module on arrays, or a model on tokens, texts or a chat, and prints the results")
        .after_help("Exit status: 0 done, 1 the input was rejected, 2 usage.")
        .version(env!("CARGO_PKG_VERSION"))
        .args(mind_cli::module_args())
        .arg(value(
            "inputs",
            "IN.npz",
            "arrays for the inputs, by name; bf16 as uint16",
        ))
        .arg(
            value(
                "random",
                "SEED",
                "fill missing arrays with random elements from this seed",
            )
            .value_parser(clap::value_parser!(u64)),
        )
        .arg(
            value(
                "dim",
                "NAME=EXTENT",
                "the extent of a symbolic dimension; `?` for all unnamed ones",
            )
            .action(ArgAction::Append)
            .value_parser(ValueParser::new(mind_cli::parse_dim)),
        )
        .arg(constants::arg())
        .arg(
            value(
                "engine",
                "ENGINE",
                "the engine; by default machine code, or the interpreter for modules at loops level and MIL \
                 programs that cannot be imported",
            )
            .value_parser(["jit", "interp"]),
        )
        .args(machine())
        .arg(value(
            "outputs",
            "OUT.npz",
            "write the outputs to this archive instead of printing them, by their names, or as out0, out1, ... if \
             they have none; bf16 as uint16; embeddings of an encoder as the rows of `embeddings`",
        ))
        .arg(flag(
            "bench",
            "print compile and run times instead of the outputs; for a model the times of prefill and of decode \
             steps",
        ))
        .arg(
            value(
                "profile-steps",
                "TRACE.json",
                "print the time of each kernel and its roofline instead of the outputs; a trace for Perfetto is \
                 written to the file",
            )
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .conflicts_with("bench"),
        )
        .arg(
            value(
                "tune",
                "COUNT",
                "measure at most COUNT other schedules of kernels (512 by default) and compile the fastest; results \
                 stay bit-identical, and the choice is cached with the program",
            )
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("512")
            .value_parser(clap::value_parser!(u64)),
        )
        .arg(
            value("format", "FORM", "how outputs, vectors and times are printed")
                .value_parser(one_of(["text", "json"]))
                .default_value("text"),
        )
        .arg(flag("full", "print every element of the outputs"))
        .arg(
            value(
                "memory-limit",
                "SIZE",
                "limit in bytes on the inputs, and on the values live at one time; K, M, G for KiB, ... [default: \
                 three quarters of the available memory, or 4G if unknown]",
            )
            .value_parser(ValueParser::new(mind_cli::parse_size)),
        )
        .arg(
            value(
                "max-steps",
                "COUNT",
                "limit on the steps of a loop with a data-dependent trip count [default: 16777216]",
            )
            .value_parser(clap::value_parser!(u64)),
        )
        .arg(flag(
            "no-cache",
            "do not use the compile cache; `MIND_CACHE` names its folder, `MIND_CACHE_LIMIT` limits its size in \
             bytes (1G by default)",
        ))
        .arg(
            flag("cache-stats", "print the folder and the contents of the compile cache; nothing runs")
                .exclusive(true),
        )
        .args(model::args())
        .groups(model::groups())
}

/// Returns the flags of the target: `--isa` and `--threads`.
fn machine() -> [Arg; 2] {
    let isa = value(
        "isa",
        "ISA",
        "the instruction set to compile for; by default the widest of this machine",
    );
    let threads = value(
        "threads",
        "N",
        "number of threads; by default one per hardware thread",
    );
    [
        isa.value_parser(Vec::from_iter(Isa::ALL.iter().rev().map(|isa| isa.name()))),
        threads.value_parser(ValueParser::new(parse_threads)),
    ]
}

fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    match text.parse::<NonZero<usize>>() {
        Ok(threads) if threads.get() <= MAX_THREADS => Ok(threads),
        _ => Err(format!("expected 1 to {MAX_THREADS} threads")),
    }
}
