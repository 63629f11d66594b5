//! Files below a folder that somebody else packed: nothing outside of the folder is opened.

use std::io;
use std::path::Path;

use crate::host::names_below;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

/// Opens the regular file `below` the folder `root`. Symbolic links are followed as long as they stay inside.
///
/// # Errors
///
/// A path that leaves the folder, by its names or by a symbolic link; anything but a regular file; what the file
/// system reports.
pub(super) fn open(root: &Path, below: &Path) -> io::Result<std::fs::File> {
    names_below(below)?;
    let folder = Dir::open_ambient_dir(here(root), ambient_authority())?;
    // The file is checked by name first, since opening a device may have effects, and once it is open, since it may
    // have been exchanged.
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
        // Opening a pipe must not wait for its writer.
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

/// `error` in the user's words where a path was refused for leaving the folder.
fn explained(error: io::Error) -> io::Error {
    // Refused by `cap_std` itself, not by the system.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return leaves();
    }
    error
}

fn leaves() -> io::Error {
    let message = "a symbolic link leads out of the folder, and is not followed";
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
