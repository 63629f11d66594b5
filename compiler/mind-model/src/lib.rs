//! Decoder models that run.
//!
//! A [`Model`] compiles the parts of a layer once and binds them to the weights of every layer. A [`Session`] is
//! one sequence: it keeps keys and values of the tokens it has seen, so that each further token costs one pass.
//! [`Sampler`] picks the next token, [`BeamSearch`] finds the most likely sequence. [`Text`] turns text into tokens,
//! [`TextStream`] tokens into text as they come, and [`ChatTemplate`] makes the prompt of a conversation.
//!
//! Rows of a pass do not see each other but through the cache, sums follow the order of docs/numerics.md, and
//! rows of the cache that hold nothing are zeros under a mask. So a sequence has the same logits, bit for bit,
//! however it is cut into passes, on any instruction set and with any number of threads.

mod beam;
pub mod c;
mod cache;
mod chat;
mod checkpoint;
mod error;
mod folder;
mod model;
mod part;
mod pass;
mod sample;
mod session;
mod sizes;
mod stream;
mod text;
mod text_files;
mod weights;

pub use beam::BeamSearch;
pub use chat::{ChatTemplate, Message, Speaker};
pub use checkpoint::{CheckpointWeights, MappedWeights};
pub use error::ModelError;
pub use folder::{Files, FolderError, WeightsAt};
pub use model::{Model, Runner};
pub use sample::{Sampler, Sampling, largest};
pub use session::Session;
pub use stream::TextStream;
pub use text::{Text, TextError};
pub use text_files::TextFiles;
pub use weights::{Stored, WeightError, Weights};
