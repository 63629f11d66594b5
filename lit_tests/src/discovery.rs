//! Discovery of test files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The extensions of test files.
pub const SUFFIXES: [&str; 5] = [".mic", ".mic2", ".core", ".mil", ".test"];

/// Names of folders without tests, at any depth: inputs of tests, and the runner's own files.
pub const EXCLUDED: [&str; 4] = ["inputs", "self", "src", "tests"];

/// A test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// Path relative to the root, with `/` as separator.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
}

/// The files in the suite's folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DiscoveredFiles {
    /// The tests, ordered by name.
    pub tests: Vec<TestFile>,
    /// Files in test folders that would never be run.
    pub strays: Vec<TestFile>,
}

/// Lists the tests below `root`.
///
/// Other files at the top level belong to the runner. Test folders may only contain tests, `inputs` folders and
/// `README.md`.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn find(root: &Path) -> io::Result<DiscoveredFiles> {
    let mut found = DiscoveredFiles::default();
    walk(root, "", &mut found)?;
    found.tests.sort_by(|a, b| a.name.cmp(&b.name));
    found.strays.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn walk(dir: &Path, prefix: &str, found: &mut DiscoveredFiles) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let file_name = entry.file_name().to_string_lossy().into_owned();
        if file_name.starts_with('.') || EXCLUDED.contains(&file_name.as_str()) {
            continue;
        }
        let (name, path) = (format!("{prefix}{file_name}"), entry.path());
        if path.is_dir() {
            walk(&path, &format!("{name}/"), found)?;
        } else if SUFFIXES.iter().any(|suffix| file_name.ends_with(suffix)) {
            found.tests.push(TestFile { name, path });
        } else if !prefix.is_empty() && file_name != "README.md" {
            found.strays.push(TestFile { name, path });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selftest::scratch;

    #[test]
    fn inputs_are_no_tests_and_strays_are_seen() {
        let root = scratch("discovery");
        for path in [
            "a/x.mic",
            "a/inputs/y.mic",
            "a/b/z.core",
            "a/w.mlir",
            "a/README.md",
            "Cargo.toml",
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = find(&root).unwrap();
        let names = |files: &[TestFile]| {
            files
                .iter()
                .map(|file| file.name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&found.tests), ["a/b/z.core", "a/x.mic"]);
        assert_eq!(names(&found.strays), ["a/w.mlir"]);
    }
}
