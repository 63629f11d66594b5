//! Collects errors and turns them into diagnostics.

use mind_diag::{Diagnostic, Diagnostics, Fix, Span};

use crate::core::error::{Fault, SyntaxError};
use crate::core::labels::{LabelState, Labels};

/// The errors found so far.
pub(super) struct Report {
    /// Added to every offset.
    base: u32,
    kept: Vec<Diagnostic>,
    dropped: usize,
    /// Positions in `kept` of errors about undefined ids, each with the id.
    forward: Vec<(usize, u64)>,
}

impl Report {
    /// Creates an empty report, for a text whose first byte is at `base`.
    pub(super) fn new(base: u32) -> Report {
        Report {
            base,
            kept: Vec::new(),
            dropped: 0,
            forward: Vec::new(),
        }
    }

    /// Returns the span of the bytes `start..end` of the text.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// Returns whether further errors are kept, not only counted.
    pub(super) fn has_room(&self) -> bool {
        self.kept.len() < Diagnostics::KEPT
    }

    /// Returns whether no error was found.
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

    /// Returns the diagnostics in text order. Those about ids that are defined later in `text` refer to the definition.
    pub(super) fn finish(mut self, text: &str, labels: &Labels) -> Diagnostics {
        for (at, id) in std::mem::take(&mut self.forward) {
            if let Some(entry) = labels.get(id)
                && entry.state != LabelState::Missing
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
