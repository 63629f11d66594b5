//! Iteration over ops, values and uses.

use super::Graph;
use crate::entity::{OpId, UseId, ValueId};

/// A range of consecutive values: an op's results or a block's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ValueRange {
    start: u32,
    len: u32,
}

impl ValueRange {
    pub(super) fn new(start: usize, len: usize) -> ValueRange {
        ValueRange {
            start: start as u32,
            len: len as u32,
        }
    }

    /// Returns the number of values.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Returns the value at `index`.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn get(self, index: usize) -> ValueId {
        assert!(index < self.len(), "value {index} of {}", self.len);
        ValueId::new(self.start as usize + index)
    }

    /// Iterates over the values in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator {
        let start = self.start as usize;
        (start..start + self.len()).map(ValueId::new)
    }
}

impl IntoIterator for ValueRange {
    type Item = ValueId;
    type IntoIter = std::iter::Map<std::ops::Range<usize>, fn(usize) -> ValueId>;

    fn into_iter(self) -> Self::IntoIter {
        let start = self.start as usize;
        (start..start + self.len()).map(ValueId::new as fn(usize) -> ValueId)
    }
}

/// A double-ended iterator over the ops of a block.
#[derive(Clone)]
pub struct Ops<'g> {
    graph: &'g Graph,
    ends: Option<(OpId, OpId)>,
}

impl<'g> Ops<'g> {
    pub(super) fn new(graph: &'g Graph, first: Option<OpId>, last: Option<OpId>) -> Ops<'g> {
        Ops {
            graph,
            ends: first.zip(last),
        }
    }
}

impl Iterator for Ops<'_> {
    type Item = OpId;

    fn next(&mut self) -> Option<OpId> {
        let (first, last) = self.ends?;
        self.ends = if first == last {
            None
        } else {
            self.graph.next(first).map(|next| (next, last))
        };
        Some(first)
    }
}

impl DoubleEndedIterator for Ops<'_> {
    fn next_back(&mut self) -> Option<OpId> {
        let (first, last) = self.ends?;
        self.ends = if first == last {
            None
        } else {
            self.graph.prev(last).map(|prev| (first, prev))
        };
        Some(last)
    }
}

/// A pre-order iterator over all ops of a module: each op is visited before the ops of its regions.
pub struct Walk<'g> {
    graph: &'g Graph,
    stack: Vec<Ops<'g>>,
}

impl<'g> Walk<'g> {
    pub(super) fn new(graph: &'g Graph) -> Walk<'g> {
        Walk {
            graph,
            stack: vec![graph.ops(graph.body())],
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = OpId;

    fn next(&mut self) -> Option<OpId> {
        loop {
            match self.stack.last_mut()?.next() {
                Some(op) => {
                    let regions = self.graph.regions(op).iter().rev();
                    self.stack
                        .extend(regions.map(|&r| self.graph.ops(self.graph.block(r))));
                    return Some(op);
                }
                None => self.stack.pop(),
            };
        }
    }
}

/// The operand slots that read a value, as (user, operand index), most recent first.
#[derive(Clone)]
pub struct Uses<'g> {
    graph: &'g Graph,
    next: Option<UseId>,
}

impl<'g> Uses<'g> {
    pub(super) fn new(graph: &'g Graph, next: Option<UseId>) -> Uses<'g> {
        Uses { graph, next }
    }

    /// Whether the value has no uses.
    pub fn is_empty(&self) -> bool {
        self.next.is_none()
    }

    /// Whether the value has exactly one use.
    pub fn is_single(&self) -> bool {
        self.clone().take(2).count() == 1
    }
}

impl Iterator for Uses<'_> {
    type Item = (OpId, usize);

    fn next(&mut self) -> Option<(OpId, usize)> {
        let slot = self.next?;
        let data = &self.graph.uses[slot.index()];
        self.next = data.next;
        let index = slot.index() - self.graph.ops[data.user.index()].first_use as usize;
        Some((data.user, index))
    }
}
