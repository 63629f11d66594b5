//! The passes a tool knows.

use crate::PassInfo;

/// The rows of all passes, listed explicitly.
#[derive(Clone, Copy)]
pub struct PassRegistry {
    groups: &'static [&'static [PassInfo]],
}

impl PassRegistry {
    /// Returns the registry of these groups of rows.
    pub const fn new(groups: &'static [&'static [PassInfo]]) -> PassRegistry {
        PassRegistry { groups }
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static PassInfo> {
        self.groups.iter().copied().flatten()
    }

    /// Returns the pass with this name or alias.
    pub fn get(&self, name: &str) -> Option<&'static PassInfo> {
        self.iter()
            .find(|info| info.name == name || info.alias == Some(name))
    }
}
