//! Folders that are written as a whole.

use std::fs;
use std::io;
use std::path::Path;

use mind_driver::disk::partial_name;

use crate::unfinished::Unfinished;

/// What every package holds, by which an older one is known.
const MANIFEST: &str = "Manifest.json";

/// Writes a folder of files beside `folder` and puts it in its place, where nothing, an empty folder or an older
/// package may be.
///
/// # Errors
///
/// What the file system reports; something else in that place.
pub(crate) fn write(folder: &Path, files: &[(&Path, &[u8])]) -> io::Result<()> {
    if folder.exists() && !folder.join(MANIFEST).is_file() {
        let is_empty = fs::read_dir(folder)?.next().is_none();
        if !is_empty {
            return Err(io::Error::other(
                "is a folder that holds something else than a package",
            ));
        }
    }
    let partial = partial_name(folder);
    let (written, _unfinished) = fill(&partial, files);
    let placed = written.and_then(|()| replace(&partial, folder));
    if placed.is_err() {
        // The error that matters is the one already in hand.
        let _ = fs::remove_dir_all(&partial);
    }
    placed
}

/// Writes the files; what was made so far is to be removed by an interrupt.
fn fill(partial: &Path, files: &[(&Path, &[u8])]) -> (io::Result<()>, Vec<Unfinished>) {
    let mut unfinished = vec![Unfinished::new(partial)];
    let mut made: Vec<&Path> = Vec::new();
    let written = fs::create_dir_all(partial).and_then(|()| {
        files.iter().try_for_each(|(path, bytes)| {
            let above = path
                .ancestors()
                .skip(1)
                .filter(|own| !own.as_os_str().is_empty());
            for folder in above.collect::<Vec<_>>().into_iter().rev() {
                if !made.contains(&folder) {
                    unfinished.push(Unfinished::new(&partial.join(folder)));
                    made.push(folder);
                }
            }
            let path = partial.join(path);
            unfinished.push(Unfinished::new(&path));
            fs::create_dir_all(path.parent().unwrap_or(partial))?;
            fs::write(path, bytes)
        })
    });
    (written, unfinished)
}

/// Puts `new` in the place of `folder`.
fn replace(new: &Path, folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return fs::rename(new, folder);
    }
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(format!(".old-{}", std::process::id()));
    let old = folder.with_file_name(name);
    fs::rename(folder, &old)?;
    if let Err(error) = fs::rename(new, folder) {
        // The error that matters is the one already in hand.
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
        #[cfg(unix)]
        let _alone = crate::unfinished::ALONE.lock().expect("no test panicked");
        let place = std::env::temp_dir().join(format!("mind-package-{}", std::process::id()));
        fs::create_dir(&place).expect("a folder");
        let folder = place.join("m.mlpackage");
        let manifest = (Path::new(MANIFEST), b"{}".as_slice());
        let model = (Path::new("Data/com.apple.CoreML/model"), b"1".as_slice());
        write(&folder, &[model, manifest]).expect("a new package");
        write(&folder, &[manifest]).expect("in the place of the old one");
        assert!(!folder.join("Data").exists() && folder.join(MANIFEST).is_file());
        // A file where a folder must be is an error that leaves the old package.
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
