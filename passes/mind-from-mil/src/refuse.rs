//! Refused ops of a program.

use mind_convert::Refusal;
use mind_diag::{Diagnostics, Span};

/// The way out of an op without one of its own.
const INTERPRETED: &str =
    "`mind-run --engine=interp` runs the ops that MIL's own evaluation supports";

/// Refused ops with their places, by op and reason.
#[derive(Default)]
pub(crate) struct Refusals(Vec<(&'static str, Refusal, Vec<Span>)>);

impl Refusals {
    /// How many ops were refused.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(.., spans)| spans.len()).sum()
    }

    pub(crate) fn push(&mut self, name: &'static str, refusal: Refusal, span: Span) {
        let mut known = self.0.iter_mut();
        match known.find(|(own, why, _)| *own == name && *why == refusal) {
            Some((.., spans)) => spans.push(span),
            None => self.0.push((name, refusal, vec![span])),
        }
    }

    /// An error for each op and reason, at the first place; the last one names all ops at once where there are several.
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut names: Vec<&str> = Vec::new();
        for (name, ..) in &self.0 {
            if !names.contains(name) {
                names.push(name);
            }
        }
        let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        for (at, (name, refusal, spans)) in self.0.iter().enumerate() {
            let times = match spans.len() {
                1 => String::new(),
                count => format!(" ({count} times)"),
            };
            let message = format!("`{name}` is not imported{times}: {refusal}");
            let error = refusal.clone().or_help(INTERPRETED);
            let error = error.error(spans[0], message);
            let last = at + 1 == self.0.len() && all.len() > 1;
            found.push(if last {
                error.note(format!("not imported in all: {}", all.join(", ")))
            } else {
                error
            });
        }
        found
    }
}
