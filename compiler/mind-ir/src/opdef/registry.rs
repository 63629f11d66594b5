//! The dialects a tool knows.

use rustc_hash::FxHashMap;

use super::{Names, OpDef};

/// A named table of ops.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The prefix of its ops' names.
    pub name: &'static str,
    /// One sentence on what it is for.
    pub doc: &'static str,
    /// Its ops.
    pub ops: &'static [&'static OpDef],
}

/// The dialects in use, listed explicitly.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    dialects: Vec<Dialect>,
    by_name: FxHashMap<&'static str, &'static OpDef>,
}

impl Registry {
    /// The registry of `dialects`. Panics when two ops share a name.
    pub fn with(dialects: impl IntoIterator<Item = Dialect>) -> Registry {
        let dialects: Vec<Dialect> = dialects.into_iter().collect();
        let mut by_name = FxHashMap::default();
        for def in dialects.iter().flat_map(|dialect| dialect.ops) {
            let before = by_name.insert(def.name, *def);
            assert!(before.is_none(), "{} is declared twice", def.name);
        }
        Registry { dialects, by_name }
    }

    /// The dialects, in order.
    pub fn dialects(&self) -> &[Dialect] {
        &self.dialects
    }

    /// Every op, dialect by dialect, in table order.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        self.dialects
            .iter()
            .flat_map(|dialect| dialect.ops)
            .copied()
    }

    /// The op called `name`, as in `core.sum`.
    pub fn get(&self, name: &str) -> Option<&'static OpDef> {
        self.by_name.get(name).copied()
    }

    /// A table from what a text format calls each op to its entry.
    pub fn names(
        &self,
        format: fn(&Names) -> Option<&'static str>,
    ) -> FxHashMap<&'static str, &'static OpDef> {
        self.ops()
            .filter_map(|def| Some((format(&def.names)?, def)))
            .collect()
    }
}

/// The candidate most like `word`, if one is like enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + word.chars().count() / 3;
    let scored = candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate));
    scored
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance with letters compared without case and two neighbours exchanged counting once; cut
/// off for absurdly long words.
fn distance(a: &str, b: &str) -> usize {
    let folded = |word: &str| -> String {
        let letters = word.chars().take(64);
        letters.flat_map(char::to_lowercase).collect()
    };
    strsim::osa_distance(&folded(a), &folded(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_typos_and_refuses_strangers() {
        let ops = ["matmul", "relu", "transpose"];
        assert_eq!(nearest("matmull", ops), Some("matmul"));
        assert_eq!(nearest("Transpsoe", ops), Some("transpose"));
        assert_eq!(nearest("rleu", ["gelu", "relu"]), Some("relu"));
        assert_eq!(nearest("xyz", ops), None);
    }
}
