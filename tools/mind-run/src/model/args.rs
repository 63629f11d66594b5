//! Command-line arguments of models.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use mind_cli::{DiagnosticFormat, flag, value};
use mind_driver::engine::Config;
use mind_jit::program::PanelChoice;
use mind_model::{Pooling, Products, Sampling};

use crate::args::Form;

/// The start of a sequence, or the input of an encoder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// Tokens.
    Tokens(Vec<u32>),
    /// A prompt, which is tokenized.
    Prompt(String),
    /// A conversation with its system message, if any.
    Chat(Option<String>),
    /// No prompt, because only times are measured.
    Any,
    /// Texts to embed.
    Texts(Vec<String>),
    /// Path of the archive with images for an encoder.
    Pixels(String),
    /// Path of the audio file for an encoder-decoder.
    Audio(String),
}

/// The parsed arguments.
#[derive(Debug)]
pub(super) struct ModelArgs {
    /// The folder of the model, or its GGUF file.
    pub(super) model: String,
    /// Folder of kernel maps, which describe a model family that is not built in.
    pub(super) kernel_maps: Option<String>,
    pub(super) start: Start,
    /// The spoken language and the task, for example `translate`.
    pub(super) language: Option<String>,
    pub(super) task: Option<String>,
    /// Path for the features of the audio.
    pub(super) features: Option<String>,
    /// Limit on the generated tokens.
    pub(super) generate: Option<usize>,
    pub(super) sampling: Sampling,
    /// Number of beams of a beam search; `None` to sample.
    pub(super) beams: Option<usize>,
    /// Stop texts.
    pub(super) stops: Vec<String>,
    /// Whether generation continues after end-of-text tokens.
    pub(super) ignores_ends: bool,
    /// Capacity of the KV cache in tokens; by default as many as the run needs.
    pub(super) capacity: Option<usize>,
    /// Whether the reference interpreter runs the model.
    pub(super) is_interpreted: bool,
    pub(super) config: Config,
    /// Arithmetic of products with block-quantised weights.
    pub(super) products: Products,
    /// Whether the compile cache is used.
    pub(super) is_cached: bool,
    /// Whether packed weights are cached on disk.
    pub(super) packs: bool,
    /// Path for the logits.
    pub(super) logits: Option<String>,
    /// Whether the logits of all prompt tokens are written.
    pub(super) all_logits: bool,
    /// The pooling of token vectors, if specified.
    pub(super) pooling: Option<Pooling>,
    /// Whether embeddings are normalised, if specified.
    pub(super) normalizes: Option<bool>,
    /// Path for embeddings, if they are not printed.
    pub(super) outputs: Option<String>,
    /// Format of times, if they are printed instead of the output.
    pub(super) bench: Option<Form>,
    /// Format of embeddings.
    pub(super) vectors: Form,
    /// An option that was specified and applies only to decoders, and one that applies only to encoders.
    pub(super) of_decoders: Option<&'static str>,
    pub(super) of_encoders: Option<&'static str>,
    /// Whether `--format` was specified.
    pub(super) has_form: bool,
    /// Format of diagnostics.
    pub(super) form: DiagnosticFormat,
}

impl ModelArgs {
    /// Reads the arguments.
    ///
    /// # Errors
    ///
    /// Returns a usage error in one line.
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

/// Usage error for `--format` with a decoder.
pub(super) const FORMAT: &str = "`--format` applies to the times of `--bench` when a model runs";

/// Usage error for `--chat` with an encoder-decoder.
pub(super) const CHAT: &str =
    "`--chat` is for decoders: the model is an encoder-decoder, which answers one text";

/// The arguments that do not apply to encoders.
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

/// The arguments that do not apply to decoders.
const OF_ENCODERS: [&str; 5] = ["embed", "pixels", "pooling", "normalize", "outputs"];

/// The arguments that apply only to modules.
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

/// Returns the argument groups: the start of a sequence, of which at most one is set, and the tasks, of which at least
/// one is set.
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

/// Returns the arguments that apply only to models.
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
        "also accept the model family that the files of this folder describe",
    );
    let packed = flag(
        "pack-cache",
        "cache packed weights on disk and reuse those of an earlier run; they take about the size of the model and \
         do not count towards `MIND_CACHE_LIMIT`",
    )
    .conflicts_with_all(["no-cache", "kernel-maps"]);
    let integers = flag(
        "quantize-activations",
        "quantise activations and use integer dot products where weights are block-quantised: faster, but results \
         differ",
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

/// Returns the arguments of encoders.
fn vectors() -> Vec<Arg> {
    vec![
        value(
            "embed",
            "TEXT",
            "print the embedding of this text, tokenized with the folder's tokenizer.json; may be repeated; \
             `--tokens` takes the tokens of one text instead",
        )
        .action(ArgAction::Append)
        .conflicts_with_all(OF_DECODERS)
        .conflicts_with("bench"),
        value(
            "pixels",
            "IN.npz",
            "print the classes with the highest scores of the image `pixel_values` in this archive (channels, rows, \
             columns), or of each of several images; print embeddings if the model has no classifier or with \
             `--pooling`",
        )
        .conflicts_with_all(OF_DECODERS)
        .conflicts_with("bench"),
        value(
            "pooling",
            "HOW",
            "pooling of token vectors: their mean, the first one, or the model's pooler; by default as in \
             modules.json or 1_Pooling/config.json, else the mean",
        )
        .value_parser(Vec::from_iter(Pooling::ALL.map(Pooling::name))),
        value(
            "normalize",
            "BOOL",
            "whether to normalise embeddings to length 1; by default as in modules.json",
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

/// Returns the arguments of prompts and of the length of sequences.
fn starts() -> Vec<Arg> {
    vec![
        value("tokens", "ID,...", "the tokens to start from")
            .value_delimiter(',')
            .value_parser(clap::value_parser!(u32)),
        value(
            "prompt",
            "TEXT",
            "the text to start from, tokenized with the folder's tokenizer.json; the output is text",
        ),
        flag(
            "chat",
            "answer each line of standard input, in a conversation formatted by the model's chat template",
        )
        .conflicts_with("bench"),
        value(
            "system",
            "TEXT",
            "the system message of the conversation",
        )
        .requires("chat")
        .conflicts_with_all(["tokens", "prompt", "bench"]),
        count(
            "generate",
            "N",
            "limit on the generated tokens; by default 1, in a chat and for audio as many as fit, with `--bench` 32",
        ),
        value(
            "stop",
            "TEXT",
            "stop generation before this text; may be repeated",
        )
        .action(ArgAction::Append)
        .conflicts_with_all(["tokens", "bench"]),
        flag(
            "ignore-eos",
            "continue after the end-of-text tokens of generation_config.json, config.json or the GGUF header",
        )
        .conflicts_with("bench"),
        count(
            "capacity",
            "TOKENS",
            "capacity of the KV cache in tokens; by default as many as the run needs, in a chat the model's context \
             up to 8192",
        ),
    ]
}

/// Returns the arguments of audio.
fn sounds() -> impl Iterator<Item = Arg> {
    let audio = value(
        "audio",
        "IN.wav",
        "transcribe this WAV file; `--generate` limits the number of tokens",
    )
    .conflicts_with("bench");
    std::iter::once(audio).chain(words_of_sounds())
}

/// Returns the arguments that require `--audio`.
fn words_of_sounds() -> [Arg; 3] {
    let said = [
        value(
            "language",
            "LANGUAGE",
            "the spoken language, for example `en` or `english`; by default that of generation_config.json, else \
             the most likely one",
        ),
        value(
            "task",
            "TASK",
            "the task, for example `transcribe` or `translate`",
        ),
        value(
            "features",
            "OUT",
            "write the features of the audio to this file, in the form that the model's C program reads",
        ),
    ];
    said.map(|arg| {
        let arg = arg.requires("audio");
        arg.conflicts_with_all(["tokens", "prompt", "chat", "embed", "pixels", "bench"])
    })
}

/// Returns the arguments of sampling and beam search.
fn draws() -> Vec<Arg> {
    let sampled = vec![
        value(
            "temperature",
            "T",
            "the sampling temperature; 0 takes the most likely token",
        )
        .default_value("0")
        .value_parser(at_least_zero),
        count(
            "top-k",
            "K",
            "sample from the K most likely tokens; 0 from all",
        )
        .default_value("0"),
        value(
            "top-p",
            "P",
            "sample from the most likely tokens with total probability P",
        )
        .default_value("1")
        .value_parser(probability),
        value(
            "min-p",
            "P",
            "sample from tokens at least P times as likely as the most likely one; 0 from all",
        )
        .default_value("0")
        .value_parser(at_most_one),
        value("seed", "SEED", "the seed of the sampler")
            .default_value("0")
            .value_parser(clap::value_parser!(u64)),
    ];
    let penalty = value(
        "repetition-penalty",
        "R",
        "divide the positive logits of tokens that have occurred by R, and multiply their negative logits by R",
    )
    .default_value("1")
    .value_parser(above_zero);
    let beams = value(
        "beams",
        "N",
        "find the most likely text by beam search with N beams, instead of sampling",
    )
    .value_parser(beams)
    .conflicts_with_all(["temperature", "top-k", "top-p", "min-p", "seed"])
    .conflicts_with_all(["chat", "logits", "bench"]);
    let sampled = sampled.into_iter().chain([penalty]);
    let sampled = sampled.map(|arg| arg.conflicts_with("bench"));
    sampled.chain([beams]).collect()
}

/// Returns the arguments of outputs besides tokens.
fn outputs() -> Vec<Arg> {
    vec![
        value(
            "logits",
            "OUT.npz",
            "write the logits of each generated token to this archive, as the rows of `logits`",
        )
        .conflicts_with_all(["chat", "bench"]),
        flag(
            "all-logits",
            "also write the logits of the other prompt tokens",
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

/// Limit on the number of beams, because each has a KV cache.
const MOST_BEAMS: usize = 1024;

fn beams(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(beams) if (1..=MOST_BEAMS).contains(&beams) => Ok(beams),
        _ => Err(format!("expected 1 to {MOST_BEAMS} sequences")),
    }
}
