//! The ids of a mic@1 text and their entities.

use std::collections::BTreeMap;

/// The definition of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// The index of an entity of the graph.
    Defined(usize),
    /// A line with an error. Uses of the id are not reported, because they are consequences of that error.
    Failed,
}

/// A map from ids to entries. Ids that increase in step with their indices are a single range, other increasing ids are
/// in a table, and all others in a tree, so that a large id costs no more memory or time than a small one.
#[derive(Default)]
pub(super) struct Ids {
    /// Number of ids from `first` on that map to the indices from `index` on.
    run: u64,
    first: u64,
    index: u64,
    /// `None` until an id does not continue the range.
    sparse_ids: Option<Box<SparseIds>>,
}

/// The ids that do not continue the range.
#[derive(Default)]
struct SparseIds {
    /// By distance from `first`: 0 for no entry, 1 for a failed one, else the index plus 2.
    dense: Vec<u32>,
    first: u64,
    sparse: BTreeMap<u64, u32>,
    len: usize,
}

const FAILED: u32 = 1;
const DEFINED: u32 = 2;

impl Ids {
    /// Returns the definition of `id`.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<Entry> {
        let at = id.wrapping_sub(self.first);
        if at < self.run {
            return Some(Entry::Defined((self.index + at) as usize));
        }
        self.sparse_ids.as_ref()?.get(id)
    }

    /// Defines `id`, which has no definition yet.
    #[inline(always)]
    pub(super) fn set(&mut self, id: u64, entry: Entry) {
        if let Entry::Defined(index) = entry {
            if self.run == 0 {
                (self.first, self.index) = (id, index as u64);
            }
            let at = id.wrapping_sub(self.first);
            if at == self.run && index as u64 == self.index + at {
                self.run += 1;
                return;
            }
        }
        self.sparse_ids.get_or_insert_default().set(id, entry);
    }
}

impl SparseIds {
    fn get(&self, id: u64) -> Option<Entry> {
        let raw = match self.dense.get(id.wrapping_sub(self.first) as usize) {
            Some(&raw) => raw,
            None if self.sparse.is_empty() => 0,
            None => self.sparse.get(&id).copied().unwrap_or(0),
        };
        match raw {
            0 => None,
            FAILED => Some(Entry::Failed),
            raw => Some(Entry::Defined((raw - DEFINED) as usize)),
        }
    }

    fn set(&mut self, id: u64, entry: Entry) {
        let raw = match entry {
            Entry::Failed => FAILED,
            Entry::Defined(index) => index as u32 + DEFINED,
        };
        if self.len == 0 {
            self.first = id;
        }
        self.len += 1;
        let at = id.wrapping_sub(self.first);
        if at == self.dense.len() as u64 {
            self.dense.push(raw);
        } else {
            self.set_out_of_order(id, at, raw);
        }
    }

    /// Defines an id that does not follow the highest one of the table.
    #[cold]
    fn set_out_of_order(&mut self, id: u64, at: u64, raw: u32) {
        const SLACK: usize = 16;
        if at < (2 * self.len + SLACK) as u64 {
            if self.dense.len() as u64 <= at {
                self.cover(at as usize + 1);
            }
            self.dense[at as usize] = raw;
        } else {
            self.sparse.insert(id, raw);
        }
    }

    /// Extends the table to `len` ids, moving entries from the tree into it.
    #[cold]
    fn cover(&mut self, len: usize) {
        let start = self.first + self.dense.len() as u64;
        self.dense.resize(len, 0);
        while let Some((&id, &raw)) = self.sparse.range(start..self.first + len as u64).next() {
            self.sparse.remove(&id);
            self.dense[(id - self.first) as usize] = raw;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(all: impl IntoIterator<Item = u64>) -> Ids {
        let mut ids = Ids::default();
        for (index, id) in all.into_iter().enumerate() {
            ids.set(id, Entry::Defined(index));
        }
        ids
    }

    #[test]
    fn every_id_finds_its_entry_in_any_order() {
        let orders: [Vec<u64>; 5] = [
            (0..1000).collect(),
            (0..1000).rev().collect(),
            (0..1000).map(|id| id * 37 % 1000).collect(),
            (0..1000).map(|id| id * 1_000_003).collect(),
            vec![7, 0, i64::MAX as u64, 8, 1, 9, 30, 100, 20, 31, 10],
        ];
        for order in orders {
            let ids = ids(order.iter().copied());
            for (index, &id) in order.iter().enumerate() {
                assert_eq!(ids.get(id), Some(Entry::Defined(index)), "{id}");
            }
            assert_eq!(ids.get(1_000_000_007), None);
        }
    }

    #[test]
    fn large_ids_take_no_room() {
        let ids = ids([0, 1, i64::MAX as u64, 1 << 40, 2]);
        assert!(ids.sparse_ids.unwrap().dense.len() < 64);
    }

    #[test]
    fn failed_ids_are_known_as_such() {
        let mut ids = ids([3]);
        ids.set(4, Entry::Failed);
        assert_eq!(ids.get(4), Some(Entry::Failed));
        assert_eq!(ids.get(5), None);
    }
}
