//! Families of the folders in `tests/families`, which are not shipped.

use std::path::Path;

use mind_diag::SourceFile;
use mind_irv2::family::FILE_NAMES;
use mind_irv2::{Families, Family, FamilyFiles};

/// Returns the shipped families, plus the family `name` if there is a folder of that name.
pub fn families(name: &str) -> Families {
    // Two crates include this module.
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = if own.ends_with("mind-model") {
        own.join("tests")
    } else {
        own.join("../compiler/models/mind-model/tests")
    };
    let folder = tests.join("families").join(name);
    let text = |file: &str| {
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        Some(SourceFile::new(format!("{name}/{file}"), text))
    };
    let [family, globals, plan, encoder, tensors] = FILE_NAMES.map(text);
    let Some(family) = family else {
        return Families::default();
    };
    let files = FamilyFiles {
        encoder_layer_plan: encoder,
        family,
        global_buffers: globals,
        layer_plan: plan,
        tensors,
        completes_plan: false,
    };
    let own = Family::read(&files);
    Families::with(own.unwrap_or_else(|why| panic!("{}: {:?}", why.file.name(), why.found)))
}
