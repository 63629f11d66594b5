//! Allowed dependencies between crates.

use std::collections::BTreeSet;
use std::path::Path;

use petgraph::algo::{has_path_connecting, toposort};
use petgraph::graphmap::DiGraphMap;

/// The crates that each crate may depend on, in addition to their dependencies.
const ALLOWED: &[(&str, &[&str])] = &[
    ("mind-diag", &[]),
    ("mind-ir", &["mind-diag"]),
    ("mind-core", &["mind-ir"]),
    ("mind-tensor", &["mind-core"]),
    ("mind-loops", &["mind-core"]),
    ("mind-mil", &["mind-core"]),
    ("mind-coreml", &["mind-mil", "mind-text"]),
    ("mind-json", &["mind-diag"]),
    ("mind-jinja", &[]),
    ("mind-weights", &["mind-json"]),
    ("mind-convert", &["mind-core"]),
    ("mind-onnx", &["mind-convert"]),
    ("mind-stablehlo", &["mind-convert"]),
    ("mind-irv2", &["mind-tensor", "mind-weights"]),
    ("mind-text", &["mind-ir"]),
    ("mind-interp", &["mind-ir"]),
    ("mind-vir", &["mind-ir"]),
    ("mind-jit", &["mind-loops", "mind-vir"]),
    ("mind-pass", &["mind-core"]),
    ("mind-rewrite", &["mind-ir"]),
    ("mind-draw", &[]),
    ("mind-rules", &["mind-ir"]),
    ("mind-eqsat", &["mind-transforms", "mind-draw"]),
    (
        "mind-transforms",
        &["mind-pass", "mind-rewrite", "mind-tensor", "mind-rules"],
    ),
    (
        "mind-rulecheck",
        &["mind-core", "mind-eqsat", "mind-interp"],
    ),
    ("mind-to-tensor", &["mind-pass", "mind-tensor"]),
    ("mind-to-loops", &["mind-to-tensor", "mind-loops"]),
    (
        "mind-to-mil",
        &["mind-convert", "mind-to-tensor", "mind-mil"],
    ),
    (
        "mind-from-mil",
        &["mind-convert", "mind-pass", "mind-tensor", "mind-mil"],
    ),
    (
        "mind-driver",
        &[
            "mind-transforms",
            "mind-to-loops",
            "mind-jit",
            "mind-draw",
            "mind-interp",
            "mind-rulecheck",
            "mind-text",
            "mind-to-mil",
            "mind-from-mil",
            "mind-coreml",
            "mind-onnx",
            "mind-stablehlo",
            "mind-irv2",
        ],
    ),
    ("mind-model", &["mind-driver", "mind-jinja"]),
    ("mind", &["mind-model"]),
    ("mind-cli", &["mind-driver"]),
    ("mind-host", &["mind-driver"]),
    ("mind-opt", &["mind-cli", "mind-host"]),
    ("mind-run", &["mind-model", "mind-cli", "mind-host"]),
    ("mind-fmt", &["mind-cli", "mind-host"]),
    ("mind-lsp", &["mind-cli"]),
    ("mind-reduce", &["mind-cli", "mind-host"]),
    ("mind-translate", &["mind-model", "mind-cli", "mind-host"]),
    ("mind-bench", &["mind-model", "mind-opt", "mind-testgen"]),
    ("filecheck", &[]),
    ("mind-snapshot", &[]),
    ("mind-testgen", &["mind-core", "mind-text"]),
    (
        "lit-tests",
        &[
            "mind",
            "mind-fmt",
            "mind-opt",
            "mind-reduce",
            "mind-run",
            "mind-translate",
            "filecheck",
            "mind-testgen",
        ],
    ),
    ("xtask", &["lit-tests", "mind-lsp"]),
    (
        "mind-python",
        &[
            "mind",
            "mind-fmt",
            "mind-lsp",
            "mind-opt",
            "mind-reduce",
            "mind-run",
            "mind-translate",
        ],
    ),
];

/// The folders that group crates by purpose, and the folders on whose crates those of a folder may depend besides what those
/// may.
const GROUPS: &[(&str, &[&str])] = &[
    ("compiler/ir", &[]),
    ("dialects", &["compiler/ir"]),
    ("compiler/formats", &["dialects"]),
    ("compiler/codegen", &["dialects"]),
    ("passes", &["compiler/formats"]),
    ("compiler/driver", &["passes", "compiler/codegen"]),
    ("compiler/models", &["compiler/driver"]),
    ("compiler/api", &["compiler/models"]),
    // `xtask` checks the suite in `lit_tests`, which runs the other tools, so that both folders are one group.
    (TOOLS, &["compiler/api"]),
];

const TOOLS: &str = "tools, lit_tests";

/// Dependencies that only these crates may have.
const SOLE_USERS: &[(&str, &[&str])] = &[
    ("tokenizers", &["mind-model"]),
    ("lsp-server", &["mind-lsp"]),
    ("lsp-types", &["mind-lsp"]),
    ("pyo3", &["mind-python"]),
    ("bumpalo", &["mind-ir"]),
    ("insta", &["mind-snapshot"]),
    ("egg", &["mind-eqsat"]),
    ("prost", &["mind-coreml", "mind-onnx"]),
    ("cranelift-codegen", &["mind-vir"]),
    ("cranelift-frontend", &["mind-vir"]),
    ("cranelift-module", &["mind-vir"]),
    ("cranelift-native", &["mind-vir"]),
    ("cranelift-object", &["mind-vir"]),
    ("iced-x86", &["mind-vir"]),
    ("regalloc2", &["mind-vir"]),
];

/// Crates whose tests need more than text, interpreter and dialects.
const TEST_ONLY: [&str; 12] = [
    "mind-json",
    "mind-ir",
    "mind-text",
    "mind-coreml",
    "mind-onnx",
    "mind-stablehlo",
    "mind-interp",
    "mind-core",
    "mind-tensor",
    "mind-testgen",
    "mind-mil",
    "mind-snapshot",
];

struct Manifest {
    name: String,
    /// The folder of its group, as in [`GROUPS`].
    group: String,
    dependencies: BTreeSet<String>,
    dev_dependencies: BTreeSet<String>,
}

fn manifests() -> Vec<Manifest> {
    let paths = super::files(&xtask::root(), "toml");
    let manifests = paths.iter().filter(|path| path.ends_with("Cargo.toml"));
    let parsed = manifests.filter_map(|path| {
        let text = std::fs::read_to_string(path).expect("a manifest");
        let table: toml::Table = text.parse().expect("a manifest in TOML");
        let name = table.get("package")?.get("name")?.as_str()?.to_owned();
        if path.components().any(|part| part.as_os_str() == "fuzz") {
            return None;
        }
        let folder = path
            .parent()?
            .file_name()?
            .to_string_lossy()
            .replace('_', "-");
        assert_eq!(folder, name, "a folder is called as its crate");
        let names = |section: &str| -> BTreeSet<String> {
            let rows = table.get(section).and_then(|rows| rows.as_table());
            rows.into_iter()
                .flat_map(|rows| rows.keys().cloned())
                .collect()
        };
        let (dependencies, dev_dependencies) = (names("dependencies"), names("dev-dependencies"));
        Some(Manifest {
            group: group_of(path)?,
            name,
            dependencies,
            dev_dependencies,
        })
    });
    parsed.collect()
}

/// Returns the group of the crate with the manifest at `path`.
fn group_of(path: &Path) -> Option<String> {
    let root = xtask::root();
    let own = path.strip_prefix(&root).ok()?.parent()?;
    let folder = own.parent()?.to_string_lossy().replace('\\', "/");
    Some(match &folder[..] {
        "tools" | "" => TOOLS.to_owned(),
        folder => folder.to_owned(),
    })
}

/// Returns the dependencies of `rows` as a graph.
fn arrows(rows: &[(&'static str, &[&'static str])]) -> DiGraphMap<&'static str, ()> {
    let mut arrows = DiGraphMap::new();
    for &(name, direct) in rows {
        arrows.add_node(name);
        arrows.extend(direct.iter().map(|&below| (name, below)));
    }
    arrows
}

#[test]
fn crates_depend_only_along_the_allowed_arrows() {
    let (manifests, arrows) = (manifests(), arrows(ALLOWED));
    let own: BTreeSet<&str> = manifests
        .iter()
        .map(|manifest| manifest.name.as_str())
        .collect();
    for manifest in &manifests {
        let name = manifest.name.as_str();
        assert!(arrows.contains_node(name), "{name} has no row of arrows");
        let allowed = |dependency: &str| {
            arrows.contains_node(dependency) && has_path_connecting(&arrows, name, dependency, None)
        };
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|dep| own.contains(dep.as_str()))
        {
            assert!(
                allowed(dependency),
                "{name} must not depend on {dependency}"
            );
        }
        for dependency in manifest
            .dev_dependencies
            .iter()
            .filter(|dep| own.contains(dep.as_str()))
        {
            let fine = allowed(dependency) || TEST_ONLY.contains(&dependency.as_str());
            assert!(fine, "tests of {name} must not depend on {dependency}");
        }
    }
    assert_eq!(
        manifests.len(),
        ALLOWED.len(),
        "every row of arrows has its crate"
    );
}

#[test]
fn groups_depend_only_along_the_allowed_arrows() {
    let (manifests, arrows) = (manifests(), arrows(GROUPS));
    assert!(toposort(&arrows, None).is_ok(), "groups form a cycle");
    let group = |name: &str| {
        let mut all = manifests.iter();
        all.find(|own| own.name == name).map(|own| &own.group[..])
    };
    for manifest in &manifests {
        let (name, own) = (&manifest.name, &manifest.group[..]);
        assert!(arrows.contains_node(own), "{name}: no group `{own}`");
        for (dependency, below) in manifest
            .dependencies
            .iter()
            .filter_map(|own| Some((own, group(own)?)))
        {
            assert!(
                has_path_connecting(&arrows, own, below, None),
                "{name} of {own} must not depend on {dependency} of {below}"
            );
        }
    }
    let used: BTreeSet<&str> = manifests.iter().map(|own| &own.group[..]).collect();
    assert_eq!(used.len(), GROUPS.len(), "every group has crates");
}

#[test]
fn the_arrows_have_no_cycle() {
    let arrows = arrows(ALLOWED);
    let cycle = toposort(&arrows, None).err().map(|cycle| cycle.node_id());
    assert_eq!(cycle, None, "a crate that depends on itself");
    assert_eq!(
        arrows.node_count(),
        ALLOWED.len(),
        "every arrow ends at a row"
    );
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let arrows = arrows(&[
        ("top", &["middle"]),
        ("middle", &["bottom"]),
        ("bottom", &[]),
    ]);
    assert!(has_path_connecting(&arrows, "top", "bottom", None));
    assert!(!has_path_connecting(&arrows, "bottom", "top", None));
}

#[test]
fn some_libraries_have_few_users() {
    for manifest in manifests() {
        for (library, users) in SOLE_USERS {
            let uses = manifest.dependencies.contains(*library);
            assert!(
                !uses || users.contains(&&manifest.name[..]),
                "only {users:?} may use {library}"
            );
        }
    }
}
