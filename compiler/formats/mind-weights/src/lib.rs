//! Weight files: safetensors and GGUF.
//!
//! [`WeightFile::parse`] validates the header of a file in memory, with allocations that are bounded by the size of the
//! file. Tensors are not copied. [`TensorView::decode_f32`] decodes the numbers of every [`WeightType`].

mod decode;
mod error;
mod file;
mod gguf;
mod index;
mod metadata;
mod places;
mod safetensors;
mod split;
mod tensor;
mod weight_type;

pub use decode::decode_blocks;
pub use error::{DecodeError, FileError};
pub use file::{Container, WeightFile};
pub use index::shards;
pub use metadata::MetaValue;
pub use split::part_names;
pub use tensor::{Permutation, StoredType, TensorInfo, TensorView};
pub use weight_type::WeightType;
