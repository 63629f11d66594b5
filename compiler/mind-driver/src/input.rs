//! Reads the bytes of a module from a file, standard input or a Core ML package.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mind_ir::Bytes;

use crate::formats::{DataFile, ForeignFile, Format, FormatInfo, LoadOptions, Read};
use crate::host::{Contents, FileSystem};

/// The bytes of a module and how to parse them.
pub struct Input {
    /// The contents of the file; the model's file of a package.
    pub bytes: Bytes,
    /// The options to parse them with.
    pub options: LoadOptions,
    /// The path of the file; weight files are relative to its folder.
    pub path: String,
}

/// How binary files are brought into memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// They are read completely.
    Read,
    /// They are memory-mapped. The file must not be modified while the module is in use.
    Mapped,
}

/// A mapped file as an owner of [`Bytes`].
struct Mapped(Contents);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Error of reading or writing a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system reported an error.
    #[error("{}: {source}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file or folder belongs to another program.
    #[error("{}: this is {what}, not a module; {help}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// Its kind.
        what: &'static str,
        /// How to use it.
        help: String,
    },
    /// The manifest of a package does not name a model.
    #[error("{}: {source}", path.display())]
    Package {
        /// The package.
        path: PathBuf,
        /// The error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Reads the module at `path`; `-` is standard input. The program's file of a package can be read without its package.
///
/// # Errors
///
/// Errors if a file cannot be read, if it belongs to another program, or if the manifest of a package does not name a
/// model.
pub fn read(
    files: &mut dyn FileSystem,
    path: &str,
    options: &LoadOptions,
    access: Access,
) -> Result<Input, FileError> {
    let unread = |path: &Path, source: io::Error| FileError::System {
        path: path.to_owned(),
        source,
    };
    let format = options.from.or_else(|| FormatInfo::of_path(path));
    let read = format.and_then(|row| row.read);
    let limit = match read.or_else(|| FormatInfo::named_by(path)?.read) {
        // These files consist mostly of weights.
        Some(Read::Binary(_) | Read::Import(_)) => u64::MAX,
        Some(Read::Module(_) | Read::Document(_) | Read::Package(_) | Read::Model) | None => {
            options.limits.bytes
        }
    };
    if let Some(row) = FormatInfo::of_program(path).filter(|_| options.from.is_none()) {
        let bytes = files.read(Path::new(path), limit);
        return Ok(Input {
            bytes: bytes.map_err(|why| unread(Path::new(path), why))?.into(),
            options: LoadOptions {
                from: Some(row),
                ..options.clone()
            },
            path: path.to_owned(),
        });
    }
    let Some(Read::Package(reader)) = read else {
        let is_mapped = access == Access::Mapped && matches!(read, Some(Read::Binary(_)));
        let bytes = match path {
            "-" => files.read_stdin(limit).map(Bytes::from),
            path if is_mapped => {
                let contents = files.map(Path::new(path));
                contents.map(|contents| Bytes::from_owner(Mapped(contents)))
            }
            path => files.read(Path::new(path), limit).map(Bytes::from),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(why) => return Err(refused(files, path, why)),
        };
        if options.from.is_none() {
            check_own(path, &bytes)?;
        }
        let named = format.filter(|row| matches!(row.read, Some(Read::Binary(_))));
        let given = named.or(options.from);
        let from = given.or_else(|| FormatInfo::of_bytes(&bytes));
        return Ok(Input {
            options: LoadOptions {
                data_files: from.map_or(Vec::new(), |row| data_files(files, row, path, &bytes)),
                from,
                ..options.clone()
            },
            bytes,
            path: path.to_owned(),
        });
    };
    let package = Path::new(path);
    let mut below = |name: &str| {
        let bytes = files.read_below(package, Path::new(name), limit);
        bytes.map_err(|why| unread(&package.join(name), why))
    };
    let manifest = below("Manifest.json")?;
    let model = (reader.program_path)(&manifest).map_err(|source| FileError::Package {
        path: package.to_owned(),
        source,
    })?;
    Ok(Input {
        bytes: below(&model)?.into(),
        options: LoadOptions {
            from: format,
            ..options.clone()
        },
        path: package.join(model).to_string_lossy().into_owned(),
    })
}

/// Checks that bytes are not in the format of another program.
///
/// # Errors
///
/// Errors with the kind of file.
pub fn check_own(path: &str, bytes: &[u8]) -> Result<(), FileError> {
    let text = std::str::from_utf8(bytes).ok();
    // The test for Core text accepts all MLIR.
    let is_told = |row: &FormatInfo| row.text() != Some(Format::Core);
    if text.and_then(FormatInfo::of_text).is_some_and(is_told) {
        return Ok(());
    }
    match ForeignFile::of(path, bytes) {
        Some(found) => Err(foreign(path, found)),
        None => Ok(()),
    }
}

fn foreign(path: &str, found: &ForeignFile) -> FileError {
    FileError::Foreign {
        path: path.into(),
        what: found.what,
        help: found.help(path),
    }
}

/// Returns the error for an unreadable `path`. A folder, or a file larger than the limit, is searched for the signs of
/// other programs first, because the error can then name its kind.
fn refused(files: &mut dyn FileSystem, path: &str, source: io::Error) -> FileError {
    let file = Path::new(path);
    let found = match source.kind() {
        io::ErrorKind::IsADirectory => ForeignFile::of_folder(files, file),
        io::ErrorKind::FileTooLarge if path != "-" => {
            let contents = files.map(file).ok();
            contents.and_then(|contents| ForeignFile::of(path, &contents))
        }
        _ => None,
    };
    match found {
        Some(found) => foreign(path, found),
        None => FileError::System {
            path: file.to_owned(),
            source,
        },
    }
}

/// Opens the external data files of the file at `path`, within its folder.
fn data_files(
    files: &mut dyn FileSystem,
    row: &FormatInfo,
    path: &str,
    bytes: &[u8],
) -> Vec<DataFile> {
    let Some(Read::Binary(reader)) = row.read else {
        return Vec::new();
    };
    let folder = Path::new(path).parent().filter(|_| path != "-");
    let opened = (reader.files)(bytes).into_iter().map(|name| {
        let bytes = match folder {
            Some(folder) => files.map_below(folder, Path::new(&name)).map(Arc::from),
            None => Err(io::Error::from(io::ErrorKind::Unsupported)),
        };
        DataFile {
            bytes: bytes.map_err(|why| why.to_string()),
            name,
        }
    });
    opened.collect()
}
