//! The command line of `mind-run --model`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::style;
use mind_cli::value;
use mind_driver::engine::Config;
use mind_jit::program::PanelChoice;
use mind_model::Sampling;

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Args {
    /// The folder of the model, or its GGUF file.
    pub(super) model: String,
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
    /// Whether logits behind every token of the prompt are asked for.
    pub(super) all_logits: bool,
}

impl Args {
    pub(super) fn of(matches: &ArgMatches) -> Args {
        let word = |name: &str| matches.get_one::<String>(name).cloned();
        let count = |name: &str| matches.get_one::<usize>(name).copied();
        let real = |name: &str| matches.get_one::<f64>(name).copied();
        let tokens = matches.get_many("tokens").into_iter().flatten();
        Args {
            model: word("model").unwrap_or_default(),
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
        }
    }
}

pub(super) fn command() -> Command {
    let count =
        |name, shown, help| value(name, shown, help).value_parser(clap::value_parser!(usize));
    Command::new("mind-run")
        .about("Runs a decoder model on tokens and prints those that follow")
        .version(env!("CARGO_PKG_VERSION"))
        .arg(
            value(
                "model",
                "MODEL_DIR",
                "a folder with config.json and safetensors, or a GGUF file",
            )
            .required(true),
        )
        .arg(
            value("tokens", "ID,...", "the tokens to start from")
                .required_unless_present("prompt")
                .conflicts_with("prompt")
                .value_delimiter(',')
                .value_parser(clap::value_parser!(u32)),
        )
        .arg(value(
            "prompt",
            "TEXT",
            "the text to start from, by the folder's tokenizer.json; text is printed then",
        ))
        .arg(count("generate", "N", "how many tokens to draw").default_value("1"))
        .arg(
            value(
                "temperature",
                "T",
                "what logits are divided by before tokens are drawn; 0 takes the most likely one",
            )
            .default_value("0")
            .value_parser(at_least_zero),
        )
        .arg(count("top-k", "K", "draw from the K most likely tokens alone; 0 from all").default_value("0"))
        .arg(
            value(
                "top-p",
                "P",
                "draw from the most likely tokens that have probability P together",
            )
            .default_value("1")
            .value_parser(probability),
        )
        .arg(
            value("seed", "SEED", "draw the same tokens for the same seed")
                .default_value("0")
                .value_parser(clap::value_parser!(u64)),
        )
        .arg(count(
            "capacity",
            "TOKENS",
            "tokens that the cache of keys and values has room for; as many as the run needs unless given",
        ))
        .arg(
            value("engine", "ENGINE", "what runs the model")
                .value_parser(["jit", "interp"])
                .default_value("jit"),
        )
        .args(mind_cli::machine())
        .args(style::args())
        .arg(value(
            "logits",
            "OUT.npz",
            "write the logits that each token was drawn from there, as the rows of `logits`",
        ))
        .arg(
            Arg::new("all-logits")
                .long("all-logits")
                .action(ArgAction::SetTrue)
                .requires("logits")
                .help("write those behind the other tokens of the prompt too"),
        )
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
