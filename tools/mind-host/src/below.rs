//! Files below a folder that somebody else packed: nothing outside of the folder is opened.

use std::io::{self, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use mind_driver::host::names_below;

/// Opens the regular file `below` the folder `root`. Symbolic links are followed as long as they stay inside.
///
/// # Errors
///
/// A path that leaves the folder, by its names or by a symbolic link; anything but a regular file; what the file
/// system reports.
pub(crate) fn open(root: &Path, below: &Path) -> io::Result<std::fs::File> {
    names_below(below)?;
    let folder = Dir::open_ambient_dir(here(root), ambient_authority())?;
    // The file is checked by name first, since opening a device may have effects, and once it is open, since it may
    // have been exchanged.
    regular(&folder.metadata(below).map_err(explained)?)?;
    let file = folder.open_with(below, &reading()).map_err(explained)?;
    regular(&file.metadata()?)?;
    Ok(file.into_std())
}

/// Replaces the file `below` the folder `root` as a whole, and creates the folders on the way.
///
/// # Errors
///
/// A path that leaves the folder; anything but a regular file in the file's place; what the file system reports.
pub(crate) fn write(root: &Path, below: &Path, bytes: &[u8]) -> io::Result<()> {
    names_below(below)?;
    let root = here(root);
    Dir::create_ambient_dir_all(root, ambient_authority())?;
    let folder = Dir::open_ambient_dir(root, ambient_authority())?;
    if let Some(parent) = below.parent() {
        folder
            .create_dir_all(parent)
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    let message =
                        "a link or a file is in the place of a folder, and is not followed";
                    io::Error::new(io::ErrorKind::NotADirectory, message)
                }
                _ => explained(error),
            })?;
    }
    match folder.symlink_metadata(below) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        existing => regular(&existing.map_err(explained)?)?,
    }
    let partial = super::partial_name(below);
    let written = create(&folder, &partial)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| folder.rename(&partial, &folder, below));
    if written.is_err() {
        // Best effort: the error that matters is the one already in hand.
        let _ = folder.remove_file(&partial);
    }
    written
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

/// Creates a file that nobody else has open; one that an earlier process with this number left is removed.
fn create(folder: &Dir, path: &Path) -> io::Result<File> {
    match folder.remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    folder.open_with(path, OpenOptions::new().write(true).create_new(true))
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
