//! The bytes of a module: a file, standard input, or a Core ML package.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mind_ir::Bytes;

use crate::formats::{Beside, ForeignFile, Format, FormatInfo, LoadOptions, Read};
use crate::host::{Contents, FileSystem};

/// The bytes of a module.
pub struct Input {
    /// Its text; the model of a package.
    pub bytes: Bytes,
    /// How it is read.
    pub options: LoadOptions,
    /// The file whose folder holds the weights that the text names.
    pub path: String,
}

/// How the bytes of a file that is no text come into memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// They are read at once.
    Read,
    /// They are mapped. Nothing may change the file while the module is in use.
    Mapped,
}

/// The bytes of a mapped file, as an owner.
struct Mapped(Contents);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// What the system reports.
        source: io::Error,
    },
    /// A file of another program, or a folder of one.
    #[error("{}: this is {what}, not a module; {help}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its kind.
        what: &'static str,
        /// The command that takes it.
        help: String,
    },
    /// A package whose manifest names no model.
    #[error("{}: {source}", path.display())]
    Package {
        /// The package.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Reads the module at `path`; `-` is standard input. The file of a package that holds its program reads as the package.
///
/// # Errors
///
/// A file that cannot be read, a package whose manifest names no model.
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
        // Most of such a file are weights.
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
                beside: from.map_or(Vec::new(), |row| beside(files, row, path, &bytes)),
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

/// Checks that bytes are not those of another program's file.
///
/// # Errors
///
/// The kind of file that they are.
pub fn check_own(path: &str, bytes: &[u8]) -> Result<(), FileError> {
    let text = std::str::from_utf8(bytes).ok();
    // Core text takes any MLIR for its own.
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

/// Why `path` could not be read as a module: it is a folder, or larger than any text of a module, of which it may be known
/// what it is.
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

/// The files beside the one at `path` that hold parts of it, opened below its folder.
fn beside(files: &mut dyn FileSystem, row: &FormatInfo, path: &str, bytes: &[u8]) -> Vec<Beside> {
    let Some(Read::Binary(reader)) = row.read else {
        return Vec::new();
    };
    let folder = Path::new(path).parent().filter(|_| path != "-");
    let opened = (reader.files)(bytes).into_iter().map(|name| {
        let bytes = match folder {
            Some(folder) => files.map_below(folder, Path::new(&name)).map(Arc::from),
            None => Err(io::Error::from(io::ErrorKind::Unsupported)),
        };
        Beside {
            bytes: bytes.map_err(|why| why.to_string()),
            name,
        }
    });
    opened.collect()
}
