//! The families and plans that are part of this crate.

use std::sync::LazyLock;

use mind_diag::SourceFile;

use super::{Architecture, Family, FamilyFiles};

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The texts of a plan.
pub(super) struct PlanFiles {
    name: &'static str,
    /// What its layers are for.
    pub(super) architecture: Architecture,
    texts: &'static [&'static str; 3],
}

impl PlanFiles {
    /// The file at `index`, of `global_buffers.json`, the plan of layers and `tensors.json`.
    pub(super) fn file(&self, index: usize) -> SourceFile {
        let name = match index {
            1 => self.architecture.plan_file(),
            index => super::FILE_NAMES[1 + index],
        };
        SourceFile::new(format!("plans/{}/{name}", self.name), self.texts[index])
    }
}

/// The plan called `name`.
pub(super) fn plan(name: &str) -> Option<PlanFiles> {
    let found = PLANS.iter().find(|(own, _, _)| *own == name);
    found.map(|(name, architecture, texts)| PlanFiles {
        name,
        architecture: *architecture,
        texts,
    })
}

/// The names of all plans, for messages.
pub(super) fn plan_names() -> String {
    let names: Vec<&str> = PLANS.iter().map(|(name, _, _)| *name).collect();
    names.join(", ")
}

/// What becomes of the keys that families share.
pub(super) fn config_keys() -> &'static str {
    CONFIG_KEYS
}

/// The shipped families, by name.
pub(super) fn families() -> &'static [Family] {
    static ALL: LazyLock<Vec<Family>> = LazyLock::new(|| {
        let all = FAMILIES.iter().map(|(name, [text])| {
            let files = FamilyFiles {
                family: SourceFile::new(format!("{name}/family.json"), *text),
                global_buffers: None,
                layer_plan: None,
                encoder_layer_plan: None,
                tensors: None,
            };
            // Files of this crate, each of which a test reads.
            Family::read(&files)
                .unwrap_or_else(|why| panic!("{}: {:?}", why.file.name(), why.found))
        });
        all.collect()
    });
    &ALL
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
