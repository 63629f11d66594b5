//! Generated documents are up to date, and ops are documented.

use mind_driver::session::{PASSES, registry};

#[test]
fn generated_documents_are_fresh() {
    for (path, expected) in xtask::documents() {
        let text = std::fs::read_to_string(xtask::root().join(&path)).unwrap_or_default();
        assert!(
            text == expected,
            "{path} is stale; run `cargo run -p xtask`"
        );
    }
}

#[test]
fn every_op_says_its_shapes_errors_and_source() {
    for def in registry().ops() {
        for section in ["Shapes:", "Errors:", "Source:"] {
            assert!(def.doc.contains(section), "{} lacks `{section}`", def.name);
        }
        let first = def.doc.trim().lines().next().unwrap_or_default();
        assert!(!first.is_empty(), "{} lacks a first sentence", def.name);
    }
}

#[test]
fn every_pass_has_a_summary_and_an_example() {
    for info in PASSES.iter() {
        assert!(
            !info.summary.is_empty() && !info.example.is_empty(),
            "{}",
            info.name
        );
    }
}
