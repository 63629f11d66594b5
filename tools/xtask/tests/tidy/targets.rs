//! Targets that are compiled for tests have tests, because compiling a library or program a second time without any
//! slows down every run of the suite.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

#[test]
fn targets_are_compiled_for_tests_where_they_have_some() {
    let root = xtask::root();
    let manifests = super::files(&root, "toml").into_iter();
    let manifests = manifests.filter(|path| path.ends_with("Cargo.toml"));
    let mut seen = 0;
    for manifest in manifests {
        let name = manifest.display();
        let text = std::fs::read_to_string(&manifest).expect("a manifest");
        let table: Table = text.parse().expect("TOML");
        let folder = manifest.parent().expect("a manifest is in a folder");
        if table.contains_key("workspace") || !table.contains_key("package") {
            continue;
        }
        let programs = table.get("bin").and_then(Value::as_array);
        let programs: Vec<&Table> = programs
            .into_iter()
            .flatten()
            .filter_map(Value::as_table)
            .collect();
        let main = folder.join("src/main.rs");
        let is_listed = |program: &&Table| path(folder, program) == Some(main.clone());
        assert!(
            !main.exists()
                || has_tests(std::slice::from_ref(&main))
                || programs.iter().any(is_listed),
            "{name}: src/main.rs has no tests and no `[[bin]]` with `test = false`"
        );
        for program in programs {
            let path =
                path(folder, program).unwrap_or_else(|| panic!("{name}: a program without `path`"));
            check(&path.display().to_string(), program, &sources(&path));
            seen += 1;
        }
        let own = folder.join("src/lib.rs");
        if own.exists() {
            let library = table.get("lib").and_then(Value::as_table).cloned();
            let all = super::files(&folder.join("src"), "rs").into_iter();
            let is_own =
                |path: &PathBuf| *path != main && !path.starts_with(folder.join("src/bin"));
            let all: Vec<PathBuf> = all.filter(is_own).collect();
            check(
                &own.display().to_string(),
                &library.unwrap_or_default(),
                &all,
            );
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} libraries and programs were found");
}

fn path(folder: &Path, program: &Table) -> Option<PathBuf> {
    Some(folder.join(program.get("path")?.as_str()?))
}

/// Returns the source files of a program: one file, or a folder with `main.rs`, unless it is the folder of a library.
fn sources(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().expect("a file is in a folder");
    match path.ends_with("main.rs") && !path.ends_with("src/main.rs") {
        true => super::files(folder, "rs"),
        false => vec![path.to_owned()],
    }
}

fn check(name: &str, target: &Table, sources: &[PathBuf]) {
    let is_tested = target.get("test").and_then(Value::as_bool).unwrap_or(true);
    match has_tests(sources) {
        true => assert!(is_tested, "{name} has tests that `test = false` hides"),
        false => assert!(!is_tested, "{name} has no tests and no `test = false`"),
    }
}

fn has_tests(sources: &[PathBuf]) -> bool {
    sources.iter().any(|path| {
        let text = std::fs::read_to_string(path).expect("a source file");
        text.lines().any(|line| line.trim() == "#[test]")
    })
}
