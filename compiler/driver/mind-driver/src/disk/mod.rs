//! [`FileSystem`] on the operating system's files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use crate::host::{Contents, FileBytes, FileSystem};
use memmap2::Mmap;

#[cfg_attr(not(feature = "below"), path = "closed.rs")]
mod below;
mod package;

pub use package::write_package;

/// The operating system's files. Files are written under a temporary name and renamed atomically.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn read(&mut self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        read_file(file, limit)
    }

    fn read_below(&mut self, root: &Path, below: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_file(below::open(root, below)?, limit)
    }

    fn map(&mut self, path: &Path) -> io::Result<Contents> {
        mapped(File::open(path)?)
    }

    fn map_below(&mut self, root: &Path, below: &Path) -> io::Result<Contents> {
        mapped(below::open(root, below)?)
    }

    fn list(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let mut names = fs::read_dir(folder)?
            .map(name)
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn read_stdin(&mut self, limit: u64) -> io::Result<Vec<u8>> {
        read_up_to(io::stdin().lock(), limit)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let special = fs::metadata(path).is_ok_and(|existing| !existing.is_file());
        if special {
            return fs::write(path, bytes);
        }
        let partial = partial_name(path);
        let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
        if written.is_err() {
            // Best effort: the first error is reported.
            let _ = fs::remove_file(&partial);
        }
        written
    }

    fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn write_package(&mut self, folder: &Path, files: &[(&Path, &[u8])]) -> io::Result<()> {
        write_package(folder, files, &mut |_| {})
    }
}

fn mapped(file: File) -> io::Result<Contents> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(Box::new(read_up_to(file, u64::MAX)?));
    }
    // SAFETY: the map is read-only; callers guarantee that the file is not modified while it is mapped.
    Ok(Box::new(Mapped(unsafe { Mmap::map(&file)? })))
}

/// A memory-mapped file.
struct Mapped(Mmap);

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl FileBytes for Mapped {
    #[cfg(unix)]
    fn release(&self) {
        // SAFETY: the map is file-backed and never written, so dropped pages are read from the file again.
        let advised = unsafe { self.0.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        // If the advice fails, only memory is wasted.
        let _ = advised;
    }
}

/// Returns a temporary name in the folder of `path`.
pub fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    path.with_file_name(name)
}

fn read_file(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len().min(limit);
    let mut bytes = Vec::new();
    // The length is only a hint, because a file may grow or have no fixed length.
    let _ = usize::try_from(length).map(|length| bytes.try_reserve_exact(length));
    read_into(bytes, file, limit)
}

fn read_up_to(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), source, limit)
}

fn read_into(mut bytes: Vec<u8>, source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    source
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("more than the limit of {limit} bytes"),
        ));
    }
    Ok(bytes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Returns how many bytes of the map of `file` are resident.
    fn resident(file: &Path) -> u64 {
        let text = fs::read_to_string("/proc/self/smaps").expect("the maps of this process");
        let name = file.display().to_string();
        let own = text.lines().skip_while(|line| !line.ends_with(&name));
        let found = own.into_iter().find(|line| line.starts_with("Rss:"));
        let kilobytes = found.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        1024 * kilobytes.unwrap_or(0u64)
    }

    #[test]
    fn memory_of_a_mapped_file_can_be_given_back() {
        let file = std::env::temp_dir().join(format!("mind-mapped-{}", std::process::id()));
        let bytes: Vec<u8> = (0..1 << 20).map(|at: u32| at as u8).collect();
        fs::write(&file, &bytes).expect("a file");
        // SAFETY: the file is not modified.
        let map = unsafe { Mmap::map(&File::open(&file).expect("the file")) };
        let mapped = Mapped(map.expect("a map"));
        assert!(*mapped == *bytes);
        assert_eq!(resident(&file), 1 << 20);
        mapped.release();
        assert_eq!(resident(&file), 0);
        assert!(*mapped == *bytes);
        fs::remove_file(&file).expect("the file is ours");
    }
}
