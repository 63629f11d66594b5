//! Errors of archives and arrays.

use mind_ir::types::{DType, MAX_RANK};
use thiserror::Error;
use zip::result::ZipError;

/// Error of reading or writing an archive.
#[derive(Debug, Error)]
pub enum NpzError {
    /// It is not a valid zip archive.
    #[error("not an npz archive: {0}")]
    Archive(#[from] ZipError),
    /// The name of a member does not end in `.npy`.
    #[error("member `{0}` is not an array: its name does not end in `.npy`")]
    NotAnArray(String),
    /// Two members have the same name.
    #[error("the archive holds two arrays or more of one name")]
    Repeated,
    /// An array is invalid.
    #[error("array `{name}`: {error}")]
    Array {
        /// The name of the array.
        name: String,
        /// The error.
        error: NpyError,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Read(std::io::Error),
    /// Writing failed.
    #[error("the archive cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

/// Error of reading an array.
#[derive(Debug, Error)]
pub enum NpyError {
    /// The magic number is missing.
    #[error("not an .npy array")]
    Magic,
    /// The version of the format is not supported.
    #[error("version {0}.{1} of the format is not supported")]
    Version(u8, u8),
    /// The array ends within its header.
    #[error("the header is cut off")]
    Truncated,
    /// The header is invalid.
    #[error("malformed header: {0}")]
    Header(String),
    /// Tensors do not support the dtype.
    #[error("dtype {0} is not supported")]
    DType(String),
    /// There are too many dimensions.
    #[error("rank {0} is above {MAX_RANK}")]
    Rank(usize),
    /// The array exceeds the memory limit.
    #[error("shape {shape:?} of {dtype} needs more than the {left} bytes left of the memory limit")]
    TooLarge {
        /// Extents.
        shape: Vec<usize>,
        /// Element type.
        dtype: DType,
        /// The bytes left.
        left: u64,
    },
    /// The number of elements does not match the shape.
    #[error("shape {shape:?} of {dtype} needs {expected} bytes, found {found}")]
    Size {
        /// Extents.
        shape: Vec<usize>,
        /// Element type.
        dtype: DType,
        /// The bytes that the shape needs.
        expected: u64,
        /// The bytes found, of which at most one more than needed is read.
        found: u64,
    },
    /// Decompression failed.
    #[error("{0}")]
    Read(#[from] std::io::Error),
}
