//! Interned strings.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use crate::entity::Sym;
use crate::table::{Slab, Table, Text};

/// The names and dimension symbols of one graph, interned.
#[derive(Clone, Default)]
pub struct Symbols {
    text: Text,
    ends: Table<u32>,
    /// Empty while there are at most [`SCANNED`] strings, because scanning so few is faster than hashing.
    lookup: HashTable<Sym>,
}

const SCANNED: usize = 8;
const BYTES: usize = 64;

impl Symbols {
    /// The slab units that an empty table takes.
    pub(crate) const UNITS: usize = Slab::units::<u8>(BYTES) + Slab::units::<u32>(SCANNED);

    /// Returns an empty table whose first rows are in `slab`.
    pub(crate) fn in_slab(slab: &mut Slab) -> Symbols {
        Symbols {
            text: Text::new(slab.table(BYTES)),
            ends: slab.table(SCANNED),
            lookup: HashTable::new(),
        }
    }

    /// Interns `name` and returns its symbol.
    pub fn intern(&mut self, name: &str) -> Sym {
        if let Some(found) = self.find(name) {
            return found;
        }
        let sym = Sym::new(self.ends.len());
        self.text.push(name);
        self.ends.push(self.text.len() as u32);
        let Symbols { text, ends, lookup } = self;
        if ends.len() > SCANNED {
            let hash = |&sym: &Sym| FxBuildHasher.hash_one(slice(text, ends, sym));
            for sym in (lookup.len()..ends.len()).map(Sym::new) {
                lookup.insert_unique(hash(&sym), sym, hash);
            }
        }
        sym
    }

    /// Returns the symbol of `name` if it was interned.
    #[inline]
    pub fn find(&self, name: &str) -> Option<Sym> {
        if self.ends.len() <= SCANNED {
            return self.scan(name);
        }
        let hash = FxBuildHasher.hash_one(name);
        self.lookup
            .find(hash, |&sym| self.get(sym) == name)
            .copied()
    }

    #[inline]
    fn scan(&self, name: &str) -> Option<Sym> {
        let mut start = 0;
        for (index, &end) in self.ends.iter().enumerate() {
            let end = end as usize;
            if end - start == name.len() && &self.text[start..end] == name {
                return Some(Sym::new(index));
            }
            start = end;
        }
        None
    }

    /// Returns the text of `sym`.
    pub fn get(&self, sym: Sym) -> &str {
        slice(&self.text, &self.ends, sym)
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], sym: Sym) -> &'a str {
    let index = sym.index();
    let start = if index == 0 {
        0
    } else {
        ends[index - 1] as usize
    };
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

    #[test]
    fn strings_past_the_scanned_ones_are_found_too() {
        let mut symbols = Symbols::default();
        let names: Vec<String> = (0..100).map(|index| format!("d{index}")).collect();
        let first: Vec<Sym> = names.iter().map(|name| symbols.intern(name)).collect();
        let again: Vec<Sym> = names.iter().map(|name| symbols.intern(name)).collect();
        assert_eq!(again, first);
        assert_eq!(symbols.find("d8"), Some(first[8]));
        assert_eq!(symbols.find("d100"), None);
    }
}
