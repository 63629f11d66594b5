//! Which build of the compiler this is.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Identifies this build of the compiler by the file that contains the code, its size, and the time when it
/// was written. `None` where that file is not known.
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

/// The file that this code was loaded from: an executable, or a library that another program loaded.
#[cfg(target_os = "linux")]
fn object_file() -> Option<PathBuf> {
    let own = object_file as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let [start, end] = [start, end].map(|bound| usize::from_str_radix(bound, 16).ok());
        // After the range: protection, offset, device, inode, path.
        let path = rest.splitn(5, ' ').nth(4)?.trim_start();
        (start?..end?).contains(&own).then(|| PathBuf::from(path))
    })?;
    path.is_absolute().then_some(path)
}

/// The file that this code was loaded from, if it is no library.
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
