//! The numbers that values go by in text.

use super::Graph;
use crate::entity::ValueId;

impl Graph {
    /// Gives the value the number it goes by in text. New values get higher numbers, unless this one is so
    /// high that few are left.
    ///
    /// The number that it had, which no other value may have, is free again if it was the highest. For two
    /// values that exchange their numbers there is [`Graph::swap_labels`].
    pub fn set_label(&mut self, value: ValueId, label: u64) {
        let old = std::mem::replace(&mut self.values[value.index()].label, label);
        let free = &mut self.free_labels;
        if old.wrapping_add(1) == free.start {
            free.start = old;
        }
        if free.contains(&label) {
            let above = label + 1..free.end;
            let below = free.start..label;
            *free = if above.end - above.start >= below.end - below.start {
                above
            } else {
                below
            };
        }
    }

    /// Exchanges the numbers that two values go by in text.
    pub fn swap_labels(&mut self, a: ValueId, b: ValueId) {
        let (first, second) = (self.label(a), self.label(b));
        self.values[a.index()].label = second;
        self.values[b.index()].label = first;
    }

    /// A number that no value has.
    #[inline(always)]
    pub(super) fn fresh_label(&mut self) -> u64 {
        if self.free_labels.is_empty() {
            self.find_free_labels();
        }
        let label = self.free_labels.start;
        self.free_labels.start += 1;
        label
    }

    /// Takes the longest range of numbers that no value has.
    #[cold]
    fn find_free_labels(&mut self) {
        let mut taken: Vec<u64> = self.values.iter().map(|value| value.label).collect();
        taken.push(u64::MAX);
        taken.sort_unstable();
        let mut start = 0;
        for label in taken {
            let free = start..label;
            if free.end.saturating_sub(free.start) > self.free_labels.end - self.free_labels.start {
                self.free_labels = free;
            }
            start = label.saturating_add(1);
        }
    }
}
