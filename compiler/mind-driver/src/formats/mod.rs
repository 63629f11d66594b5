//! The formats that every tool knows: one table, from which words, detection, help and documents follow.

mod row;
mod table;
pub(crate) mod text;

pub use row::{Beside, FormatInfo, LoadOptions, Print, Read, ReadProgram, Write, WriteOptions};
pub use table::{FORMATS, described, detect};
pub use text::{Format, Formats};
