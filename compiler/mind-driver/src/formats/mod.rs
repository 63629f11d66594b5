//! Table of the formats of all tools; names, detection, help texts and documentation derive from it.

#[cfg(feature = "irv2")]
mod document;
mod foreign;
mod output;
mod row;
mod table;
pub(crate) mod text;

#[cfg(feature = "irv2")]
pub use document::described;
pub use foreign::{FOREIGN, ForeignFile, Sign};
pub use output::{Output, OutputError, extension, is_temporary};
pub use row::{
    Binary, BinaryOptions, Carried, DataFile, FormatInfo, Linking, LoadOptions, Print, Read,
    ReadProgram, TextReader, Write, WriteBinary, WriteOptions,
};
pub use table::{FORMATS, detect};
pub use text::{Format, Formats};
