//! Interned strings.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use crate::entity::Sym;

/// The names and dimension symbols of one graph, each stored once.
#[derive(Clone, Default)]
pub struct Symbols {
    text: String,
    ends: Vec<u32>,
    lookup: HashTable<Sym>,
}

impl Symbols {
    /// The symbol for `name`, new or known.
    pub fn intern(&mut self, name: &str) -> Sym {
        let hash = FxBuildHasher.hash_one(name);
        if let Some(&found) = self.lookup.find(hash, |&sym| self.get(sym) == name) {
            return found;
        }
        let sym = Sym::new(self.ends.len());
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        let Symbols { text, ends, lookup } = self;
        let hasher = |&sym: &Sym| FxBuildHasher.hash_one(slice(text, ends, sym));
        lookup.insert_unique(hash, sym, hasher);
        sym
    }

    /// The symbol for `name` if it was interned.
    pub fn find(&self, name: &str) -> Option<Sym> {
        let hash = FxBuildHasher.hash_one(name);
        self.lookup.find(hash, |&sym| self.get(sym) == name).copied()
    }

    /// The text of `sym`.
    pub fn get(&self, sym: Sym) -> &str {
        slice(&self.text, &self.ends, sym)
    }

    /// How many strings are held.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no string is held.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], sym: Sym) -> &'a str {
    let index = sym.index();
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &text[start..ends[index] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_symbol() {
        let mut symbols = Symbols::default();
        let (batch, seq) = (symbols.intern("B"), symbols.intern("seq"));
        assert_eq!(symbols.intern("B"), batch);
        assert_ne!(batch, seq);
        assert_eq!(symbols.get(seq), "seq");
        assert_eq!(symbols.find("hidden"), None);
        assert_eq!(symbols.len(), 2);
    }
}
