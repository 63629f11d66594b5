//! Labels: the numbers of values in text.

use super::Graph;
use crate::entity::ValueId;

impl Graph {
    /// Sets the number of a value in text. No other value may have it; use [`Graph::swap_labels`] to exchange two
    /// numbers.
    ///
    /// New values get higher numbers, unless more numbers are free below `label` than above it. The old number of the
    /// value is reused if it directly precedes the free numbers.
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

    /// Swaps the numbers of two values.
    pub fn swap_labels(&mut self, a: ValueId, b: ValueId) {
        let (first, second) = (self.label(a), self.label(b));
        self.values[a.index()].label = second;
        self.values[b.index()].label = first;
    }

    /// Returns a number that no value has.
    #[inline(always)]
    pub(super) fn fresh_label(&mut self) -> u64 {
        if self.free_labels.is_empty() {
            self.find_free_labels();
        }
        let label = self.free_labels.start;
        self.free_labels.start += 1;
        label
    }

    /// Sets the free range to the longest range of numbers that no value has.
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
