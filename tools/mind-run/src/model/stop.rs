//! Why a run of a model stopped.

use std::io;

use mind_diag::SourceFile;
use mind_driver::host::Host;
use mind_model::{FolderError, ModelError, SpectrogramError, TextError, WavError};

use super::args::ModelArgs;

/// Why a run of a model stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    /// It was reported where it was found.
    #[error("reported before")]
    Reported,
    #[error(transparent)]
    Files(#[from] FolderError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Text(#[from] TextError),
    /// A text where there is no tokenizer.
    #[error("{model}: there is no tokenizer.json for {what}")]
    NoTokenizer { model: String, what: &'static str },
    /// Options that do not go together where a decoder runs.
    #[error("{0}")]
    Usage(&'static str),
    /// An option that models of the family have no use for.
    #[error(
        "models of {family} are {models}s: {}, `--{option}` is for {}",
        if *is_encoder { "`--embed` and `--tokens` make vectors" } else { "`--prompt` and `--tokens` draw what follows" },
        if *is_encoder { "decoders" } else { "encoders" }
    )]
    Unused {
        option: &'static str,
        family: &'static str,
        models: &'static str,
        is_encoder: bool,
    },
    /// A text beyond the positions of an encoder.
    #[error("text {text} has {tokens} tokens, more than the model's context of {context}")]
    Long {
        text: usize,
        tokens: usize,
        context: usize,
    },
    /// A pooling that the model lacks the weights for.
    #[error("{model}: the model has no pooler; `--pooling` may be mean or cls")]
    NoPooler { model: String },
    /// An archive without an array of images.
    #[error("{name}: there is no array `pixel_values`, but {}", if found.is_empty() { "none" } else { found })]
    NoPixels { name: String, found: String },
    /// An array that is none of images that the model reads.
    #[error(
        "{name}: `pixel_values` is {found}, expected f32{expected:?}, or several of them along a first axis"
    )]
    Pixels {
        name: String,
        found: String,
        expected: [usize; 3],
    },
    /// A file that holds no sound.
    #[error("{name}: {why}")]
    Wav { name: String, why: WavError },
    /// Sound that the model does not hear.
    #[error("{name}: {why}")]
    Sound { name: String, why: SpectrogramError },
    /// A conversation beyond the cache.
    #[error(
        "the conversation has {needed} tokens, the cache has room for {capacity}; `--capacity` makes it larger"
    )]
    Full { needed: usize, capacity: usize },
    /// A file, or standard input.
    #[error("{name}: {why}")]
    Stream { name: String, why: io::Error },
    /// Arrays that make no archive.
    #[error("{name}: {why}")]
    Archive { name: String, why: String },
}

impl Stop {
    /// Tells the user; `config` is the text that describes the model.
    pub(super) fn report(self, args: &ModelArgs, config: &SourceFile, host: &mut dyn Host) {
        match self {
            Stop::Reported => {}
            Stop::Files(why) => match why.diagnostics() {
                Ok((found, file)) => {
                    mind_cli::report(host, &found, file.as_ref().unwrap_or(config), args.form);
                }
                Err(why) => mind_cli::fail(host, &why),
            },
            Stop::Model(_)
            | Stop::Text(_)
            | Stop::NoTokenizer { .. }
            | Stop::Usage(_)
            | Stop::Unused { .. }
            | Stop::Long { .. }
            | Stop::NoPooler { .. }
            | Stop::NoPixels { .. }
            | Stop::Pixels { .. }
            | Stop::Wav { .. }
            | Stop::Sound { .. }
            | Stop::Full { .. }
            | Stop::Stream { .. }
            | Stop::Archive { .. } => mind_cli::fail(host, &self),
        }
    }
}
