//! Packages are self-contained, so that `cargo package` and `maturin sdist` work.

use std::path::{Path, PathBuf};

/// Returns the manifests of the repository with their paths.
fn manifests() -> Vec<(PathBuf, toml::Table)> {
    let paths = super::files(&xtask::root(), "toml").into_iter();
    let manifests = paths.filter(|path| path.ends_with("Cargo.toml"));
    let parsed = manifests.map(|path| {
        let text = std::fs::read_to_string(&path).expect("a manifest");
        let table = text.parse().expect("a manifest in TOML");
        (path, table)
    });
    parsed.collect()
}

#[test]
fn build_scripts_are_in_their_packages() {
    for (path, manifest) in manifests() {
        let script = manifest.get("package").and_then(|own| own.get("build"));
        let script = script.and_then(toml::Value::as_str).unwrap_or("build.rs");
        assert!(
            !script.contains(".."),
            "{}: the build script `{script}` is outside of the package",
            path.display()
        );
    }
}

#[test]
fn crates_that_others_need_have_versions() {
    let manifests = manifests();
    let dependencies = |own: &toml::Table| own.get("workspace")?.get("dependencies").cloned();
    let known = manifests.iter().find_map(|(_, own)| dependencies(own));
    let known = known.expect("the dependencies of the workspace");
    // Crates that only test and generate are not packaged, because other crates never need them.
    let is_inner = |own: &Path| {
        ["fuzz", "lit_tests", "xtask"]
            .iter()
            .any(|dir| own.ends_with(dir))
    };
    for (path, manifest) in &manifests {
        if path.parent().is_some_and(is_inner) {
            continue;
        }
        let needed = ["dependencies", "build-dependencies"].into_iter();
        let needed = needed.filter_map(|key| manifest.get(key)?.as_table());
        for name in needed.flat_map(|own| own.keys()) {
            let Some(own) = known.get(name).and_then(toml::Value::as_table) else {
                continue;
            };
            assert!(
                own.contains_key("version"),
                "{} needs `{name}`, which has a path and no version in the workspace",
                path.display()
            );
        }
    }
}

#[test]
fn the_wheel_has_the_licenses_of_the_repository() {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let read = |folder: &str| std::fs::read(xtask::root().join(folder).join(name));
        let (own, copy) = (read(""), read("tools/mind-python"));
        assert_eq!(own.expect("a license"), copy.expect("its copy"), "{name}");
    }
}
