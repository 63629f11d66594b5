//! Matching the steps of a check file with the input.

use crate::check_file::Step;
use crate::directive::DirectiveKind;
use crate::options::Options;
use crate::pattern::{Pattern, Unusable};
use crate::variables::Variables;
use std::ops::Range;
use std::rc::Rc;

/// The outcome of one search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Found where it is expected.
    Matched(Range<usize>),
    /// Not found in `searched`; `nth` is the number of the failed repetition.
    Missing { searched: Range<usize>, nth: u32 },
    /// Found although it is excluded.
    Excluded(Range<usize>),
    /// Found, but `newlines` line breaks after the previous match, which ended at `from`.
    WrongLine {
        from: usize,
        found: Range<usize>,
        newlines: usize,
    },
    /// The pattern cannot be searched for.
    Unusable {
        searched: Range<usize>,
        reasons: Vec<String>,
    },
}

/// Callback for every search, with the values of variables at that time.
pub type Observer<'o> = dyn FnMut(&Pattern, &Outcome, &Variables) + 'o;

/// Returns whether `input` passes all of `steps`.
///
/// Labels split the input into blocks. The first failure ends its block, but the later blocks are still checked.
pub fn check(
    steps: &[Step],
    input: &[u8],
    options: &Options,
    variables: &mut Variables,
    observer: &mut Observer,
) -> bool {
    let mut matcher = Matcher {
        input,
        options,
        variables,
        observer,
    };
    let mut passed = true;
    let (mut first, mut rest) = (0, 0);
    loop {
        let label = steps[first..]
            .iter()
            .position(|step| step.pattern.kind == DirectiveKind::Label)
            .map(|label| first + label);
        let (last, region) = match label {
            None => (steps.len(), rest..input.len()),
            Some(label) => match matcher.find(&steps[label].pattern, rest..input.len(), 1) {
                Some(found) => (label + 1, rest..found.end),
                None => return false,
            },
        };
        if first > 0 && options.enable_var_scope {
            matcher.variables.clear_local();
        }
        passed &= matcher.block(&steps[first..last], region.clone());
        if label.is_none() {
            return passed;
        }
        (first, rest) = (last, region.end);
    }
}

struct Matcher<'a, 'o> {
    input: &'a [u8],
    options: &'a Options,
    variables: &'a mut Variables,
    observer: &'a mut Observer<'o>,
}

impl Matcher<'_, '_> {
    fn report(&mut self, pattern: &Pattern, outcome: &Outcome) {
        (self.observer)(pattern, outcome, self.variables);
    }

    fn search(
        &mut self,
        pattern: &Pattern,
        region: Range<usize>,
    ) -> Result<Option<Range<usize>>, Unusable> {
        let found = pattern.find(&self.input[region.clone()], self.variables)?;
        Ok(found.map(|found| region.start + found.start..region.start + found.end))
    }

    /// Returns the match of `pattern`, and reports an error if there is none. `nth` is the number of the repetition.
    fn find(&mut self, pattern: &Pattern, region: Range<usize>, nth: u32) -> Option<Range<usize>> {
        let outcome = match self.search(pattern, region.clone()) {
            Ok(Some(found)) => return Some(found),
            Ok(None) => Outcome::Missing {
                searched: region,
                nth,
            },
            Err(Unusable(reasons)) => Outcome::Unusable {
                searched: region,
                reasons,
            },
        };
        self.report(pattern, &outcome);
        None
    }

    fn block(&mut self, steps: &[Step], region: Range<usize>) -> bool {
        let mut at = region.start;
        for step in steps {
            match self.step(step, at..region.end) {
                Some(end) => at = end,
                None => return false,
            }
        }
        true
    }

    /// Matches one step. Returns the end of the match.
    fn step(&mut self, step: &Step, region: Range<usize>) -> Option<usize> {
        let (start, excluded) = self.groups(&step.before, region.clone())?;
        let found = self.repeated(&step.pattern, start..region.end)?;
        self.check_lines(&step.pattern, start, &found)?;
        self.exclude(&excluded, start..found.start)?;
        self.report(&step.pattern, &Outcome::Matched(found.clone()));
        Some(found.end)
    }

    fn repeated(&mut self, pattern: &Pattern, region: Range<usize>) -> Option<Range<usize>> {
        let first = self.find(pattern, region.clone(), 1)?;
        let mut end = first.end;
        let mut stuck = false;
        for nth in 2..=pattern.count {
            let found = self.find(pattern, end..region.end, nth)?;
            // A pattern that matches the empty string twice at the same offset would do so forever.
            if found.end == end && std::mem::replace(&mut stuck, true) {
                break;
            }
            end = found.end;
        }
        Some(first.start..end)
    }

    fn check_lines(&mut self, pattern: &Pattern, from: usize, found: &Range<usize>) -> Option<()> {
        let expected = match pattern.kind {
            DirectiveKind::Next | DirectiveKind::Empty => 1,
            DirectiveKind::Same => 0,
            DirectiveKind::Plain
            | DirectiveKind::Label
            | DirectiveKind::Not
            | DirectiveKind::Dag
            | DirectiveKind::End => return Some(()),
        };
        let newlines = count_newlines(&self.input[from..found.start]);
        if newlines == expected {
            return Some(());
        }
        self.report(
            pattern,
            &Outcome::WrongLine {
                from,
                found: found.clone(),
                newlines,
            },
        );
        None
    }

    /// Returns `None` if any of `excluded` occurs in `region`; all occurrences are reported.
    fn exclude(&mut self, excluded: &[Rc<Pattern>], region: Range<usize>) -> Option<()> {
        let mut passed = true;
        for pattern in excluded {
            let outcome = match self.search(pattern, region.clone()) {
                Ok(None) => continue,
                Ok(Some(found)) => Outcome::Excluded(found),
                Err(Unusable(reasons)) => Outcome::Unusable {
                    searched: region.clone(),
                    reasons,
                },
            };
            self.report(pattern, &outcome);
            passed = false;
        }
        passed.then_some(())
    }

    /// Matches the `-DAG` groups in `before`, and checks the `-NOT` directives before each.
    ///
    /// Returns the end of the last group and the `-NOT` directives after it.
    fn groups(
        &mut self,
        before: &[Rc<Pattern>],
        region: Range<usize>,
    ) -> Option<(usize, Vec<Rc<Pattern>>)> {
        let mut start = region.start;
        let mut excluded = Vec::new();
        for run in before.chunk_by(|a, b| a.kind == b.kind) {
            if run[0].kind == DirectiveKind::Not {
                excluded.extend(run.iter().cloned());
                continue;
            }
            let extent = self.group(run, start..region.end)?;
            self.exclude(&std::mem::take(&mut excluded), start..extent.start)?;
            start = extent.end;
        }
        Some((start, excluded))
    }

    /// Matches one group. Returns the range from its earliest match to the end of its last one.
    fn group(&mut self, patterns: &[Rc<Pattern>], region: Range<usize>) -> Option<Range<usize>> {
        // Sorted and disjoint.
        let mut taken: Vec<Range<usize>> = Vec::new();
        for pattern in patterns {
            let mut from = region.start;
            let mut next = 0;
            loop {
                let found = self.find(pattern, from..region.end, 1)?;
                if self.options.allow_dag_overlap {
                    // If overlaps are allowed, one range that covers all matches is enough, because matches are not
                    // compared with it.
                    let (start, end) = match taken.pop() {
                        None => (found.start, found.end),
                        Some(all) => (all.start.min(found.start), all.end.max(found.end)),
                    };
                    taken.push(start..end);
                    self.report(pattern, &Outcome::Matched(found));
                    break;
                }
                next += taken[next..]
                    .iter()
                    .take_while(|earlier| earlier.end <= found.start)
                    .count();
                match taken.get(next) {
                    Some(earlier) if earlier.start < found.end => {
                        from = earlier.end;
                        next += 1;
                    }
                    _ => {
                        taken.insert(next, found.clone());
                        self.report(pattern, &Outcome::Matched(found));
                        break;
                    }
                }
            }
        }
        Some(taken.first()?.start..taken.last()?.end)
    }
}

/// Returns the number of line breaks; CR LF and LF CR count as one.
fn count_newlines(text: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < text.len() {
        match text[at..] {
            [b'\n', b'\r', ..] | [b'\r', b'\n', ..] => {
                count += 1;
                at += 2;
            }
            [b'\n' | b'\r', ..] => {
                count += 1;
                at += 1;
            }
            _ => at += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_of_both_kinds() {
        assert_eq!(count_newlines(b"a\nb\r\nc\n\rd\re"), 4);
        assert_eq!(count_newlines(b"\n\n"), 2);
    }
}
