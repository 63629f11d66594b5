//! Submatch extraction for a known match, in expressions without back-references.
//!
//! From left to right, each part of a sequence matches as much as the following parts allow; the first alternative that
//! fits is taken; a loop reports its last iteration.

use super::error::TooComplex;
use super::node::{Node, NodeKind};
use super::program::code_of;
use super::simulate::Simulation;
use std::ops::Range;

/// The range of each group, by number; group 0 is the whole match.
pub type Groups = Vec<Option<Range<usize>>>;

/// Returns the groups of the program's match at `span`.
pub fn dissect(simulation: &mut Simulation, span: Range<usize>) -> Result<Groups, TooComplex> {
    let expression = &simulation.program().expression;
    let mut groups = vec![None; expression.groups + 1];
    groups[0] = Some(span.clone());
    Dissection {
        simulation,
        groups: &mut groups,
    }
    .sequence(&expression.sequence, span)?;
    Ok(groups)
}

struct Dissection<'s, 'a, 'g> {
    simulation: &'s mut Simulation<'a>,
    groups: &'g mut Groups,
}

impl Dissection<'_, '_, '_> {
    fn sequence(&mut self, nodes: &[Node], span: Range<usize>) -> Result<(), TooComplex> {
        let mut at = span.start;
        for (i, node) in nodes.iter().enumerate() {
            match &node.kind {
                NodeKind::Byte(_) | NodeKind::Set(_) => at = span.end.min(at + 1),
                NodeKind::Assert(_) | NodeKind::Reference { .. } => {}
                NodeKind::Open(group) => self.groups[*group] = Some(at..at),
                NodeKind::Close(group) => {
                    if let Some(range) = &mut self.groups[*group] {
                        range.end = at;
                    }
                }
                NodeKind::Either(branches) => {
                    let taken = at..self.end_of(node, &nodes[i + 1..], at, span.end)?;
                    self.first_fitting(branches, taken.clone())?;
                    at = taken.end;
                }
                NodeKind::Plus(body) | NodeKind::Star(body) => {
                    let taken = at..self.end_of(node, &nodes[i + 1..], at, span.end)?;
                    self.last_pass(body, taken.clone())?;
                    at = taken.end;
                }
            }
        }
        Ok(())
    }

    /// Returns the largest end of `node` from `at` for which `rest` still matches up to `end`.
    fn end_of(
        &mut self,
        node: &Node,
        rest: &[Node],
        at: usize,
        end: usize,
    ) -> Result<usize, TooComplex> {
        if rest.is_empty() {
            return Ok(end);
        }
        let ends = self.simulation.ends(node.code.clone(), at, end)?;
        let found = self.simulation.latest_start(code_of(rest), &ends, end)?;
        Ok(found.unwrap_or(at))
    }

    fn first_fitting(
        &mut self,
        branches: &[Vec<Node>],
        span: Range<usize>,
    ) -> Result<(), TooComplex> {
        for branch in branches {
            let ends = self
                .simulation
                .ends(code_of(branch), span.start, span.end)?;
            if ends.last() == Some(&span.end) {
                return self.sequence(branch, span);
            }
        }
        Ok(())
    }

    fn last_pass(&mut self, body: &[Node], span: Range<usize>) -> Result<(), TooComplex> {
        let mut last = None;
        let mut from = span.start;
        while let Some(&to) = self.simulation.ends(code_of(body), from, span.end)?.last() {
            last = Some(from..to);
            if to == from {
                break;
            }
            from = to;
        }
        last.map_or(Ok(()), |pass| self.sequence(body, pass))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Syntax, parse};
    use super::super::program::Program;
    use super::*;

    fn groups(source: &str, text: &str) -> Vec<Option<String>> {
        let program = Program::new(parse(source.as_bytes(), Syntax::default()).expect("valid"));
        let mut simulation = Simulation::new(&program, text.as_bytes());
        let span = simulation
            .leftmost_longest(0)
            .expect("short")
            .expect("matches");
        let groups = dissect(&mut simulation, span).expect("short");
        groups
            .into_iter()
            .map(|group| group.map(|range| text[range].to_owned()))
            .collect()
    }

    #[test]
    fn the_left_part_takes_most() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            groups("(a*)(a*)", "aaa"),
            [some("aaa"), some("aaa"), some("")]
        );
        assert_eq!(
            groups("(.*)b(.*)", "abcbd"),
            [some("abcbd"), some("abc"), some("d")]
        );
        assert_eq!(
            groups("(a|ab)(c|bcd)(d*)", "abcd"),
            [some("abcd"), some("ab"), some("c"), some("d")]
        );
    }

    #[test]
    fn a_loop_reports_its_last_pass() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(groups("((a)|b)*", "ab"), [some("ab"), some("b"), None]);
        assert_eq!(groups("(a*)+", "aa"), [some("aa"), some("")]);
        assert_eq!(groups("(a){1,3}", "aa"), [some("aa"), some("a")]);
    }
}
