//! The registry of dialects.

use rustc_hash::FxHashMap;

use super::{Names, OpDef};

/// A named table of ops.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The prefix of the names of its ops.
    pub name: &'static str,
    /// A sentence that describes the dialect.
    pub doc: &'static str,
    /// Its ops.
    pub ops: &'static [&'static OpDef],
}

/// The dialects that a tool uses, listed explicitly.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    dialects: Vec<Dialect>,
    by_name: FxHashMap<&'static str, &'static OpDef>,
}

impl Registry {
    /// Returns the registry of `dialects`.
    ///
    /// # Panics
    ///
    /// If two ops have the same name.
    pub fn with(dialects: impl IntoIterator<Item = Dialect>) -> Registry {
        let dialects: Vec<Dialect> = dialects.into_iter().collect();
        let mut by_name = FxHashMap::default();
        for def in dialects.iter().flat_map(|dialect| dialect.ops) {
            let before = by_name.insert(def.name, *def);
            assert!(before.is_none(), "{} is declared twice", def.name);
        }
        Registry { dialects, by_name }
    }

    /// Returns the dialects, in order.
    pub fn dialects(&self) -> &[Dialect] {
        &self.dialects
    }

    /// Iterates over all ops, dialect by dialect in table order.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        self.dialects
            .iter()
            .flat_map(|dialect| dialect.ops)
            .copied()
    }

    /// Returns the op with this full name, for example `core.sum`.
    pub fn get(&self, name: &str) -> Option<&'static OpDef> {
        self.by_name.get(name).copied()
    }

    /// Returns a map from the names of a text format to ops.
    pub fn names(
        &self,
        format: fn(&Names) -> Option<&'static str>,
    ) -> FxHashMap<&'static str, &'static OpDef> {
        self.ops()
            .filter_map(|def| Some((format(&def.names)?, def)))
            .collect()
    }
}

/// Returns the candidate with the smallest edit distance to `word`; `None` if all are too different to be meant. One
/// difference is allowed, and one more for every three characters.
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

/// Returns the number of insertions, deletions, substitutions and swaps of adjacent letters between two words, ignoring
/// case. Only the first 64 characters of each word are compared, because the cost is quadratic.
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
