//! The command line.

use std::num::NonZero;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use mind_cli::{DiagnosticFormat, constants, flag, value};
use mind_driver::engine::{Config, MAX_THREADS};
use mind_driver::formats::LoadOptions;
use mind_ir::eval::EvalCx;
use mind_jit::program::PanelChoice;
use mind_model::Sampling;
use mind_vir::target::Isa;

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

/// What the command line asks of a model.
#[derive(Debug)]
pub(super) struct ModelArgs {
    /// The folder of the model, or its GGUF file.
    pub(super) model: String,
    /// The folder that describes its family, if no shipped description does.
    pub(super) kernel_maps: Option<String>,
    /// The tokens to start from.
    pub(super) tokens: Vec<u32>,
    /// The text to start from instead.
    pub(super) prompt: Option<String>,
    /// How many tokens to draw.
    pub(super) generate: usize,
    pub(super) sampling: Sampling,
    /// Tokens that the cache has room for; as many as the run needs unless given.
    pub(super) capacity: Option<usize>,
    /// Whether the reference interpreter runs it.
    pub(super) is_interpreted: bool,
    pub(super) config: Config,
    /// Where logits go.
    pub(super) logits: Option<String>,
    /// Whether logits after every token of the prompt are asked for.
    pub(super) all_logits: bool,
    /// How errors are shown.
    pub(super) form: DiagnosticFormat,
}

impl ModelArgs {
    pub(super) fn of(matches: &ArgMatches) -> ModelArgs {
        let word = |name: &str| matches.get_one::<String>(name).cloned();
        let count = |name: &str| matches.get_one::<usize>(name).copied();
        let real = |name: &str| matches.get_one::<f64>(name).copied();
        let tokens = matches.get_many("tokens").into_iter().flatten();
        ModelArgs {
            model: word("model").unwrap_or_default(),
            kernel_maps: word("kernel-maps"),
            tokens: tokens.copied().collect(),
            prompt: word("prompt"),
            generate: count("generate").unwrap_or(0),
            sampling: Sampling {
                temperature: real("temperature").unwrap_or(0.0),
                top_k: count("top-k").unwrap_or(0),
                top_p: real("top-p").unwrap_or(1.0),
                seed: matches.get_one("seed").copied().unwrap_or(0),
            },
            capacity: count("capacity"),
            is_interpreted: word("engine").as_deref() == Some("interp"),
            config: Config {
                isa: word("isa").and_then(|isa| isa.parse().ok()),
                threads: matches.get_one("threads").copied(),
                panels: PanelChoice::Shared,
                ..Config::default()
            },
            logits: word("logits"),
            all_logits: matches.get_flag("all-logits"),
            form: DiagnosticFormat::of(matches),
        }
    }
}

/// The memory limit unless one is given: three quarters of what is available, 4 GiB where that is not known.
fn usual_memory_limit(available: Option<u64>) -> u64 {
    available.map_or(EvalCx::TENSOR_LIMIT, |bytes| bytes / 4 * 3)
}

pub(super) fn command() -> Command {
    let one_of = |words: [&'static str; 2]| PossibleValuesParser::new(words);
    Command::new("mind-run")
        .about("Runs a module on arrays, or a decoder model on tokens, and prints what comes out")
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
            "write the outputs there as out0, out1, ..., instead of printing them; bf16 as uint16",
        ))
        .arg(flag(
            "bench",
            "print compile and run times instead of the outputs",
        ))
        .arg(
            value("format", "FORM", "how outputs and times are printed")
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
        .args(model_args())
        .group(ArgGroup::new("start").args(["tokens", "prompt"]))
}

/// The arguments that are of the module alone.
const OF_MODULES: [&str; 15] = [
    "FILE",
    "from",
    "profile",
    "no-input-limits",
    "keep-padding",
    "inputs",
    "random",
    "dim",
    "bind",
    "outputs",
    "bench",
    "format",
    "full",
    "memory-limit",
    "max-steps",
];

/// The arguments that are of the model alone.
fn model_args() -> Vec<Arg> {
    let count =
        |name, shown, help| value(name, shown, help).value_parser(clap::value_parser!(usize));
    let model = value(
        "model",
        "MODEL_DIR",
        "run this decoder model: a folder with config.json and safetensors, or a GGUF file",
    );
    let options = [
        value(
            "kernel-maps",
            "DIR",
            "the model may be of the family that the files of this folder describe",
        ),
        value("tokens", "ID,...", "the tokens to start from")
            .value_delimiter(',')
            .value_parser(clap::value_parser!(u32)),
        value(
            "prompt",
            "TEXT",
            "the text to start from, by the folder's tokenizer.json; text is printed then",
        ),
        count("generate", "N", "how many tokens to draw").default_value("1"),
        value(
            "temperature",
            "T",
            "what logits are divided by before tokens are drawn; 0 takes the most likely one",
        )
        .default_value("0")
        .value_parser(at_least_zero),
        count(
            "top-k",
            "K",
            "draw from the K most likely tokens alone; 0 from all",
        )
        .default_value("0"),
        value(
            "top-p",
            "P",
            "draw from the most likely tokens that have probability P together",
        )
        .default_value("1")
        .value_parser(probability),
        value("seed", "SEED", "draw the same tokens for the same seed")
            .default_value("0")
            .value_parser(clap::value_parser!(u64)),
        count(
            "capacity",
            "TOKENS",
            "tokens that the cache of keys and values has room for; as many as the run needs unless given",
        ),
        value(
            "logits",
            "OUT.npz",
            "write the logits that each token was drawn from there, as the rows of `logits`",
        ),
        flag(
            "all-logits",
            "write those after the other tokens of the prompt too",
        )
        .requires("logits"),
    ];
    let model = model.requires("start");
    let options = options.into_iter().map(|arg| arg.requires("model"));
    let all = std::iter::once(model).chain(options);
    all.map(|arg| {
        arg.conflicts_with_all(OF_MODULES)
            .help_heading("Decoder models")
    })
    .collect()
}

fn at_least_zero(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if number >= 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err("expected a number from 0".to_owned())
    }
}

fn probability(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if number > 0.0 && number <= 1.0 {
        Ok(number)
    } else {
        Err("expected a number above 0, at most 1".to_owned())
    }
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
