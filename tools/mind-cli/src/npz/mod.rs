//! Arrays in NumPy's `.npz` archives.
//!
//! Dtypes map to the NumPy dtypes of the same name. `bf16` has no counterpart: it is written as `uint16`, bit for bit,
//! and read from `uint16` or from the two-byte void dtype that other tools write.
//! Source: NumPy's "A simple file format for NumPy arrays", versions 1.0 to 3.0.

mod error;
mod header;
mod npy;

use std::io::{Cursor, Write};
use std::path::Path;

use mind_diag::{Diagnostic, SourceFile, Span};
use mind_driver::host::Host;
use mind_interp::Arrays;
use mind_ir::tensor::Tensor;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

pub use error::{NpyError, NpzError};

use crate::{DiagnosticFormat, REJECTED, report_one};

/// Allowance in bytes for everything in an archive besides elements.
const ARCHIVE_OVERHEAD: u64 = 64 << 20;

/// Reads the arrays of the archive at `path`, at most `limit` bytes of elements.
///
/// # Errors
///
/// Returns the exit code after reporting the error; see [`read`].
pub fn read_file(
    path: &str,
    limit: u64,
    form: DiagnosticFormat,
    host: &mut dyn Host,
) -> Result<Arrays, u8> {
    let bytes = host.read(Path::new(path), limit.saturating_add(ARCHIVE_OVERHEAD));
    let reason = match bytes {
        Ok(bytes) => match read(&bytes, limit) {
            Ok(arrays) => return Ok(arrays),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    Err(refuse(path, reason, form, host))
}

/// Reports the error of an archive and returns the exit code.
pub(crate) fn refuse(
    path: &str,
    reason: String,
    form: DiagnosticFormat,
    host: &mut dyn Host,
) -> u8 {
    let file = SourceFile::new(path, "");
    report_one(host, Diagnostic::error(Span::FILE, reason), &file, form);
    REJECTED
}

/// Reads the arrays of an archive by name, at most `limit` bytes of elements.
///
/// Memory is allocated for data that is present, not for sizes that headers claim.
///
/// # Errors
///
/// Errors if the archive or an array is invalid, if a dtype is not supported, or if there are more than `limit` bytes.
pub fn read(archive: &[u8], limit: u64) -> Result<Arrays, NpzError> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    if archive.has_duplicate_names() {
        return Err(NpzError::Repeated);
    }
    let (mut arrays, mut left) = (Arrays::new(), limit);
    for index in 0..archive.len() {
        let mut member = archive.by_index(index)?;
        let member_name = member.name()?.into_owned();
        let Some(name) = member_name.strip_suffix(".npy") else {
            return Err(NpzError::NotAnArray(member_name));
        };
        let array = npy::read(&mut member, left).map_err(|error| NpzError::Array {
            name: name.to_owned(),
            error,
        })?;
        left -= (array.count() * array.dtype().size()) as u64;
        arrays.insert(name.to_owned(), array);
    }
    Ok(arrays)
}

/// Writes an uncompressed archive of `arrays` in their order. The output is deterministic.
///
/// # Errors
///
/// Errors if two arrays have the same name.
pub fn write<'a>(
    arrays: impl IntoIterator<Item = (String, &'a Tensor)>,
) -> Result<Vec<u8>, NpzError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let bytes = npy::write(array);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(bytes.len() as u64 >= u64::from(u32::MAX));
        archive.start_file(format!("{name}.npy"), options)?;
        archive.write_all(&bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}
