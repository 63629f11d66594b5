//! Decoder, encoder and encoder-decoder models that run.
//!
//! A [`Model`] compiles the parts of a layer once and binds them to the weights of every layer. A [`Session`] is one
//! sequence with its KV cache, so that each further token costs one decode step. [`Sampler`] picks the next token,
//! [`BeamSearch`] finds the most likely sequence. [`Text`] is the tokenizer, [`TextStream`] decodes tokens
//! incrementally, and [`ChatTemplate`] renders a conversation as a prompt. A session of an encoder-decoder runs the
//! encoder first. An [`Encoder`] returns one hidden state per token of a whole text, and a [`Pooling`] reduces them to
//! one vector.
//!
//! The rows of a pass influence each other only through the KV cache, sums follow the order of docs/numerics.md, and
//! unused rows of the cache are zeros under a mask. Therefore the logits of a sequence are the same, bit for bit,
//! however it is split into passes, on any instruction set and with any number of threads.

mod beam;
pub mod c;
mod cache;
mod chat;
mod checkpoint;
mod distance;
mod encoder;
mod error;
mod folder;
mod forced;
mod json_file;
mod language;
mod mixture;
mod model;
mod part;
mod pass;
mod pooling;
mod rotation;
mod sample;
mod sentence;
mod session;
mod sizes;
mod sound;
mod source;
mod speech;
mod stream;
mod strftime;
mod suppressed;
mod text;
mod text_files;
mod weights;

pub use beam::BeamSearch;
pub use chat::{ChatTemplate, Message, Speaker};
pub use checkpoint::{CheckpointWeights, MappedWeights};
pub use encoder::{Encoded, Encoder};
pub use error::ModelError;
pub use folder::{Files, FolderError, WeightsAt};
pub use forced::Forced;
pub use model::{Model, ModelOptions, Products, Runner};
pub use pooling::{Pooling, normalize};
pub use sample::{Sampler, Sampling, largest};
pub use sentence::{Embedding, most_tokens};
pub use session::Session;
pub use sound::{Sound, Spectrogram, SpectrogramError, WavError};
pub use speech::{Hearing, Speech};
pub use stream::TextStream;
pub use suppressed::Suppressed;
pub use text::{Text, TextError};
pub use text_files::TextFiles;
pub use weights::{Stored, WeightError, Weights};
