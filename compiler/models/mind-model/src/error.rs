//! Errors of models.

use mind_diag::Diagnostics;
use mind_irv2::graph::BuildError;
use mind_jit::program::RunError;

use crate::weights::WeightError;

/// Why a model cannot be compiled, or why a pass failed.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The model has extents that no op supports.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A part could not be compiled.
    #[error("{}", messages(.0))]
    Compile(Diagnostics),
    /// A part failed, or its memory could not be allocated.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A part failed in the interpreter.
    #[error("{0}")]
    Interpreted(String),
    /// A weight is missing or not of the form that the model needs.
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
        /// The vocabulary size.
        vocab_size: usize,
    },
    /// A token type that the model does not have.
    #[error("unknown token type {kind}: expected a number below {kinds}")]
    Kind {
        /// The token type.
        kind: u32,
        /// The number of token types.
        kinds: usize,
    },
    /// The numbers of token types and of tokens differ.
    #[error("found {kinds} token types for {tokens} tokens, expected one per token")]
    Kinds {
        /// The number of token types.
        kinds: usize,
        /// The number of tokens.
        tokens: usize,
    },
    /// An encoder was passed where a decoder is needed.
    #[error("models of {family} are encoders, which do not generate tokens")]
    Encoder {
        /// The family.
        family: &'static str,
    },
    /// A decoder was passed where an encoder is needed.
    #[error("models of {family} are decoders, which do not encode texts")]
    Decoder {
        /// The family.
        family: &'static str,
    },
    /// The model is not an encoder-decoder.
    #[error("models of {family} are not encoder-decoders: they have no encoder to read a text")]
    NoSource {
        /// The family.
        family: &'static str,
    },
    /// An encoder-decoder was used without an encoder input.
    #[error("models of {family} are encoder-decoders, whose encoder needs a text")]
    NeedsSource {
        /// The family.
        family: &'static str,
    },
    /// More tokens than an encoder has positions.
    #[error("{tokens} tokens exceed the model's context of {context}")]
    Long {
        /// The number of tokens.
        tokens: usize,
        /// The maximal number of tokens.
        context: usize,
    },
    /// More tokens than the cache has room for.
    #[error("{needed} tokens do not fit: the cache has room for {capacity}")]
    Capacity {
        /// Tokens in the cache plus new tokens.
        needed: usize,
        /// The maximal number of tokens.
        capacity: usize,
    },
    /// The capacity exceeds the model's context window.
    #[error("a cache for {capacity} tokens exceeds the model's context of {context}")]
    Context {
        /// The requested capacity.
        capacity: usize,
        /// The model's context window.
        context: usize,
    },
    /// Tokens were passed to a model that reads images.
    #[error("models of {family} read images, not tokens")]
    ReadsImages {
        /// The family.
        family: &'static str,
    },
    /// An image was passed to a model that reads tokens.
    #[error("models of {family} read tokens, not images")]
    ReadsTokens {
        /// The family.
        family: &'static str,
    },
    /// The image has another size than the model reads.
    #[error(
        "an image has {found} numbers, expected {expected}: {channels} channels of {size} rows of {size} pixels",
        expected = channels * size * size
    )]
    Pixels {
        /// The number of elements of the image.
        found: usize,
        /// The number of channels.
        channels: usize,
        /// Rows and columns of the image.
        size: usize,
    },
    /// Tokens were passed to a model that reads audio.
    #[error("models of {family} read audio, not tokens")]
    ReadsAudio {
        /// The family.
        family: &'static str,
    },
    /// Audio was passed to a model that does not read it.
    #[error("models of {family} do not read audio")]
    ReadsNoAudio {
        /// The family.
        family: &'static str,
    },
    /// The number of features is not the one the model reads.
    #[error(
        "found {found} features, expected {expected}: {mel_bins} for each of {frames} frames",
        expected = mel_bins * frames
    )]
    Features {
        /// The number of features.
        found: usize,
        /// Features per frame.
        mel_bins: usize,
        /// Frames.
        frames: usize,
    },
    /// No tokens.
    #[error("no tokens: expected at least one")]
    Empty,
    /// The KV cache could not be allocated.
    #[error("out of memory: the cache needs {bytes} bytes; choose a smaller capacity")]
    OutOfMemory {
        /// The requested size.
        bytes: u64,
    },
}

fn messages(found: &Diagnostics) -> String {
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    messages.join("; ")
}
