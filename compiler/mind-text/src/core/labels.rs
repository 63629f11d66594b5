//! The ids of a text and what they stand for.

use std::collections::BTreeMap;

use mind_ir::ValueId;

/// An id as written, with its offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) id: u64,
    pub(super) at: usize,
}

impl Label {
    /// The offset behind the id in `text`.
    pub(super) fn end(self, text: &str) -> usize {
        let digits = text.as_bytes()[self.at + 1..].iter();
        self.at + 1 + digits.take_while(|digit| digit.is_ascii_digit()).count()
    }
}

/// What is known of an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Where it was first written.
    pub(super) at: u32,
    /// The body that it belongs to; 0 is the module's.
    pub(super) scope: u32,
    pub(super) state: State,
}

impl Entry {
    /// The id where it was first written; `id` is the key of this entry.
    pub(super) fn label(self, id: u64) -> Label {
        Label {
            id,
            at: self.at as usize,
        }
    }
}

/// What an id stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// A value.
    Value(ValueId),
    /// What the line being read will define.
    Pending,
    /// What a rejected line would have defined: reading it is not an error of its own.
    Failed,
    /// Nothing yet; reading it was reported.
    Missing,
}

/// A map from ids to entries: a table where ids count up from about 0, a tree for all others, so that
/// no id costs more memory than another.
#[derive(Default)]
pub(super) struct Labels {
    dense: Vec<Option<Entry>>,
    sparse: BTreeMap<u64, Entry>,
    count: usize,
}

impl Labels {
    /// What is known of `label`.
    pub(super) fn get(&self, label: u64) -> Option<Entry> {
        let dense = usize::try_from(label)
            .ok()
            .and_then(|index| self.dense.get(index).copied());
        match dense.flatten() {
            None if !self.sparse.is_empty() => self.sparse.get(&label).copied(),
            entry => entry,
        }
    }

    /// Sets what is known of `label`.
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
            state: State::Failed,
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
