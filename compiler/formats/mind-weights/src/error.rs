//! Errors of weight files.

use mind_diag::Code;
use thiserror::Error;

use crate::weight_type::WeightType;

/// The reason why a weight file is rejected. The name of the file is kept elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FileError {
    /// The file is neither GGUF nor safetensors.
    #[error("the file is neither GGUF nor safetensors")]
    Unknown,
    /// The file ends too early.
    #[error("the file ends within {what}, at byte {at}")]
    Truncated {
        /// The part of the file that is incomplete.
        what: &'static str,
        /// The offset of the first missing byte.
        at: usize,
    },
    /// The header exceeds the size limit.
    #[error("the header length is {found} bytes, expected at most {limit}")]
    HeaderLength {
        /// The header size in the file, in bytes.
        found: u64,
        /// The size limit in bytes.
        limit: u64,
    },
    /// The header of a safetensors file is not valid JSON.
    #[error("byte {at} of the header: {problem}")]
    Json {
        /// The offset in the header.
        at: usize,
        /// The problem.
        problem: String,
    },
    /// A part of the header is invalid.
    #[error("{what} is {found}, expected {expected}")]
    Header {
        /// The part.
        what: String,
        /// The value that was found.
        found: String,
        /// The valid values.
        expected: &'static str,
    },
    /// A name occurs twice.
    #[error("{what} {name:?} appears twice")]
    Twice {
        /// The kind of the named item.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The byte range of a tensor is inconsistent with its type and shape, or with the file.
    #[error("tensor {name:?}: {problem}")]
    Tensor {
        /// The tensor.
        name: String,
        /// The problem.
        problem: String,
    },
    /// A shard is not the expected one of its model.
    #[error(
        "`{key}` is {found}, expected {expected}: the shards of a model are called `NAME-00001-of-00003.gguf` and so on"
    )]
    Part {
        /// The key in its header.
        key: &'static str,
        /// The value of the key.
        found: String,
        /// The expected value.
        expected: usize,
    },
    /// Bytes of the data that do not belong to any tensor.
    #[error("bytes {start} to {end} of the data do not belong to a tensor")]
    Hole {
        /// The first of these bytes.
        start: usize,
        /// The byte after the last one.
        end: usize,
    },
}

impl FileError {
    /// The code of all errors of weight files.
    pub const CODE: Code = Code(4301);
}

/// The reason why a tensor cannot be decoded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// The number of elements differs from the size of the output.
    #[error("the tensor has {found} elements, the array has room for {room}")]
    Length {
        /// Elements of the tensor.
        found: usize,
        /// Elements of the array.
        room: usize,
    },
    /// The number of bytes does not fit the type and the shape.
    #[error("{found} bytes of {weight_type}, expected {expected}")]
    Bytes {
        /// The type.
        weight_type: WeightType,
        /// The number of bytes.
        found: usize,
        /// The expected number of bytes.
        expected: usize,
    },
}
