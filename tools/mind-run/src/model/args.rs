//! What the command line asks of a model.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use mind_cli::{DiagnosticFormat, flag, value};
use mind_driver::engine::Config;
use mind_jit::program::PanelChoice;
use mind_model::{Pooling, Products, Sampling};

use crate::args::Form;

/// What a sequence begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// Tokens.
    Tokens(Vec<u32>),
    /// The tokens of a text.
    Prompt(String),
    /// A conversation, with what holds for all of it.
    Chat(Option<String>),
    /// Any tokens.
    Any,
    /// Texts that an encoder makes vectors of.
    Texts(Vec<String>),
    /// The archive with the images that an encoder reads.
    Pixels(String),
    /// The file with the sound that an encoder-decoder hears.
    Audio(String),
}

/// What the command line asks of a model.
#[derive(Debug)]
pub(super) struct ModelArgs {
    /// The folder of the model, or its GGUF file.
    pub(super) model: String,
    /// The folder that describes its family, if no shipped description does.
    pub(super) kernel_maps: Option<String>,
    pub(super) start: Start,
    /// The language that is spoken, and what becomes of what is said.
    pub(super) language: Option<String>,
    pub(super) task: Option<String>,
    /// Where the features of sound go.
    pub(super) features: Option<String>,
    /// How many tokens to draw at most.
    pub(super) generate: Option<usize>,
    pub(super) sampling: Sampling,
    /// Sequences of a beam search; `None` for one sequence that is drawn.
    pub(super) beams: Option<usize>,
    /// Texts that end the text.
    pub(super) stops: Vec<String>,
    /// Whether the tokens that end a text do not.
    pub(super) ignores_ends: bool,
    /// Tokens that the cache has room for; as many as the run needs unless given.
    pub(super) capacity: Option<usize>,
    /// Whether the reference interpreter runs it.
    pub(super) is_interpreted: bool,
    pub(super) config: Config,
    /// How products by weights in blocks are computed.
    pub(super) products: Products,
    /// Whether programs are kept on disk.
    pub(super) is_cached: bool,
    /// Whether packed weights are kept from run to run.
    pub(super) packs: bool,
    /// Where logits go.
    pub(super) logits: Option<String>,
    /// Whether logits after every token of the prompt are asked for.
    pub(super) all_logits: bool,
    /// How the vectors of tokens become one, if that is said.
    pub(super) pooling: Option<Pooling>,
    /// Whether vectors are made as long as 1, if that is said.
    pub(super) normalizes: Option<bool>,
    /// Where vectors go instead of being printed.
    pub(super) outputs: Option<String>,
    /// How times are printed instead of what is drawn.
    pub(super) bench: Option<Form>,
    /// How vectors are printed.
    pub(super) vectors: Form,
    /// The options that are given and for which decoders alone, or encoders alone, have a use.
    pub(super) of_decoders: Option<&'static str>,
    pub(super) of_encoders: Option<&'static str>,
    /// Whether it is said how things are printed.
    pub(super) has_form: bool,
    /// How errors are shown.
    pub(super) form: DiagnosticFormat,
}

impl ModelArgs {
    /// # Errors
    ///
    /// A usage error in one line.
    pub(super) fn of(matches: &ArgMatches) -> Result<ModelArgs, &'static str> {
        let word = |name: &str| matches.get_one::<String>(name).cloned();
        let count = |name: &str| matches.get_one::<usize>(name).copied();
        let real = |name: &str| matches.get_one::<f64>(name).copied();
        let bench = match (matches.get_flag("bench"), word("format").as_deref()) {
            (true, Some("json")) => Some(Form::Json),
            (true, _) => Some(Form::Text),
            (false, _) => None,
        };
        let given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let texts = matches.get_many::<String>("embed");
        let (pixels, audio) = (word("pixels"), word("audio"));
        let is_drawing = texts.is_none() && pixels.is_none() && !given(&"tokens");
        if bench.is_none() && given(&"format") && is_drawing {
            return Err(FORMAT);
        }
        let tokens = matches.get_many("tokens");
        let start = match (tokens, word("prompt")) {
            (None, None) if texts.is_some() => {
                Start::Texts(texts.into_iter().flatten().cloned().collect())
            }
            (Some(tokens), _) => Start::Tokens(tokens.copied().collect()),
            (None, None) if pixels.is_some() => Start::Pixels(pixels.unwrap_or_default()),
            (None, Some(prompt)) => Start::Prompt(prompt),
            (None, None) if audio.is_some() => Start::Audio(audio.unwrap_or_default()),
            (None, None) if matches.get_flag("chat") => Start::Chat(word("system")),
            (None, None) => Start::Any,
        };
        let stops = matches.get_many("stop").into_iter().flatten();
        Ok(ModelArgs {
            model: word("model").unwrap_or_default(),
            kernel_maps: word("kernel-maps"),
            start,
            language: word("language"),
            task: word("task"),
            features: word("features"),
            generate: count("generate"),
            sampling: Sampling {
                temperature: real("temperature").unwrap_or(0.0),
                top_k: count("top-k").unwrap_or(0),
                top_p: real("top-p").unwrap_or(1.0),
                min_p: real("min-p").unwrap_or(0.0),
                repetition_penalty: real("repetition-penalty").unwrap_or(1.0) as f32,
                seed: matches.get_one("seed").copied().unwrap_or(0),
            },
            beams: count("beams"),
            stops: stops.cloned().collect(),
            ignores_ends: matches.get_flag("ignore-eos"),
            capacity: count("capacity"),
            is_interpreted: word("engine").as_deref() == Some("interp"),
            is_cached: !matches.get_flag("no-cache"),
            packs: matches.get_flag("pack-cache"),
            config: Config {
                isa: word("isa").and_then(|isa| isa.parse().ok()),
                threads: matches.get_one("threads").copied(),
                panels: PanelChoice::Shared,
                ..Config::default()
            },
            products: if matches.get_flag("quantize-activations") {
                Products::Integers
            } else {
                Products::Numbers
            },
            logits: word("logits"),
            all_logits: matches.get_flag("all-logits"),
            pooling: word("pooling").as_deref().and_then(Pooling::parse),
            normalizes: matches.get_one("normalize").copied(),
            outputs: word("outputs"),
            bench,
            vectors: match word("format").as_deref() {
                Some("json") => Form::Json,
                _ => Form::Text,
            },
            of_decoders: OF_DECODERS.into_iter().find(given),
            of_encoders: OF_ENCODERS.into_iter().find(given),
            has_form: given(&"format"),
            form: DiagnosticFormat::of(matches),
        })
    }
}

/// What `--format` is for where a decoder runs.
pub(super) const FORMAT: &str = "`--format` is for the times of `--bench` where a model runs";

/// `--chat` where an encoder-decoder runs.
pub(super) const CHAT: &str =
    "`--chat` is for decoders: the model is an encoder-decoder, which answers one text";

/// The arguments that encoders have no use for.
const OF_DECODERS: [&str; 20] = [
    "audio",
    "language",
    "task",
    "features",
    "prompt",
    "chat",
    "system",
    "generate",
    "stop",
    "ignore-eos",
    "capacity",
    "temperature",
    "top-k",
    "top-p",
    "min-p",
    "seed",
    "repetition-penalty",
    "beams",
    "logits",
    "all-logits",
];

/// The arguments that decoders have no use for.
const OF_ENCODERS: [&str; 5] = ["embed", "pixels", "pooling", "normalize", "outputs"];

/// The arguments that are of the module alone.
const OF_MODULES: [&str; 14] = [
    "FILE",
    "from",
    "profile",
    "no-input-limits",
    "keep-padding",
    "inputs",
    "random",
    "dim",
    "bind",
    "full",
    "memory-limit",
    "max-steps",
    "profile-steps",
    "tune",
];

/// The groups of arguments of which one is given: how a sequence begins, and what is done with the model.
pub(crate) fn groups() -> [ArgGroup; 2] {
    [
        ArgGroup::new("start").args(["tokens", "prompt", "chat", "embed", "pixels", "audio"]),
        ArgGroup::new("work")
            .args([
                "tokens", "prompt", "chat", "embed", "pixels", "audio", "bench",
            ])
            .multiple(true),
    ]
}

/// The arguments that are of the model alone.
pub(crate) fn args() -> Vec<Arg> {
    let model = value(
        "model",
        "MODEL_DIR",
        "run this decoder or encoder model: a folder with config.json and safetensors, or a GGUF file",
    );
    let model = model.requires("work");
    let family = value(
        "kernel-maps",
        "DIR",
        "the model may be of the family that the files of this folder describe",
    );
    let packed = flag(
        "pack-cache",
        "keep packed weights in the folder of programs, and start from those of an earlier run; they take about the room of \
         the model again, outside of `MIND_CACHE_LIMIT`",
    )
    .conflicts_with_all(["no-cache", "kernel-maps"]);
    let integers = flag(
        "quantize-activations",
        "multiply integers where weights are stored in blocks of quantised numbers: faster, with another result",
    );
    let options = [family, packed, integers].into_iter();
    let options = options.chain(starts()).chain(sounds());
    let options = options.chain(draws()).chain(outputs());
    let options = options.map(|arg| arg.requires("model"));
    let all = std::iter::once(model).chain(options);
    let all = all.map(|arg| arg.help_heading("Decoder models"));
    let vectors = vectors().into_iter().map(|arg| {
        let arg = arg.requires("model");
        arg.help_heading("Encoder models")
    });
    let all = all.chain(vectors);
    all.map(|arg| arg.conflicts_with_all(OF_MODULES)).collect()
}

/// What an encoder makes vectors of, and how.
fn vectors() -> Vec<Arg> {
    vec![
        value(
            "embed",
            "TEXT",
            "print the vector of this text, by the folder's tokenizer.json; may be given several times; `--tokens` gives \
             the tokens of one text instead",
        )
        .action(ArgAction::Append)
        .conflicts_with_all(OF_DECODERS)
        .conflicts_with("bench"),
        value(
            "pixels",
            "IN.npz",
            "print the classes with the largest scores of the image `pixel_values` of this archive, of channels, rows and \
             columns, or of each of several images; their vectors where the model has no classifier or `--pooling` is given",
        )
        .conflicts_with_all(OF_DECODERS)
        .conflicts_with("bench"),
        value(
            "pooling",
            "HOW",
            "how the vectors of tokens become one: their mean, that of the first token, or what the model's pooler makes \
             of that; as modules.json or 1_Pooling/config.json say unless given, else the mean",
        )
        .value_parser(Vec::from_iter(Pooling::ALL.map(Pooling::name))),
        value(
            "normalize",
            "BOOL",
            "whether to make the length of vectors 1; as modules.json says unless given",
        )
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_parser(clap::value_parser!(bool)),
    ]
}

fn count(name: &'static str, shown: &'static str, help: &'static str) -> Arg {
    value(name, shown, help).value_parser(clap::value_parser!(usize))
}

/// What a sequence begins with, and how far it goes.
fn starts() -> Vec<Arg> {
    vec![
        value("tokens", "ID,...", "the tokens to start from")
            .value_delimiter(',')
            .value_parser(clap::value_parser!(u32)),
        value(
            "prompt",
            "TEXT",
            "the text to start from, by the folder's tokenizer.json; text is printed then",
        ),
        flag(
            "chat",
            "answer each line of standard input, in a conversation that the model's chat template writes",
        )
        .conflicts_with("bench"),
        value(
            "system",
            "TEXT",
            "what the system says at the beginning of the conversation",
        )
        .requires("chat")
        .conflicts_with_all(["tokens", "prompt", "bench"]),
        count(
            "generate",
            "N",
            "how many tokens to draw at most; 1 unless given, in a chat and of sound as many as fit, with `--bench` 32",
        ),
        value(
            "stop",
            "TEXT",
            "end the text in front of this one; may be given several times",
        )
        .action(ArgAction::Append)
        .conflicts_with_all(["tokens", "bench"]),
        flag(
            "ignore-eos",
            "draw on behind tokens that end a text by generation_config.json, config.json or the GGUF header",
        )
        .conflicts_with("bench"),
        count(
            "capacity",
            "TOKENS",
            "tokens that the cache of keys and values has room for; as many as the run needs unless given, in a chat \
             the model's context up to 8192",
        ),
    ]
}

/// The sound that a model hears.
fn sounds() -> impl Iterator<Item = Arg> {
    let audio = value(
        "audio",
        "IN.wav",
        "write what is said in this WAV file, with `--generate` that many tokens of it at most",
    )
    .conflicts_with("bench");
    std::iter::once(audio).chain(words_of_sounds())
}

/// What is said of sound besides.
fn words_of_sounds() -> [Arg; 3] {
    let said = [
        value(
            "language",
            "LANGUAGE",
            "the language that is spoken, such as `en` or `english`; the most likely one unless given here or in generation_config.json",
        ),
        value(
            "task",
            "TASK",
            "what becomes of what is said, such as `transcribe` or `translate`",
        ),
        value(
            "features",
            "OUT",
            "write the features of the sound there, as the program in C of the model reads them",
        ),
    ];
    said.map(|arg| {
        let arg = arg.requires("audio");
        arg.conflicts_with_all(["tokens", "prompt", "chat", "embed", "pixels", "bench"])
    })
}

/// How tokens are drawn.
fn draws() -> Vec<Arg> {
    let sampled = vec![
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
        value(
            "min-p",
            "P",
            "draw from tokens at least P times as likely as the most likely one; 0 from all",
        )
        .default_value("0")
        .value_parser(at_most_one),
        value("seed", "SEED", "draw the same tokens for the same seed")
            .default_value("0")
            .value_parser(clap::value_parser!(u64)),
    ];
    let penalty = value(
        "repetition-penalty",
        "R",
        "divide logits above 0 of tokens that are there already by R, and multiply those below by it",
    )
    .default_value("1")
    .value_parser(above_zero);
    let beams = value(
        "beams",
        "N",
        "search the most likely text with N sequences side by side, instead of drawing tokens",
    )
    .value_parser(beams)
    .conflicts_with_all(["temperature", "top-k", "top-p", "min-p", "seed"])
    .conflicts_with_all(["chat", "logits", "bench"]);
    let sampled = sampled.into_iter().chain([penalty]);
    let sampled = sampled.map(|arg| arg.conflicts_with("bench"));
    sampled.chain([beams]).collect()
}

/// What is written besides tokens.
fn outputs() -> Vec<Arg> {
    vec![
        value(
            "logits",
            "OUT.npz",
            "write the logits that each token was drawn from there, as the rows of `logits`",
        )
        .conflicts_with_all(["chat", "bench"]),
        flag(
            "all-logits",
            "write those after the other tokens of the prompt too",
        )
        .requires("logits"),
    ]
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

fn at_least_zero(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number >= 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err("expected a number from 0".to_owned())
    }
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    let single = number as f32;
    if single > 0.0 && single.is_finite() {
        Ok(number)
    } else {
        Err("expected a number above 0".to_owned())
    }
}

fn at_most_one(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err("expected a number from 0 to 1".to_owned())
    }
}

fn probability(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number > 0.0 && number <= 1.0 {
        Ok(number)
    } else {
        Err("expected a number above 0, at most 1".to_owned())
    }
}

/// The most sequences of a search: each has a cache.
const MOST_BEAMS: usize = 1024;

fn beams(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(beams) if (1..=MOST_BEAMS).contains(&beams) => Ok(beams),
        _ => Err(format!("expected 1 to {MOST_BEAMS} sequences")),
    }
}
