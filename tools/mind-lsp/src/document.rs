//! A document that the editor has open.

use lsp_types::TextDocumentContentChangeEvent;
use mind_driver::session::Session;

use crate::analysis::Analysis;
use crate::language::Language;
use crate::position::LineIndex;

/// A document and what is known of it.
pub(crate) struct Document {
    pub(crate) version: i32,
    pub(crate) text: String,
    pub(crate) lines: LineIndex,
    hint: Language,
    /// `None` if the text has changed since it was read.
    analysis: Option<Analysis>,
    /// The last text that read, where this one does not.
    good: Option<Good>,
    /// Whether the editor has not been told yet what is wrong.
    unpublished: bool,
}

/// A text that read, with what was known of it.
pub(crate) struct Good {
    pub(crate) text: String,
    pub(crate) analysis: Analysis,
}

impl Document {
    /// A document that was opened.
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

    /// Makes the editor's changes, in order.
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

    /// Takes the analysis out of use, and keeps it where its text read.
    fn keep_good(&mut self) {
        if let Some(analysis) = self.analysis.take()
            && analysis.reads
        {
            let text = self.text.clone();
            self.good = Some(Good { text, analysis });
        }
    }

    /// Reads the text, if it has changed.
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

    /// What [`analyse`](Document::analyse) found.
    pub(crate) fn analysis(&self) -> Option<&Analysis> {
        self.analysis.as_ref()
    }

    /// The last text that read, where this one does not.
    pub(crate) fn good(&self) -> Option<&Good> {
        self.good.as_ref()
    }

    /// Whether the editor is still to be told what is wrong; it is then taken as told.
    pub(crate) fn take_unpublished(&mut self) -> bool {
        std::mem::take(&mut self.unpublished)
    }
}
