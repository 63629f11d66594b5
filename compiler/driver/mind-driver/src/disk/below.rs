//! Files of untrusted packages: paths that leave the package's folder are refused.

use std::io;
use std::path::Path;

use crate::host::names_below;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

/// Opens the regular file `below` in the folder `root`. Symbolic links are followed only within the folder.
///
/// # Errors
///
/// Errors if the path leaves the folder, through `..` or a symbolic link, if it is not a regular file, or if the file
/// system reports an error.
pub(super) fn open(root: &Path, below: &Path) -> io::Result<std::fs::File> {
    names_below(below)?;
    let folder = Dir::open_ambient_dir(here(root), ambient_authority())?;
    // The type is checked before opening, because opening a device may have side effects, and after opening, because
    // the file may have been replaced in between.
    regular(&folder.metadata(below).map_err(explained)?)?;
    let file = folder.open_with(below, &reading()).map_err(explained)?;
    regular(&file.metadata()?)?;
    Ok(file.into_std())
}

fn here(root: &Path) -> &Path {
    if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    }
}

fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        // Opening a pipe must not block until it has a writer.
        options.custom_flags(libc::O_NONBLOCK);
    }
    options
}

fn regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        Ok(())
    } else if found.is_dir() {
        Err(io::Error::from(io::ErrorKind::IsADirectory))
    } else {
        let message = "not a regular file; links, pipes and devices are not opened here";
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

/// Replaces the error for a path that leaves the folder by one that explains it.
fn explained(error: io::Error) -> io::Error {
    // An error without an OS code comes from `cap_std`.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return leaves();
    }
    error
}

fn leaves() -> io::Error {
    let message = "a symbolic link leads out of the folder, and is not followed";
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
