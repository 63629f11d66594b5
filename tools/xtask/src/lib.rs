//! Generated documents: each file generates one kind from the tables of the program, and tests compare them with the
//! tree.

pub mod codes;
pub mod drawings;
pub mod flags;
pub mod formats;
pub mod mil;
pub mod onnx;
pub mod ops;
pub mod passes;
pub mod rules;
pub mod shells;

use std::path::PathBuf;

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns every generated document: its path relative to the root, and its content.
pub fn documents() -> Vec<(String, String)> {
    let mut all = ops::documents();
    all.push(("docs/ops/mil-states.md".to_owned(), mil::document()));
    all.push(("docs/passes.md".to_owned(), passes::document()));
    all.push(("docs/rules.md".to_owned(), rules::document()));
    all.push(("docs/diagnostics.md".to_owned(), codes::document()));
    all.push(("docs/flags.md".to_owned(), flags::document()));
    all.push(("docs/formats.md".to_owned(), formats::document()));
    all.push((
        "docs/formats/onnx-operators.md".to_owned(),
        onnx::document(),
    ));
    all.extend(drawings::documents());
    all.extend(shells::documents());
    all
}
