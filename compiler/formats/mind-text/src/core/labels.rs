//! The ids of a text and their definitions.

use std::collections::BTreeMap;

use mind_ir::ValueId;

/// An id as written, with its offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) id: u64,
    pub(super) at: usize,
}

impl Label {
    /// Returns the end of the id in `text`.
    pub(super) fn end(self, text: &str) -> usize {
        let digits = text.as_bytes()[self.at + 1..].iter();
        self.at + 1 + digits.take_while(|digit| digit.is_ascii_digit()).count()
    }
}

/// The state of an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Offset of its first occurrence.
    pub(super) at: u32,
    /// The body that defines it; 0 is the module's.
    pub(super) scope: u32,
    pub(super) state: LabelState,
}

impl Entry {
    /// Returns the first occurrence of the id; `id` is the key of this entry.
    pub(super) fn label(self, id: u64) -> Label {
        Label {
            id,
            at: self.at as usize,
        }
    }
}

/// The definition of an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LabelState {
    /// A value.
    Value(ValueId),
    /// A result of the line being read.
    Pending,
    /// A result of a rejected line. Uses of the id are not reported, because they are consequences of that error.
    Failed,
    /// Undefined, and already reported.
    Missing,
}

/// A map from ids to entries: a table if ids increase from about 0, a tree for all others, so that a large id takes no
/// more memory than a small one.
#[derive(Default)]
pub(super) struct Labels {
    dense: Vec<Option<Entry>>,
    sparse: BTreeMap<u64, Entry>,
    count: usize,
}

impl Labels {
    /// Returns the entry of `label`.
    pub(super) fn get(&self, label: u64) -> Option<Entry> {
        let dense = usize::try_from(label)
            .ok()
            .and_then(|index| self.dense.get(index).copied());
        match dense.flatten() {
            None if !self.sparse.is_empty() => self.sparse.get(&label).copied(),
            entry => entry,
        }
    }

    /// Sets the entry of `label`.
    pub(super) fn set(&mut self, label: u64, entry: Entry) {
        self.count += 1;
        let bound = 1024 + 2 * self.count;
        match usize::try_from(label) {
            Ok(index) if index < bound && !self.sparse.contains_key(&label) => {
                if index >= self.dense.len() {
                    self.dense.resize(index + 1, None);
                }
                self.dense[index] = Some(entry);
            }
            _ => {
                self.sparse.insert(label, entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_entry_when_the_table_grows_past_it() {
        let mut labels = Labels::default();
        let entry = |at| Entry {
            at,
            scope: 0,
            state: LabelState::Failed,
        };
        labels.set(3000, entry(7));
        labels.set(u64::MAX, entry(8));
        for label in 0..4000 {
            if label != 3000 {
                labels.set(label, entry(label as u32));
            }
        }
        labels.set(3000, entry(9));
        let place = |label| labels.get(label).map(|entry| entry.at);
        assert_eq!(
            (place(3000), place(u64::MAX), place(2999)),
            (Some(9), Some(8), Some(2999))
        );
        assert_eq!(place(4000), None);
        assert!(labels.dense.len() <= 4000);
    }
}
