//! The command line.

use std::num::NonZero;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::{DiagnosticFormat, constants, flag, output, value};
use mind_driver::engine::{Config, MAX_THREADS};
use mind_driver::formats::LoadOptions;
use mind_ir::eval::EvalCx;
use mind_vir::target::Isa;

use crate::model::args as model;

/// How results and timings are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

/// What runs a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EngineKind {
    /// Machine code.
    Jit,
    /// The reference interpreter.
    Interp,
}

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Args {
    /// The module; `-` for standard input.
    pub(super) file: String,
    /// How the module is read.
    pub(super) load: LoadOptions,
    /// How errors are shown.
    pub(super) diagnostics: DiagnosticFormat,
    /// The archive of arrays.
    pub(super) inputs: Option<String>,
    /// Seed for the arrays that are not given.
    pub(super) random: Option<u64>,
    /// Extents of symbolic dimensions.
    pub(super) dims: Vec<(String, usize)>,
    /// What runs the module, if that is said.
    pub(super) engine: Option<EngineKind>,
    /// What is compiled for.
    pub(super) config: Config,
    /// Where the results go, instead of being printed.
    pub(super) outputs: Option<String>,
    /// Whether to time the runs.
    pub(super) bench: bool,
    /// Whether to time the steps of runs, and where the trace of these goes.
    pub(super) steps: Option<Option<String>>,
    /// The most schedules that are measured, if any are.
    pub(super) tune: Option<u64>,
    /// Whether programs are kept, and taken from those that are.
    pub(super) is_cached: bool,
    /// How results and timings are printed.
    pub(super) form: Form,
    /// Whether to print every element.
    pub(super) full: bool,
    /// The most bytes that inputs, and that values alive at one time, may have.
    pub(super) memory_limit: u64,
    /// The most steps of a loop.
    pub(super) max_steps: u64,
}

impl Args {
    /// `available` is the memory that the host has left, if it knows.
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
/// A name that ends otherwise, in one line.
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

/// The memory limit unless one is given: three quarters of what is available, 4 GiB where that is not known.
fn usual_memory_limit(available: Option<u64>) -> u64 {
    available.map_or(EvalCx::TENSOR_LIMIT, |bytes| bytes / 4 * 3)
}

pub(super) fn command() -> Command {
    let one_of = |words: [&'static str; 2]| PossibleValuesParser::new(words);
    Command::new("mind-run")
        .about("Runs a module on arrays, or a model on tokens, on texts or in a chat, and prints what comes out")
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
                "make up the arrays that are not given, reproducibly",
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
                "what runs it: machine code, unless it is a module that is lowered to loops already or has ops of MIL that \
                 are not imported",
            )
            .value_parser(["jit", "interp"]),
        )
        .args(machine())
        .arg(value(
            "outputs",
            "OUT.npz",
            "write the outputs there by their names, or as out0, out1, ... where they have none, instead of printing them; bf16 \
             as uint16; vectors of an encoder as the rows of `embeddings`",
        ))
        .arg(flag(
            "bench",
            "print compile and run times instead of the outputs, of a model those of reading a prompt and of each token",
        ))
        .arg(
            value(
                "profile-steps",
                "TRACE.json",
                "print what each kernel takes, and what it could take at best, instead of the outputs; a trace for Perfetto \
                 is written to the file",
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
                "measure other schedules of each kernel, COUNT in all at most (512 unless given), and compile the fastest ones; \
                 results have the same bits, and what was chosen is kept with the program",
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
                "bytes for the inputs, and for the values alive at one time; K, M, G for KiB, ... \
                 [default: three quarters of the available memory, 4G where that is not known]",
            )
            .value_parser(ValueParser::new(mind_cli::parse_size)),
        )
        .arg(
            value(
                "max-steps",
                "COUNT",
                "the most steps of a loop whose end only running tells [default: 16777216]",
            )
            .value_parser(clap::value_parser!(u64)),
        )
        .arg(flag(
            "no-cache",
            "compile the module even if the program is kept from an earlier run, and keep nothing; `MIND_CACHE` names the \
             folder of programs, `MIND_CACHE_LIMIT` the most bytes of it (1G unless given)",
        ))
        .arg(
            flag("cache-stats", "print where programs are kept, and what is there; nothing runs")
                .exclusive(true),
        )
        .args(model::args())
        .groups(model::groups())
}

/// The flags that say what to compile for: `--isa` and `--threads`.
fn machine() -> [Arg; 2] {
    let isa = value(
        "isa",
        "ISA",
        "the instruction set to compile for; this machine's widest unless given",
    );
    let threads = value(
        "threads",
        "N",
        "threads; as many as the machine has unless given",
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
