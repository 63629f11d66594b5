//! Why a model does not run.

use mind_diag::Diagnostics;
use mind_irv2::graph::BuildError;
use mind_jit::program::RunError;

use crate::weights::WeightError;

/// Why a model could not be made, or a pass of one stopped.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The model has extents that no op takes.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A part could not be compiled.
    #[error("{}", messages(.0))]
    Compile(Diagnostics),
    /// A part stopped, or there is no memory for it.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A part stopped in the interpreter.
    #[error("{0}")]
    Interpreted(String),
    /// A weight is not as the model needs it.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// A weight cannot be decoded.
    #[error(transparent)]
    Decode(#[from] mind_weights::DecodeError),
    /// A token id outside of the vocabulary.
    #[error("token {token} is outside of the vocabulary, which ends at {last}", last = vocab_size - 1)]
    Token {
        /// The id.
        token: u32,
        /// Token ids, from 0.
        vocab_size: usize,
    },
    /// A kind of tokens that the model does not have.
    #[error("{kind} is no kind of tokens, which are below {kinds}")]
    Kind {
        /// The kind.
        kind: u32,
        /// Kinds, from 0.
        kinds: usize,
    },
    /// As many kinds as there are tokens are needed.
    #[error("{kinds} kinds of tokens for {tokens} tokens")]
    Kinds {
        /// How many kinds there are.
        kinds: usize,
        /// How many tokens there are.
        tokens: usize,
    },
    /// An encoder where a decoder is needed.
    #[error("models of {family} are encoders, which draw no tokens")]
    Encoder {
        /// The family.
        family: &'static str,
    },
    /// A decoder where an encoder is needed.
    #[error("models of {family} are decoders, which make no vectors of texts")]
    Decoder {
        /// The family.
        family: &'static str,
    },
    /// A model that reads no text first.
    #[error("models of {family} are no encoder-decoders, which read a text first")]
    NoSource {
        /// The family.
        family: &'static str,
    },
    /// An encoder-decoder without a text.
    #[error("models of {family} are encoder-decoders, which need a text to read first")]
    NeedsSource {
        /// The family.
        family: &'static str,
    },
    /// More tokens than an encoder has positions.
    #[error("{tokens} tokens are more than the model's context of {context}")]
    Long {
        /// How many there are.
        tokens: usize,
        /// The most that it takes.
        context: usize,
    },
    /// More tokens than the cache has rows for.
    #[error("{needed} tokens do not fit: the cache has room for {capacity}")]
    Capacity {
        /// Tokens seen and to come.
        needed: usize,
        /// The most that fit.
        capacity: usize,
    },
    /// A capacity beyond the positions that the model knows.
    #[error("a cache for {capacity} tokens is more than the model's context of {context}")]
    Context {
        /// What was asked for.
        capacity: usize,
        /// The model's context window.
        context: usize,
    },
    /// Tokens where the model reads an image.
    #[error("models of {family} read images, not tokens")]
    ReadsImages {
        /// The family.
        family: &'static str,
    },
    /// An image where the model reads tokens.
    #[error("models of {family} read tokens, not images")]
    ReadsTokens {
        /// The family.
        family: &'static str,
    },
    /// An image of another size.
    #[error(
        "an image has {found} numbers, expected {expected}: {channels} channels of {size} rows of {size} pixels",
        expected = channels * size * size
    )]
    Pixels {
        /// How many numbers it has.
        found: usize,
        /// The numbers of a pixel.
        channels: usize,
        /// Rows and columns of pixels.
        size: usize,
    },
    /// Tokens where the model reads sound.
    #[error("models of {family} read sound, not tokens")]
    ReadsAudio {
        /// The family.
        family: &'static str,
    },
    /// Sound where the model reads something else.
    #[error("models of {family} read no sound")]
    ReadsNoAudio {
        /// The family.
        family: &'static str,
    },
    /// Features of another number of frames.
    #[error(
        "there are {found} features, expected {expected}: {mel_bins} of {frames} frames each",
        expected = mel_bins * frames
    )]
    Features {
        /// How many there are.
        found: usize,
        /// Features of a frame.
        mel_bins: usize,
        /// Frames.
        frames: usize,
    },
    /// No token at all.
    #[error("there is no token to start from")]
    Empty,
    /// The system gives no memory for the cache.
    #[error("the cache needs {bytes} bytes, which could not be had; a smaller capacity needs less")]
    OutOfMemory {
        /// How many were asked for.
        bytes: u64,
    },
}

fn messages(found: &Diagnostics) -> String {
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    messages.join("; ")
}
