//! Structural diff of two modules, independent of ids and of the order of independent ops.

mod matching;
mod statements;

use std::collections::HashMap;

use crate::formats::Formats;
use mind_ir::{Graph, OpId};

use matching::Matching;
use statements::Statements;

/// The differences between two modules.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// The lines of the diff; each starts with `-`, `+` or a blank.
    pub lines: Vec<String>,
}

impl Difference {
    /// Returns whether the modules are equal as graphs.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the diff with a header of the two names; empty if the modules are equal.
    pub fn text(&self, before: &str, after: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut text = format!("--- {before}\n+++ {after}\n");
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Compares the verified modules `a` and `b`.
///
/// Ops are paired if they are equal and their operands are paired; the others are paired in order by equal id and name,
/// then by name, then by id. Paired ops that differ are shown as removed and added. The users of a changed value are
/// not shown, because only their operand changes.
pub fn difference(formats: &Formats, a: &Graph, b: &Graph) -> Difference {
    let matching = Matching::new(a, b);
    let (old, new) = (Statements::of(formats, a), Statements::of(formats, b));
    let mut lines = Vec::new();
    let ranks: HashMap<OpId, usize> = a.ops(a.body()).zip(0..).collect();
    let unpaired = a.ops(a.body()).filter(|&op| matching.partner(op).is_none());
    let mut gone = unpaired.peekable();
    for op in b.ops(b.body()) {
        match matching.partner_of_new(op) {
            None => new.push(&mut lines, '+', op),
            Some(partner) => {
                while gone
                    .peek()
                    .is_some_and(|left| ranks[left] < ranks[&partner])
                {
                    gone.next()
                        .into_iter()
                        .for_each(|left| old.push(&mut lines, '-', left));
                }
                if matching.differs(a, b, partner, op) {
                    old.push(&mut lines, '-', partner);
                    new.push(&mut lines, '+', op);
                }
            }
        }
    }
    gone.for_each(|left| old.push(&mut lines, '-', left));
    Difference { lines }
}
