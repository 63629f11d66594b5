//! Errors on their way to diagnostics.

use mind_diag::{Diagnostic, Diagnostics, Fix, Span};

use crate::core::error::{Fault, SyntaxError};
use crate::core::labels::{Labels, State};

/// The errors found so far, in text order.
pub(super) struct Report {
    /// What is added to every offset.
    base: u32,
    kept: Vec<Diagnostic>,
    dropped: usize,
    /// Positions in `kept` of reads of ids that were not defined, with the id.
    forward: Vec<(usize, u64)>,
}

impl Report {
    /// No errors yet, in a text whose first byte lies at `base`.
    pub(super) fn new(base: u32) -> Report {
        Report {
            base,
            kept: Vec::new(),
            dropped: 0,
            forward: Vec::new(),
        }
    }

    /// The span of the bytes `start..end` of the text.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// Whether errors are still kept in full.
    pub(super) fn has_room(&self) -> bool {
        self.kept.len() < Diagnostics::KEPT
    }

    /// Whether there is no error.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Adds an error.
    pub(super) fn add(&mut self, fault: &Fault) {
        if !self.has_room() {
            self.dropped += 1;
            return;
        }
        let mut diagnostic = fault.error.diagnostic(self.span(fault.start, fault.end));
        if let Some((start, end)) = fault.earlier {
            diagnostic = diagnostic.related(self.span(start, end), "it is defined here");
        }
        if let Some(suggestion) = &fault.suggestion {
            diagnostic = diagnostic.help(suggestion.help.as_str());
            diagnostic.fix = None;
            if let Some((range, text)) = &suggestion.edit {
                diagnostic = diagnostic.fix(Fix {
                    span: self.span(range.start, range.end),
                    text: text.clone(),
                });
            }
        }
        if let SyntaxError::Undefined { label, .. } | SyntaxError::UndefinedOutput { label, .. } =
            fault.error
        {
            self.forward.push((self.kept.len(), label));
        }
        self.kept.push(diagnostic);
    }

    /// The errors as diagnostics; those about ids that are defined further down `text` say where.
    pub(super) fn finish(mut self, text: &str, labels: &Labels) -> Diagnostics {
        for (at, id) in std::mem::take(&mut self.forward) {
            if let Some(entry) = labels.get(id)
                && entry.state != State::Missing
            {
                let label = entry.label(id);
                let span = self.span(label.at, label.end(text));
                self.kept[at]
                    .related
                    .push((span, "it is defined here".to_owned()));
            }
        }
        let mut all = Diagnostics::new();
        self.kept.sort_by_key(|found| found.span.start);
        self.kept
            .into_iter()
            .for_each(|diagnostic| all.push(diagnostic));
        for _ in 0..self.dropped {
            all.push(Diagnostic::error(Span::FILE, String::new()));
        }
        all
    }
}
