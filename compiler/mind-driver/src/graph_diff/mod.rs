//! How two modules differ as graphs: ids and the order of independent ops aside.

mod matching;
mod statements;

use std::collections::HashMap;

use crate::formats::Formats;
use mind_ir::{Graph, OpId};

use matching::Matching;
use statements::Statements;

/// What differs between two modules.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// The lines of a diff: each starts with `-`, `+` or a blank.
    pub lines: Vec<String>,
}

impl Difference {
    /// Whether the modules are the same graph.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The difference as text, under the names of the two; empty where there is none.
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

/// How the verified modules `a` and `b` differ.
///
/// Ops are paired when they are the same op on paired operands; those left over are paired by their ids, then by
/// their kind and order. What is paired and differs is shown as removed and added; what reads a changed value is
/// not shown for that.
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
