//! Decoder, encoder and encoder-decoder models that run.
//!
//! A [`Model`] compiles the parts of a layer once and binds them to the weights of every layer. A [`Session`] is
//! one sequence: it keeps keys and values of the tokens it has seen, so that each further token costs one pass.
//! [`Sampler`] picks the next token, [`BeamSearch`] finds the most likely sequence. [`Text`] turns text into tokens,
//! [`TextStream`] tokens into text as they come, and [`ChatTemplate`] makes the prompt of a conversation.
//! A session of an encoder-decoder reads a text first. An [`Encoder`] makes vectors of whole texts with the same parts, and a [`Pooling`] one vector of them.
//!
//! Rows of a pass do not see each other but through the cache, sums follow the order of docs/numerics.md, and
//! rows of the cache that hold nothing are zeros under a mask. So a sequence has the same logits, bit for bit,
//! however it is cut into passes, on any instruction set and with any number of threads.

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
