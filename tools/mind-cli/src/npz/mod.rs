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
use mind_interp::{ArrayType, ArrayTypes, Arrays};
use mind_ir::tensor::Tensor;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

pub use error::{NpyError, NpzError};

use crate::{DiagnosticFormat, REJECTED, report_one};

/// Allowance in bytes for everything in an archive besides elements.
const ARCHIVE_OVERHEAD: u64 = 64 << 20;

/// An archive of a file, whose errors are reported.
pub struct ArchiveFile<'p> {
    path: &'p str,
    archive: Archive<Vec<u8>>,
    limit: u64,
    form: DiagnosticFormat,
}

impl<'p> ArchiveFile<'p> {
    /// Opens the archive at `path`, of which at most `limit` bytes of elements are read.
    ///
    /// # Errors
    ///
    /// The exit code, after the reason was reported; see [`Archive::open`].
    pub fn open(
        path: &'p str,
        limit: u64,
        form: DiagnosticFormat,
        host: &mut dyn Host,
    ) -> Result<ArchiveFile<'p>, u8> {
        let bytes = host.read(Path::new(path), limit.saturating_add(ARCHIVE_OVERHEAD));
        let archive = bytes.map_err(NpzError::Read).and_then(Archive::open);
        match archive {
            Ok(archive) => Ok(ArchiveFile {
                path,
                archive,
                limit,
                form,
            }),
            Err(error) => Err(refuse(path, error.to_string(), form, host)),
        }
    }

    /// The types of all arrays by name.
    pub fn types(&self) -> &ArrayTypes {
        self.archive.types()
    }

    /// The wanted arrays by name.
    ///
    /// # Errors
    ///
    /// The exit code, after the reason was reported; see [`Archive::arrays`].
    pub fn arrays(
        &mut self,
        is_wanted: impl Fn(&str) -> bool,
        host: &mut dyn Host,
    ) -> Result<Arrays, u8> {
        let arrays = self.archive.arrays(self.limit, is_wanted);
        arrays.map_err(|error| refuse(self.path, error.to_string(), self.form, host))
    }
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

/// An archive of which the headers were read.
pub struct Archive<B> {
    zip: ZipArchive<Cursor<B>>,
    /// Names of arrays, in the order of the archive.
    names: Vec<String>,
    types: ArrayTypes,
}

impl<B: AsRef<[u8]>> Archive<B> {
    /// Reads the directory of an archive and the headers of its arrays.
    ///
    /// # Errors
    ///
    /// Broken archives and headers, dtypes without counterpart.
    pub fn open(bytes: B) -> Result<Archive<B>, NpzError> {
        let mut zip = ZipArchive::new(Cursor::new(bytes))?;
        if zip.has_duplicate_names() {
            return Err(NpzError::Repeated);
        }
        let (mut names, mut types) = (Vec::new(), ArrayTypes::new());
        for index in 0..zip.len() {
            let mut member = zip.by_index(index)?;
            let member_name = member.name()?.into_owned();
            let Some(name) = member_name.strip_suffix(".npy") else {
                return Err(NpzError::NotAnArray(member_name));
            };
            let header = npy::header(&mut member).map_err(in_array(name))?;
            let (dtype, shape) = (header.dtype, header.shape);
            types.insert(name.to_owned(), ArrayType { dtype, shape });
            names.push(name.to_owned());
        }
        Ok(Archive { zip, names, types })
    }

    /// Returns the types of all arrays by name.
    pub fn types(&self) -> &ArrayTypes {
        &self.types
    }

    /// Reads the wanted arrays by name, at most `limit` bytes of elements. Others are not unpacked.
    ///
    /// Memory is allocated for data that is present, not for sizes that headers claim.
    ///
    /// # Errors
    ///
    /// Broken archives and arrays, more than `limit` bytes.
    pub fn arrays(
        &mut self,
        limit: u64,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Arrays, NpzError> {
        let (mut arrays, mut left) = (Arrays::new(), limit);
        for (index, name) in self.names.iter().enumerate() {
            if !is_wanted(name) {
                continue;
            }
            let mut member = self.zip.by_index(index)?;
            let array = npy::read(&mut member, left).map_err(in_array(name))?;
            left -= (array.count() * array.dtype().size()) as u64;
            arrays.insert(name.to_owned(), array);
        }
        Ok(arrays)
    }
}

fn in_array(name: &str) -> impl Fn(NpyError) -> NpzError {
    move |error| NpzError::Array {
        name: name.to_owned(),
        error,
    }
}

/// Reads all arrays of an archive by name, at most `limit` bytes of elements.
///
/// # Errors
///
/// As [`Archive::open`] and [`Archive::arrays`].
pub fn read(archive: &[u8], limit: u64) -> Result<Arrays, NpzError> {
    Archive::open(archive)?.arrays(limit, |_| true)
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
