//! What stands in the place of `below` where the feature of that name is off: no format that is read names files.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens nothing.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`], always.
pub(super) fn open(_: &Path, _: &Path) -> io::Result<File> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
