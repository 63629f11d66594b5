//! Identity of this build of the compiler.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Identifies this build by the path, size and modification time of the file that contains the code. Returns `None` if
/// that file is unknown.
pub(super) fn identity() -> Option<String> {
    let file = object_file()?;
    let metadata = file.metadata().ok()?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let version = env!("CARGO_PKG_VERSION");
    Some(format!(
        "{version} {} {} {}",
        file.display(),
        metadata.len(),
        written.as_nanos()
    ))
}

/// Returns the file that this code was loaded from: an executable or a shared library.
#[cfg(target_os = "linux")]
fn object_file() -> Option<PathBuf> {
    let own = object_file as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let [start, end] = [start, end].map(|bound| usize::from_str_radix(bound, 16).ok());
        // The fields after the range are protection, offset, device, inode and path.
        let path = rest.splitn(5, ' ').nth(4)?.trim_start();
        (start?..end?).contains(&own).then(|| PathBuf::from(path))
    })?;
    path.is_absolute().then_some(path)
}

/// Returns the executable; a shared library that contains this code is not found.
#[cfg(not(target_os = "linux"))]
fn object_file() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_is_told_by_the_file_of_its_code() {
        let own = std::env::current_exe().expect("the test has a file");
        let own = own.canonicalize().expect("it is there");
        let text = identity().expect("the file is known");
        assert!(text.contains(&own.display().to_string()), "{text}");
        assert_eq!(identity().as_deref(), Some(&*text));
    }
}
