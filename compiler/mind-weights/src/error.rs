//! What is wrong with weight files.

use mind_diag::Code;
use thiserror::Error;

use crate::weight_type::WeightType;

/// Why a weight file is refused. The name of the file stands outside.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FileError {
    /// The bytes begin like no weight file.
    #[error("the file is neither GGUF nor safetensors")]
    Unknown,
    /// The file ends too early.
    #[error("the file ends within {what}, at byte {at}")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where more bytes were needed.
        at: usize,
    },
    /// A header longer than is read.
    #[error("the header says that it has {found} bytes, more than the limit of {limit}")]
    HeaderLength {
        /// The length in the file.
        found: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The header of a safetensors file is no JSON.
    #[error("byte {at} of the header: {problem}")]
    Json {
        /// Its place in the header.
        at: usize,
        /// What is wrong.
        problem: String,
    },
    /// A part of the header that is not as the format says.
    #[error("{what} is {found}, expected {expected}")]
    Header {
        /// The part.
        what: String,
        /// What it is.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A repeated name.
    #[error("{what} {name:?} appears twice")]
    Twice {
        /// What the name is of.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A tensor whose place is not as its type and shape ask for.
    #[error("tensor {name:?}: {problem}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A part of a model that is not the one that it is read as.
    #[error(
        "`{key}` is {found}, expected {expected}: the parts of a model are `NAME-00001-of-00003.gguf` and so on"
    )]
    Part {
        /// The key of its header.
        key: &'static str,
        /// What it says.
        found: String,
        /// What it must say.
        expected: usize,
    },
    /// Bytes that belong to no tensor.
    #[error("bytes {start} to {end} of the data belong to no tensor")]
    Hole {
        /// The first such byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
}

impl FileError {
    /// The code of every error of a weight file.
    pub const CODE: Code = Code(4301);
}

/// Why a tensor cannot be decoded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// Another number of elements than there is room for.
    #[error("the tensor has {found} elements, the array has room for {room}")]
    Length {
        /// Elements of the tensor.
        found: usize,
        /// Elements of the array.
        room: usize,
    },
    /// Bytes that are not those of the type and shape.
    #[error("{found} bytes of {weight_type}, expected {expected}")]
    Bytes {
        /// The type.
        weight_type: WeightType,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
}
