//! The families and plans that are part of this crate.

use std::sync::{LazyLock, OnceLock};

use mind_diag::SourceFile;

use super::{Architecture, Family, FamilyFiles};

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The file contents of a plan.
pub(super) struct PlanFiles {
    name: &'static str,
    /// The architecture of its layers.
    pub(super) architecture: Architecture,
    globals: &'static str,
    decoder: Option<&'static str>,
    encoder: Option<&'static str>,
    tensors: &'static str,
}

/// A file of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlanText {
    Globals,
    Decoder,
    Encoder,
    Tensors,
}

impl PlanFiles {
    /// Returns a file of the plan, if the plan has it.
    pub(super) fn file(&self, text: PlanText) -> Option<SourceFile> {
        let [_, globals, decoder, encoder, tensors] = super::FILE_NAMES;
        let (name, text) = match text {
            PlanText::Globals => (globals, self.globals),
            PlanText::Decoder => (decoder, self.decoder?),
            PlanText::Encoder => (encoder, self.encoder?),
            PlanText::Tensors => (tensors, self.tensors),
        };
        Some(SourceFile::new(format!("plans/{}/{name}", self.name), text))
    }
}

/// Returns the plan called `name`.
pub(super) fn plan(name: &str) -> Option<&'static PlanFiles> {
    PLANS.iter().find(|own| own.name == name)
}

/// Returns the names of all plans, for messages.
pub(super) fn plan_names() -> String {
    let names: Vec<&str> = PLANS.iter().map(|own| own.name).collect();
    names.join(", ")
}

/// Returns the file that states how shared keys are handled.
pub(super) fn config_keys() -> &'static str {
    CONFIG_KEYS
}

/// Returns the shipped families, sorted by name.
pub(super) fn families() -> &'static [Family] {
    static ALL: LazyLock<Vec<Family>> = LazyLock::new(|| (0..FAMILIES.len()).map(read).collect());
    &ALL
}

/// Returns the shipped family called `name`, without reading the others.
pub(super) fn named(name: &str) -> Option<Family> {
    let at = FAMILIES.iter().position(|(folder, _)| *folder == name)?;
    Some(read(at))
}

/// The `family.json` of the shipped family called `name`.
pub(super) fn family_file(name: &str) -> Option<SourceFile> {
    let at = FAMILIES.iter().position(|(folder, _)| *folder == name)?;
    Some(file_at(at))
}

fn file_at(at: usize) -> SourceFile {
    let (name, [text]) = FAMILIES[at];
    SourceFile::new(format!("{name}/family.json"), text)
}

/// Returns the family in the folder `at`.
fn read(at: usize) -> Family {
    static READ: LazyLock<Vec<OnceLock<Family>>> =
        LazyLock::new(|| FAMILIES.iter().map(|_| OnceLock::new()).collect());
    *READ[at].get_or_init(|| {
        let files = FamilyFiles {
            family: file_at(at),
            global_buffers: None,
            layer_plan: None,
            encoder_layer_plan: None,
            tensors: None,
            completes_plan: false,
        };
        // Files of this crate, each of which tests parse.
        Family::read(&files).unwrap_or_else(|why| panic!("{}: {:?}", why.file.name(), why.found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_stands_in_the_folder_of_its_name() {
        assert!(families().len() >= 5);
        for ((folder, _), family) in FAMILIES.iter().zip(families()) {
            assert_eq!(*folder, family.name());
        }
    }
}
