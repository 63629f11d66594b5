//! Files below a folder that somebody else packed: nothing outside of it is opened.
//!
//! Names are resolved one at a time, each relative to the folder before it, and no symbolic link is followed on the
//! way, so that nothing that changes meanwhile leads out.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;

use mind_driver::host::names_below;

#[cfg(unix)]
use posix as at;

/// Opens the regular file `below` the folder `root`. A symbolic link that stays inside of it is followed.
///
/// # Errors
///
/// A path that leaves the folder, by its names or by a symbolic link; anything but a regular file; what the file
/// system reports.
pub(crate) fn open(root: &Path, below: &Path) -> io::Result<File> {
    names_below(below)?;
    let root = here(root).canonicalize()?;
    let path = root.join(below).canonicalize()?;
    let inside = path.strip_prefix(&root).map_err(|_| leaves())?;
    regular(&fs::symlink_metadata(&path)?)?;
    let (folder, name) = at::folder(&root, inside, false)?;
    let file = at::open(&folder, name)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Replaces the file `below` the folder `root` as a whole, and creates the folders on the way.
///
/// # Errors
///
/// A path that leaves the folder; a symbolic link on the way, and anything but a regular file in the file's place;
/// what the file system reports.
pub(crate) fn write(root: &Path, below: &Path, bytes: &[u8]) -> io::Result<()> {
    names_below(below)?;
    fs::create_dir_all(here(root))?;
    let (folder, name) = at::folder(here(root), below, true)?;
    if let Some(existing) = at::kind(&folder, name)?
        && existing != Kind::File
    {
        return Err(match existing {
            Kind::Folder => io::Error::from(io::ErrorKind::IsADirectory),
            Kind::File | Kind::Other => not_regular(),
        });
    }
    let partial = super::partial_name(Path::new(name));
    let partial = partial.as_os_str();
    let written = at::create(&folder, partial)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| at::rename(&folder, partial, name));
    if written.is_err() {
        // Best effort: the error that matters is the one already in hand.
        let _ = at::remove(&folder, partial);
    }
    written
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Other,
}

impl From<fs::FileType> for Kind {
    fn from(found: fs::FileType) -> Kind {
        if found.is_file() {
            Kind::File
        } else if found.is_dir() {
            Kind::Folder
        } else {
            Kind::Other
        }
    }
}

fn here(root: &Path) -> &Path {
    if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    }
}

fn regular(found: &fs::Metadata) -> io::Result<()> {
    match Kind::from(found.file_type()) {
        Kind::File => Ok(()),
        Kind::Folder => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Kind::Other => Err(not_regular()),
    }
}

fn not_regular() -> io::Error {
    let message = "not a regular file; links, pipes and devices are not opened here";
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn leaves() -> io::Error {
    let message = "a symbolic link leads out of the folder, and is not followed";
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// The last name of a path, and the path before it.
fn last(below: &Path) -> io::Result<(&Path, &OsStr)> {
    match (below.parent(), below.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(io::Error::from(io::ErrorKind::IsADirectory)),
    }
}

/// By file descriptors of folders.
#[cfg(unix)]
mod posix {
    use std::ffi::CString;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// The folder of `below`, opened name by name, and its last name.
    pub(super) fn folder<'a>(
        root: &Path,
        below: &'a Path,
        create: bool,
    ) -> io::Result<(File, &'a OsStr)> {
        let (parent, name) = last(below)?;
        let mut folder = File::open(root)?;
        for name in parent {
            if create {
                make_folder(&folder, name)?;
            }
            let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
            folder =
                open_at(&folder, name, flags, 0).map_err(|error| match error.raw_os_error() {
                    Some(libc::ELOOP | libc::ENOTDIR) => leaves_at(name),
                    _ => error,
                })?;
        }
        Ok((folder, name))
    }

    fn leaves_at(name: &OsStr) -> io::Error {
        let name = name.to_string_lossy();
        let message = format!("`{name}` is a symbolic link or no folder, and is not followed");
        io::Error::new(io::ErrorKind::NotADirectory, message)
    }

    pub(super) fn open(folder: &File, name: &OsStr) -> io::Result<File> {
        // A pipe without a writer must not block.
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        open_at(folder, name, flags, 0)
    }

    /// Creates a file that nobody else has; one that an earlier process of this number left is removed.
    pub(super) fn create(folder: &File, name: &OsStr) -> io::Result<File> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        match open_at(folder, name, flags, 0o666) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove(folder, name)?;
                open_at(folder, name, flags, 0o666)
            }
            opened => opened,
        }
    }

    pub(super) fn kind(folder: &File, name: &OsStr) -> io::Result<Option<Kind>> {
        let name = terminated(name)?;
        let mut status = std::mem::MaybeUninit::<libc::stat>::uninit();
        let no_follow = libc::AT_SYMLINK_NOFOLLOW;
        // SAFETY: the name ends in zero; the call writes the status, and it alone.
        let done = unsafe {
            libc::fstatat(
                folder.as_raw_fd(),
                name.as_ptr(),
                status.as_mut_ptr(),
                no_follow,
            )
        };
        match checked(done) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        }
        // SAFETY: the call that succeeded wrote it.
        let mode = unsafe { status.assume_init() }.st_mode;
        Ok(Some(match mode & libc::S_IFMT {
            libc::S_IFREG => Kind::File,
            libc::S_IFDIR => Kind::Folder,
            _ => Kind::Other,
        }))
    }

    pub(super) fn rename(folder: &File, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (terminated(from)?, terminated(to)?);
        let folder = folder.as_raw_fd();
        // SAFETY: both names end in zero.
        checked(unsafe { libc::renameat(folder, from.as_ptr(), folder, to.as_ptr()) })
    }

    pub(super) fn remove(folder: &File, name: &OsStr) -> io::Result<()> {
        let name = terminated(name)?;
        // SAFETY: the name ends in zero.
        checked(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) })
    }

    fn make_folder(folder: &File, name: &OsStr) -> io::Result<()> {
        let name = terminated(name)?;
        // SAFETY: the name ends in zero.
        let made = unsafe { libc::mkdirat(folder.as_raw_fd(), name.as_ptr(), 0o777) };
        match checked(made) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    fn open_at(folder: &File, name: &OsStr, flags: i32, mode: libc::c_uint) -> io::Result<File> {
        let name = terminated(name)?;
        let flags = flags | libc::O_CLOEXEC;
        // SAFETY: the name ends in zero.
        let opened = unsafe { libc::openat(folder.as_raw_fd(), name.as_ptr(), flags, mode) };
        checked(opened)?;
        // SAFETY: the descriptor was opened just now, and nothing else owns it.
        Ok(unsafe { File::from_raw_fd(opened) })
    }

    fn checked(status: i32) -> io::Result<()> {
        if status < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    fn terminated(name: &OsStr) -> io::Result<CString> {
        CString::new(name.as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
    }
}

/// By paths, where no folder has a descriptor.
#[cfg(not(unix))]
mod at {
    use super::*;

    /// The folder of `below`, without symbolic links on the way, and its last name.
    pub(super) fn folder<'a>(
        root: &Path,
        below: &'a Path,
        create: bool,
    ) -> io::Result<(PathBuf, &'a OsStr)> {
        let (parent, name) = last(below)?;
        let mut folder = root.to_owned();
        for name in parent {
            folder.push(name);
            if create && !folder.exists() {
                fs::create_dir(&folder)?;
            }
            if !fs::symlink_metadata(&folder)?.is_dir() {
                return Err(leaves());
            }
        }
        Ok((folder, name))
    }

    pub(super) fn open(folder: &Path, name: &OsStr) -> io::Result<File> {
        File::open(folder.join(name))
    }

    pub(super) fn create(folder: &Path, name: &OsStr) -> io::Result<File> {
        File::create(folder.join(name))
    }

    pub(super) fn kind(folder: &Path, name: &OsStr) -> io::Result<Option<Kind>> {
        match fs::symlink_metadata(folder.join(name)) {
            Ok(found) => Ok(Some(found.file_type().into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn rename(folder: &Path, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(folder.join(from), folder.join(to))
    }

    pub(super) fn remove(folder: &Path, name: &OsStr) -> io::Result<()> {
        fs::remove_file(folder.join(name))
    }
}
