//! The formats that every tool knows: one table, from which words, detection, help and documents follow.

mod row;
mod table;
pub(crate) mod text;

pub use row::{
    Beside, Binary, BinaryOptions, FormatInfo, LoadOptions, Print, Read, ReadProgram, Write,
    WriteBinary, WriteOptions,
};
pub use table::{FORMATS, described, detect};
pub use text::{Format, Formats};
