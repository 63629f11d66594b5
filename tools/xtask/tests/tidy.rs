//! Invariants of the whole tree.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/book.rs"]
mod book;
#[path = "tidy/codes.rs"]
mod codes;
#[path = "tidy/command_lines.rs"]
mod command_lines;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/language.rs"]
mod language;
#[path = "tidy/mil.rs"]
mod mil;
#[path = "tidy/packages.rs"]
mod packages;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/targets.rs"]
mod targets;
#[path = "tidy/wording.rs"]
mod wording;

use std::path::{Path, PathBuf};

/// Returns every file below `dir` with this extension, except build output.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).expect("a folder of the repository") {
            let path = entry.expect("an entry of a folder").path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let made = ["target", "corpus", "node_modules"].contains(&name.as_str());
            if path.is_dir() && !name.starts_with('.') && !made {
                pending.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
