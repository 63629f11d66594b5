//! Simulation of a program by a set of threads, in time O(program × text).
//!
//! Back-references match the shape of their group, so the result is an over-approximation for expressions with them.
//!
//! Assertions behave as in LLVM's matcher: at each position line assertions are checked before word assertions, so for
//! example `[[:>:]]$` never matches. In small expressions a thread passes at most as many assertions as the source has,
//! so `${2}` never matches either.

use super::error::TooComplex;
use super::node::Assertion;
use super::program::{Instruction, Program};
use crate::bytes;
use std::ops::Range;

/// The maximal number of steps of a search.
pub const MAX_STEPS: u64 = 400_000_000;

/// Returns whether `assertion` holds in `text` at `at`.
pub fn holds(assertion: Assertion, text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|i| text[i]);
    let after = text.get(at).copied();
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    match assertion {
        Assertion::LineStart => matches!(before, None | Some(b'\n')),
        Assertion::LineEnd => matches!(after, None | Some(b'\n')),
        Assertion::WordStart => !is_word(before) && is_word(after),
        Assertion::WordEnd => is_word(before) && !is_word(after),
    }
}

#[derive(Clone, Copy)]
struct Thread {
    pc: usize,
    start: usize,
}

/// The preference among threads that reach the same instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    EarliestStart,
    LatestStart,
}

impl Order {
    fn prefers(self, start: usize, other: usize) -> bool {
        match self {
            Order::EarliestStart => start < other,
            Order::LatestStart => start > other,
        }
    }
}

/// The goal of a search.
#[derive(Clone)]
struct Goal {
    code: Range<usize>,
    order: Order,
}

/// The state of a search in one text.
pub struct Simulation<'a> {
    program: &'a Program,
    text: &'a [u8],
    steps: u64,
    threads: Vec<Thread>,
    arrivals: Vec<Thread>,
    /// For each instruction, the last round in which it was reached, and the start of that thread.
    reached: Vec<(u64, usize)>,
    round: u64,
    pending: Vec<usize>,
}

impl<'a> Simulation<'a> {
    /// Creates a search for `program` in `text`, with [`MAX_STEPS`] remaining steps.
    pub fn new(program: &'a Program, text: &'a [u8]) -> Simulation<'a> {
        let reached = vec![(0, 0); program.code.len() + 1];
        Simulation {
            program,
            text,
            steps: 0,
            threads: Vec::new(),
            arrivals: Vec::new(),
            reached,
            round: 0,
            pending: Vec::new(),
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// Returns the text.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Counts `steps` towards the limit.
    pub fn spend(&mut self, steps: u64) -> Result<(), TooComplex> {
        self.steps += steps;
        if self.steps > MAX_STEPS {
            Err(TooComplex)
        } else {
            Ok(())
        }
    }

    /// Returns the leftmost match of the whole program that starts at `from` or later, and the longest of several.
    pub fn leftmost_longest(&mut self, from: usize) -> Result<Option<Range<usize>>, TooComplex> {
        let goal = Goal {
            code: self.program.whole(),
            order: Order::EarliestStart,
        };
        let mut best: Option<Range<usize>> = None;
        let mut at = from;
        self.threads.clear();
        loop {
            if self.threads.is_empty() {
                if best.is_some() {
                    break;
                }
                match bytes::find(&self.text[at..], &self.program.prefix) {
                    Some(skipped) => at += skipped,
                    None => break,
                }
            }
            if let Some(start) = self.arrive(&goal, at, best.is_none())? {
                self.threads.retain(|thread| thread.start <= start);
                best = Some(start..at);
            }
            if at == self.text.len() {
                break;
            }
            at += 1;
        }
        Ok(best)
    }

    /// Returns the ends of the matches of `code` that start at `from`, up to `limit`, in ascending order.
    pub fn ends(
        &mut self,
        code: Range<usize>,
        from: usize,
        limit: usize,
    ) -> Result<Vec<usize>, TooComplex> {
        let goal = Goal {
            code,
            order: Order::EarliestStart,
        };
        let mut ends = Vec::new();
        self.threads.clear();
        for at in from..=limit {
            if self.arrive(&goal, at, at == from)?.is_some() {
                ends.push(at);
            }
            if self.threads.is_empty() {
                break;
            }
        }
        Ok(ends)
    }

    /// Returns the last of `candidates` (ascending) from which `code` matches exactly up to `limit`.
    pub fn latest_start(
        &mut self,
        code: Range<usize>,
        candidates: &[usize],
        limit: usize,
    ) -> Result<Option<usize>, TooComplex> {
        let Some(&first) = candidates.first() else {
            return Ok(None);
        };
        let goal = Goal {
            code,
            order: Order::LatestStart,
        };
        let mut found = None;
        self.threads.clear();
        for at in first..=limit {
            let is_candidate = candidates.binary_search(&at).is_ok();
            found = if self.threads.is_empty() && !is_candidate {
                None
            } else {
                self.arrive(&goal, at, is_candidate)?
            };
        }
        Ok(found)
    }

    /// Consumes the byte before `at`, and follows all steps that consume nothing; with `seed` a thread starts at `at`.
    ///
    /// Returns the start of the preferred thread that reached the end of the code, if any did.
    fn arrive(&mut self, goal: &Goal, at: usize, seed: bool) -> Result<Option<usize>, TooComplex> {
        self.round += 1;
        self.arrivals.clear();
        let threads = std::mem::take(&mut self.threads);
        self.spend(threads.len() as u64 + 1)?;
        let mut accepted = None;
        let started = Thread {
            pc: goal.code.start,
            start: at,
        };
        // Preferred threads go first, which only affects the speed.
        if seed && goal.order == Order::LatestStart {
            self.follow(goal, started, &mut accepted);
        }
        for &thread in &threads {
            let byte = self.text[at - 1];
            let takes = match self.program.code[thread.pc] {
                Instruction::Byte(wanted) => byte == wanted,
                Instruction::Set(set) => set.contains(byte),
                _ => false,
            };
            if takes {
                let moved = Thread {
                    pc: thread.pc + 1,
                    ..thread
                };
                self.follow(goal, moved, &mut accepted);
            }
        }
        if seed && goal.order == Order::EarliestStart {
            self.follow(goal, started, &mut accepted);
        }
        if self.program.has_assertions {
            self.pass_assertions(goal, at, &mut accepted);
        }
        self.spend(self.arrivals.len() as u64)?;
        self.threads = std::mem::replace(&mut self.arrivals, threads);
        Ok(accepted)
    }

    fn pass_assertions(&mut self, goal: &Goal, at: usize, accepted: &mut Option<usize>) {
        let expression = &self.program.expression;
        let text = self.text;
        let here = |assertion| holds(assertion, text, at);
        let mut limit = 0;
        limit += if here(Assertion::LineStart) {
            expression.line_starts
        } else {
            0
        };
        limit += if here(Assertion::LineEnd) {
            expression.line_ends
        } else {
            0
        };
        let limited = self.program.limits_assertions;
        let is_line = |assertion| matches!(assertion, Assertion::LineStart | Assertion::LineEnd);
        self.pass(
            goal,
            if limited { limit } else { usize::MAX },
            |it| is_line(it) && here(it),
            accepted,
        );
        self.pass(
            goal,
            if limited { 1 } else { usize::MAX },
            |it| !is_line(it) && here(it),
            accepted,
        );
    }

    /// Lets threads pass up to `limit` assertions that `hold`.
    fn pass(
        &mut self,
        goal: &Goal,
        limit: usize,
        hold: impl Fn(Assertion) -> bool,
        accepted: &mut Option<usize>,
    ) {
        let mut waiting = 0;
        for _ in 0..limit {
            let arrived = self.arrivals.len();
            if waiting == arrived {
                break;
            }
            for i in waiting..arrived {
                let thread = self.arrivals[i];
                if let Instruction::Assert(assertion) = self.program.code[thread.pc]
                    && hold(assertion)
                {
                    let passed = Thread {
                        pc: thread.pc + 1,
                        ..thread
                    };
                    self.follow(goal, passed, accepted);
                }
            }
            waiting = arrived;
        }
    }

    /// Follows the steps that consume nothing and have no assertion.
    fn follow(&mut self, goal: &Goal, thread: Thread, accepted: &mut Option<usize>) {
        self.pending.push(thread.pc);
        while let Some(pc) = self.pending.pop() {
            let (round, start) = self.reached[pc];
            if round == self.round && !goal.order.prefers(thread.start, start) {
                continue;
            }
            self.reached[pc] = (self.round, thread.start);
            if pc == goal.code.end {
                *accepted = Some(thread.start);
                continue;
            }
            match self.program.code[pc] {
                Instruction::Byte(_) | Instruction::Set(_) | Instruction::Assert(_) => {
                    self.arrivals.push(Thread { pc, ..thread });
                }
                Instruction::Split(first, second) => self.pending.extend([second, first]),
                Instruction::Jump(target) => self.pending.push(target),
                Instruction::LoopBack { body, .. } => self.pending.extend([pc + 1, body]),
                Instruction::Open(_)
                | Instruction::Close(_)
                | Instruction::LoopEnter { .. }
                | Instruction::Reference { .. } => self.pending.push(pc + 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Syntax, parse};
    use super::*;

    fn program(source: &str) -> Program {
        Program::new(parse(source.as_bytes(), Syntax::default()).expect("valid"))
    }

    #[test]
    fn leftmost_then_longest() {
        let cases = [
            ("a|ab|abc", "xabcd", Some(1..4)),
            ("b|abc", "abc", Some(0..3)),
            ("ab|bcd", "abcd", Some(0..2)),
            ("x*", "aax", Some(0..0)),
            ("^b", "a\nb", Some(2..3)),
            ("a$", "ab\na\n", Some(3..4)),
            ("a.*b", "a\nb", None),
            ("a[[:space:]]b", "a\nb", Some(0..3)),
            ("[[:<:]]an[[:>:]]", "ban an", Some(4..6)),
            ("^[[:<:]]an", "an", Some(0..2)),
            ("an[[:>:]]$", "an", None),
            ("a${2}", "a", None),
            ("a$$", "a", Some(0..1)),
            ("(a[[:space:]]^)?b", "a\nb", Some(0..3)),
        ];
        for (source, text, expected) in cases {
            let program = program(source);
            let found = Simulation::new(&program, text.as_bytes()).leftmost_longest(0);
            assert_eq!(found, Ok(expected), "{source} in {text}");
        }
    }

    #[test]
    fn ends_and_starts() {
        let program = program("a*");
        let mut simulation = Simulation::new(&program, b"aaab");
        assert_eq!(simulation.ends(program.whole(), 0, 4), Ok(vec![0, 1, 2, 3]));
        assert_eq!(simulation.ends(program.whole(), 1, 2), Ok(vec![1, 2]));
        assert_eq!(
            simulation.latest_start(program.whole(), &[0, 1, 2], 3),
            Ok(Some(2))
        );
        assert_eq!(
            simulation.latest_start(program.whole(), &[0, 1, 2], 4),
            Ok(None)
        );
    }

    #[test]
    fn nested_loops_take_linear_time() {
        let program = program("((a*)*)*b");
        let text = vec![b'a'; 20_000];
        assert_eq!(
            Simulation::new(&program, &text).leftmost_longest(0),
            Ok(None)
        );
    }
}
