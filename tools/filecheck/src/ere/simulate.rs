//! Running a program as a set of threads, in time proportional to program times text.
//!
//! Back-references count as their group's shape here, so with them a result is only a bound.

use super::parse::Assertion;
use super::program::{Instruction, Program};
use crate::bytes;
use std::ops::Range;

/// A search took more steps than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooComplex;

/// The steps one search may take.
pub const MAX_STEPS: u64 = 400_000_000;

/// Whether `assertion` holds in `text` at `at`.
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

/// Which of the threads that meet at an instruction survives: the list is kept in that order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seed {
    None,
    /// A thread that starts here wins over older ones.
    First,
    /// Older threads win.
    Last,
}

/// The state of a search in one text.
pub struct Simulation<'a> {
    program: &'a Program,
    text: &'a [u8],
    steps: u64,
    threads: Vec<Thread>,
    arrivals: Vec<Thread>,
    /// The round in which an instruction was last reached.
    reached: Vec<u64>,
    round: u64,
    pending: Vec<usize>,
}

impl<'a> Simulation<'a> {
    /// A search for `program` in `text`, with all of [`MAX_STEPS`] left.
    pub fn new(program: &'a Program, text: &'a [u8]) -> Simulation<'a> {
        let reached = vec![0; program.code.len() + 1];
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

    /// The program searched for.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The text searched.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Counts `steps` against the limit.
    pub fn spend(&mut self, steps: u64) -> Result<(), TooComplex> {
        self.steps += steps;
        if self.steps > MAX_STEPS {
            Err(TooComplex)
        } else {
            Ok(())
        }
    }

    /// The leftmost match of the whole program that starts at `from` or later, and of those the longest.
    pub fn leftmost_longest(&mut self, from: usize) -> Result<Option<Range<usize>>, TooComplex> {
        let code = self.program.whole();
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
            let seed = if best.is_none() {
                Seed::Last
            } else {
                Seed::None
            };
            if let Some(start) = self.arrive(&code, at, seed)? {
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

    /// Where matches of `code` that start at `from` can end, up to `limit`, in ascending order.
    pub fn ends(
        &mut self,
        code: Range<usize>,
        from: usize,
        limit: usize,
    ) -> Result<Vec<usize>, TooComplex> {
        let mut ends = Vec::new();
        self.threads.clear();
        for at in from..=limit {
            let seed = if at == from { Seed::First } else { Seed::None };
            if self.arrive(&code, at, seed)?.is_some() {
                ends.push(at);
            }
            if self.threads.is_empty() {
                break;
            }
        }
        Ok(ends)
    }

    /// The last of `candidates` (ascending) from which `code` matches exactly up to `limit`.
    pub fn latest_start(
        &mut self,
        code: Range<usize>,
        candidates: &[usize],
        limit: usize,
    ) -> Result<Option<usize>, TooComplex> {
        let Some((&first, mut candidates)) = candidates
            .split_first()
            .map(|(first, _)| (first, candidates))
        else {
            return Ok(None);
        };
        let mut found = None;
        self.threads.clear();
        for at in first..=limit {
            let is_candidate = candidates.first() == Some(&at);
            candidates = if is_candidate {
                &candidates[1..]
            } else {
                candidates
            };
            if self.threads.is_empty() && !is_candidate {
                continue;
            }
            found = self.arrive(
                &code,
                at,
                if is_candidate {
                    Seed::First
                } else {
                    Seed::None
                },
            )?;
        }
        Ok(found)
    }

    /// Takes the byte before `at`, then all steps that take none.
    ///
    /// Returns the start of the preferred thread that reached the end of `code`, if any did.
    fn arrive(
        &mut self,
        code: &Range<usize>,
        at: usize,
        seed: Seed,
    ) -> Result<Option<usize>, TooComplex> {
        self.round += 1;
        self.arrivals.clear();
        let threads = std::mem::take(&mut self.threads);
        self.spend(threads.len() as u64 + 1)?;
        let mut accepted = None;
        if seed == Seed::First {
            self.follow(
                code,
                Thread {
                    pc: code.start,
                    start: at,
                },
                at,
                &mut accepted,
            );
        }
        for &thread in &threads {
            let byte = self.text[at - 1];
            let takes = match self.program.code[thread.pc] {
                Instruction::Byte(wanted) => byte == wanted,
                Instruction::Set(set) => set.contains(byte),
                _ => false,
            };
            if takes {
                self.follow(
                    code,
                    Thread {
                        pc: thread.pc + 1,
                        ..thread
                    },
                    at,
                    &mut accepted,
                );
            }
        }
        if seed == Seed::Last {
            self.follow(
                code,
                Thread {
                    pc: code.start,
                    start: at,
                },
                at,
                &mut accepted,
            );
        }
        self.spend(self.arrivals.len() as u64)?;
        self.threads = std::mem::replace(&mut self.arrivals, threads);
        Ok(accepted)
    }

    fn follow(
        &mut self,
        code: &Range<usize>,
        thread: Thread,
        at: usize,
        accepted: &mut Option<usize>,
    ) {
        self.pending.push(thread.pc);
        while let Some(pc) = self.pending.pop() {
            if std::mem::replace(&mut self.reached[pc], self.round) == self.round {
                continue;
            }
            if pc == code.end {
                accepted.get_or_insert(thread.start);
                continue;
            }
            match self.program.code[pc] {
                Instruction::Byte(_) | Instruction::Set(_) => {
                    self.arrivals.push(Thread { pc, ..thread })
                }
                Instruction::Assert(assertion) if !holds(assertion, self.text, at) => {}
                Instruction::Split(first, second) => self.pending.extend([second, first]),
                Instruction::Jump(target) => self.pending.push(target),
                Instruction::LoopBack { body, .. } => self.pending.extend([pc + 1, body]),
                Instruction::Assert(_)
                | Instruction::Open(_)
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
            ("x*", "aax", Some(0..0)),
            ("^b", "a\nb", Some(2..3)),
            ("a$", "ab\na\n", Some(3..4)),
            ("a.*b", "a\nb", None),
            ("a[[:space:]]b", "a\nb", Some(0..3)),
            ("[[:<:]]an[[:>:]]", "ban an", Some(4..6)),
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
