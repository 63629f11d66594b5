//! Why archives and arrays are refused.

use mind_ir::types::{DType, MAX_RANK};
use thiserror::Error;
use zip::result::ZipError;

/// Why an archive cannot be read or written.
#[derive(Debug, Error)]
pub enum NpzError {
    /// It is not a zip archive, or a broken one.
    #[error("not an npz archive: {0}")]
    Archive(#[from] ZipError),
    /// A member is not named as arrays are.
    #[error("member `{0}` is not an array: its name does not end in `.npy`")]
    NotAnArray(String),
    /// Two members are for one array.
    #[error("the archive holds two arrays or more of one name")]
    Repeated,
    /// An array is broken.
    #[error("array `{name}`: {error}")]
    Array {
        /// The array's name.
        name: String,
        /// What is wrong with it.
        error: NpyError,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Read(std::io::Error),
    /// Writing failed.
    #[error("the archive cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

/// Why an array cannot be read.
#[derive(Debug, Error)]
pub enum NpyError {
    /// It does not start as arrays do.
    #[error("not an .npy array")]
    Magic,
    /// It is of a later version of the format.
    #[error("version {0}.{1} of the format is not supported")]
    Version(u8, u8),
    /// It ends inside its header.
    #[error("the header is cut off")]
    Truncated,
    /// The header does not say what it must.
    #[error("malformed header: {0}")]
    Header(String),
    /// The elements are of a type that tensors do not have.
    #[error("dtype {0} has no counterpart")]
    DType(String),
    /// There are too many dimensions.
    #[error("rank {0} is above {MAX_RANK}")]
    Rank(usize),
    /// It would take more memory than is allowed.
    #[error("shape {shape:?} of {dtype} needs more than the {left} bytes left of the memory limit")]
    TooLarge {
        /// Extents.
        shape: Vec<usize>,
        /// Element type.
        dtype: DType,
        /// The bytes left.
        left: u64,
    },
    /// There are more or fewer elements than the shape holds.
    #[error("shape {shape:?} of {dtype} needs {expected} bytes, found {found}")]
    Size {
        /// Extents.
        shape: Vec<usize>,
        /// Element type.
        dtype: DType,
        /// The bytes that the shape needs.
        expected: u64,
        /// The bytes there are; one more than needed stands for any number above.
        found: u64,
    },
    /// Decompression failed.
    #[error("{0}")]
    Read(#[from] std::io::Error),
}
