//! Open documents.

use lsp_types::TextDocumentContentChangeEvent;
use mind_driver::session::Session;

use crate::analysis::Analysis;
use crate::language::Language;
use crate::position::LineIndex;

/// An open document with its analysis.
pub(crate) struct Document {
    pub(crate) version: i32,
    pub(crate) text: String,
    pub(crate) lines: LineIndex,
    hint: Language,
    /// `None` if the text has changed since it was analysed.
    analysis: Option<Analysis>,
    /// The last version that parsed, if the current one does not.
    good: Option<Good>,
    /// Whether the diagnostics have not been sent to the editor yet.
    unpublished: bool,
}

/// A version that parsed, with its analysis.
pub(crate) struct Good {
    pub(crate) text: String,
    pub(crate) analysis: Analysis,
}

impl Document {
    /// Creates a document that was opened.
    pub(crate) fn new(hint: Language, version: i32, text: String) -> Document {
        Document {
            version,
            lines: LineIndex::new(&text),
            text,
            hint,
            analysis: None,
            good: None,
            unpublished: true,
        }
    }

    /// Applies the editor's changes, in order.
    pub(crate) fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        self.keep_good();
        for change in changes {
            match change.range {
                Some(range) => {
                    let start = self.lines.offset(&self.text, range.start);
                    let end = self.lines.offset(&self.text, range.end).max(start);
                    self.text.replace_range(start..end, &change.text);
                }
                None => self.text = change.text,
            }
            self.lines = LineIndex::new(&self.text);
        }
        self.version = version;
        self.unpublished = true;
    }

    /// Invalidates the analysis, and keeps it as the last good one if its text parsed.
    fn keep_good(&mut self) {
        if let Some(analysis) = self.analysis.take()
            && analysis.reads
        {
            let text = self.text.clone();
            self.good = Some(Good { text, analysis });
        }
    }

    /// Analyses the text, if it has changed.
    pub(crate) fn analyse(&mut self, session: &Session) -> &Analysis {
        let (hint, text) = (self.hint, &self.text);
        let analysis = self
            .analysis
            .get_or_insert_with(|| Analysis::of(session, hint, text));
        if analysis.reads {
            self.good = None;
        }
        analysis
    }

    /// Returns the result of [`analyse`](Document::analyse).
    pub(crate) fn analysis(&self) -> Option<&Analysis> {
        self.analysis.as_ref()
    }

    /// Returns the last version that parsed, if the current one does not.
    pub(crate) fn good(&self) -> Option<&Good> {
        self.good.as_ref()
    }

    /// Returns whether the diagnostics still have to be sent, and marks them as sent.
    pub(crate) fn take_unpublished(&mut self) -> bool {
        std::mem::take(&mut self.unpublished)
    }
}
