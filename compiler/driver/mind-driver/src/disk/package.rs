//! Atomic writing of package folders.

use std::fs;
use std::io;
use std::path::Path;

use super::partial_name;

/// The file that marks a folder as a package.
const MANIFEST: &str = "Manifest.json";

/// Writes a package under a temporary name and renames it to `folder`, replacing an empty folder or an older package.
/// `making` is called with the path of each file and folder before it is created.
///
/// # Errors
///
/// Errors if `folder` is something else, or if the file system reports an error.
pub fn write_package(
    folder: &Path,
    files: &[(&Path, &[u8])],
    making: &mut dyn FnMut(&Path),
) -> io::Result<()> {
    if folder.exists() && !folder.join(MANIFEST).is_file() {
        let is_empty = fs::read_dir(folder)?.next().is_none();
        if !is_empty {
            return Err(io::Error::other(
                "the folder is not empty and does not hold a package",
            ));
        }
    }
    let partial = partial_name(folder);
    let written = fill(&partial, files, making);
    let placed = written.and_then(|()| replace(&partial, folder));
    if placed.is_err() {
        // The first error is reported.
        let _ = fs::remove_dir_all(&partial);
    }
    placed
}

fn fill(partial: &Path, files: &[(&Path, &[u8])], making: &mut dyn FnMut(&Path)) -> io::Result<()> {
    making(partial);
    let mut made: Vec<&Path> = Vec::new();
    fs::create_dir_all(partial)?;
    for (path, bytes) in files {
        let above = path
            .ancestors()
            .skip(1)
            .filter(|own| !own.as_os_str().is_empty());
        for folder in above.collect::<Vec<_>>().into_iter().rev() {
            if !made.contains(&folder) {
                making(&partial.join(folder));
                made.push(folder);
            }
        }
        let path = partial.join(path);
        making(&path);
        fs::create_dir_all(path.parent().unwrap_or(partial))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Renames `new` to `folder`; an existing folder is moved away first and then removed.
fn replace(new: &Path, folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return fs::rename(new, folder);
    }
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(format!(".old-{}", std::process::id()));
    let old = folder.with_file_name(name);
    fs::rename(folder, &old)?;
    if let Err(error) = fs::rename(new, folder) {
        // The first error is reported.
        let _ = fs::rename(&old, folder);
        return Err(error);
    }
    fs::remove_dir_all(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_replaced_as_a_whole_and_nothing_else_is() {
        let place = std::env::temp_dir().join(format!("mind-package-{}", std::process::id()));
        fs::create_dir(&place).expect("a folder");
        let folder = place.join("m.mlpackage");
        let manifest = (Path::new(MANIFEST), b"{}".as_slice());
        let model = (Path::new("Data/com.apple.CoreML/model"), b"1".as_slice());
        let mut made = Vec::new();
        let written = write_package(&folder, &[model, manifest], &mut |path| {
            made.push(path.to_owned());
        });
        written.expect("a new package");
        assert_eq!(made.len(), 5, "three folders and two files: {made:?}");
        let write =
            |folder: &Path, files: &[(&Path, &[u8])]| write_package(folder, files, &mut |_| {});
        write(&folder, &[manifest]).expect("in the place of the old one");
        assert!(!folder.join("Data").exists() && folder.join(MANIFEST).is_file());
        // If a path needs a folder where a file is, writing fails and keeps the old package.
        let clash = (Path::new("Manifest.json/below"), b"2".as_slice());
        assert!(write(&folder, &[manifest, clash]).is_err());
        fs::write(place.join("mine"), "").expect("a file");
        assert!(write(&place, &[manifest]).is_err());
        let left = fs::read_dir(&place).expect("the folder").count();
        assert_eq!(left, 2, "the package and `mine`, no partial one");
        assert_eq!(fs::read(folder.join(MANIFEST)).expect("the old one"), b"{}");
        fs::remove_dir_all(place).expect("the folder is ours");
    }
}
