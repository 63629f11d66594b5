//! Exact matching of expressions with back-references in a given range.
//!
//! Failed states are memoised with the groups that they may depend on, so that each state is visited once.

use super::dissect::Groups;
use super::error::TooComplex;
use super::node::Assertion;
use super::program::Instruction;
use super::simulate::{Simulation, holds};
use std::collections::HashSet;
use std::ops::Range;

/// The cost of a choice in steps, which bounds the memory of the memo table.
const STEPS_PER_CHOICE: u64 = 400;

/// Returns the groups of a match of exactly `span`, with a preference for longer loops and earlier alternatives.
pub fn backtrack(
    simulation: &mut Simulation,
    span: Range<usize>,
) -> Result<Option<Groups>, TooComplex> {
    let program = simulation.program();
    let mut walk = Walk {
        starts: vec![None; program.expression.groups + 1],
        ends: vec![None; program.expression.groups + 1],
        passes: vec![None; program.slots],
        undo: Vec::new(),
    };
    let mut failed = HashSet::new();
    let mut position = Some((0, span.start));
    while let Some((pc, at)) = position {
        simulation.spend(1)?;
        if pc == program.code.len() {
            if at == span.end {
                return Ok(Some(walk.groups(span)));
            }
            position = walk.back();
            continue;
        }
        let is_choice = matches!(
            program.code[pc],
            Instruction::Split(..) | Instruction::LoopBack { .. }
        );
        if is_choice {
            simulation.spend(STEPS_PER_CHOICE)?;
            if !failed.insert((pc, at, walk.dependencies(&program.expression.referenced))) {
                position = walk.back();
                continue;
            }
        }
        position = match walk.step(&program.code[pc], pc, at, simulation.text(), span.end) {
            Some(next) => Some(next),
            None => walk.back(),
        };
    }
    Ok(None)
}

enum Undo {
    GoTo {
        pc: usize,
        at: usize,
    },
    /// As `GoTo`, at the exit of a loop.
    Leave {
        pc: usize,
        at: usize,
        slot: Option<usize>,
    },
    Start {
        group: usize,
        old: Option<usize>,
    },
    End {
        group: usize,
        old: Option<usize>,
    },
    Pass {
        slot: usize,
        old: Option<usize>,
    },
}

struct Walk {
    starts: Vec<Option<usize>>,
    ends: Vec<Option<usize>>,
    /// The start of the current iteration of each loop.
    passes: Vec<Option<usize>>,
    undo: Vec<Undo>,
}

impl Walk {
    /// Backtracks to the last choice with a remaining alternative.
    fn back(&mut self) -> Option<(usize, usize)> {
        loop {
            match self.undo.pop()? {
                Undo::GoTo { pc, at } => return Some((pc, at)),
                Undo::Leave { pc, at, slot } => {
                    self.begin_pass(slot, None);
                    return Some((pc, at));
                }
                Undo::Start { group, old } => self.starts[group] = old,
                Undo::End { group, old } => self.ends[group] = old,
                Undo::Pass { slot, old } => self.passes[slot] = old,
            }
        }
    }

    /// Loops that are not active have no iteration, because it would distinguish equal states in the memo table.
    fn begin_pass(&mut self, slot: Option<usize>, at: Option<usize>) {
        if let Some(slot) = slot {
            self.undo.push(Undo::Pass {
                slot,
                old: std::mem::replace(&mut self.passes[slot], at),
            });
        }
    }

    /// Returns everything besides the position that the rest of a match can depend on.
    fn dependencies(&self, referenced: &[usize]) -> Box<[Option<usize>]> {
        let groups = referenced
            .iter()
            .flat_map(|&group| [self.starts[group], self.ends[group]]);
        groups.chain(self.passes.iter().copied()).collect()
    }

    fn step(
        &mut self,
        instruction: &Instruction,
        pc: usize,
        at: usize,
        text: &[u8],
        end: usize,
    ) -> Option<(usize, usize)> {
        let byte = (at < end).then(|| text[at]);
        match *instruction {
            Instruction::Byte(wanted) => (byte == Some(wanted)).then_some((pc + 1, at + 1)),
            Instruction::Set(set) => byte
                .is_some_and(|byte| set.contains(byte))
                .then_some((pc + 1, at + 1)),
            // LLVM's matcher does not start a line after the last newline of the text.
            Instruction::Assert(Assertion::LineStart) if at > 0 && at == text.len() => None,
            Instruction::Assert(assertion) => holds(assertion, text, at).then_some((pc + 1, at)),
            Instruction::Open(group) => {
                self.undo.push(Undo::Start {
                    group,
                    old: self.starts[group].replace(at),
                });
                Some((pc + 1, at))
            }
            Instruction::Close(group) => {
                self.undo.push(Undo::End {
                    group,
                    old: self.ends[group].replace(at),
                });
                Some((pc + 1, at))
            }
            Instruction::Split(first, second) => {
                self.undo.push(Undo::GoTo { pc: second, at });
                Some((first, at))
            }
            Instruction::Jump(target) => Some((target, at)),
            Instruction::LoopEnter { slot } => {
                self.begin_pass(slot, Some(at));
                Some((pc + 1, at))
            }
            Instruction::LoopBack { body, slot } => {
                let took_nothing = slot.is_some_and(|slot| self.passes[slot] == Some(at));
                if took_nothing {
                    self.begin_pass(slot, None);
                    return Some((pc + 1, at));
                }
                self.undo.push(Undo::Leave {
                    pc: pc + 1,
                    at,
                    slot,
                });
                self.begin_pass(slot, Some(at));
                Some((body, at))
            }
            Instruction::Reference { group, resume } => {
                let matched =
                    &text[self.starts[group]?..self.ends[group]?.max(self.starts[group]?)];
                text[at..end]
                    .starts_with(matched)
                    .then_some((resume, at + matched.len()))
            }
        }
    }

    fn groups(&self, span: Range<usize>) -> Groups {
        let borders = self.starts.iter().zip(&self.ends);
        let mut groups: Groups = borders
            .map(|(start, end)| Some((*start)?..(*end)?.max((*start)?)))
            .collect();
        groups[0] = Some(span);
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Syntax, parse};
    use super::super::program::Program;
    use super::*;

    fn group(source: &str, text: &str) -> Option<Range<usize>> {
        let program = Program::new(parse(source.as_bytes(), Syntax::default()).expect("valid"));
        let mut simulation = Simulation::new(&program, text.as_bytes());
        backtrack(&mut simulation, 0..text.len())
            .expect("short")
            .and_then(|groups| groups[1].clone())
    }

    #[test]
    fn references_repeat_the_text() {
        assert_eq!(group("(a*)b\\1", "aabaa"), Some(0..2));
        assert_eq!(group("(a*)b\\1", "aaba"), None);
        assert_eq!(group("(a|ab)c?\\1", "abab"), Some(0..2));
    }

    #[test]
    fn many_stars_end() {
        let source = "(a*)*(a*)*(a*)*(a*)*b\\1";
        let program = Program::new(parse(source.as_bytes(), Syntax::default()).expect("valid"));
        let text = [b'a'; 30];
        let outcome = backtrack(&mut Simulation::new(&program, &text), 0..30);
        assert!(matches!(outcome, Ok(None) | Err(TooComplex)));
    }
}
