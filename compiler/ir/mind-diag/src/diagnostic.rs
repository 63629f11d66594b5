//! Diagnostics and lists of them.

use std::fmt;

use crate::{Code, Span};

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input is rejected.
    Error,
    /// The input is accepted, but may be wrong.
    Warning,
    /// Additional information.
    Note,
    /// Information on an optimisation that was applied or was not.
    Remark,
}

impl Severity {
    /// Returns the word that users see.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Remark => "remark",
        }
    }
}

/// A text edit that fixes the problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// The replaced range; empty for an insertion.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// A diagnostic: a problem, its location and a suggestion for a fix.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The code; `None` for syntax errors.
    pub code: Option<Code>,
    /// The message, in lower case and without a final period.
    pub message: String,
    /// The location.
    pub span: Span,
    /// The label of the marked source range.
    pub label: Option<String>,
    /// The facts that the catalogue requires, as keys and values.
    pub context: Vec<(&'static str, String)>,
    /// Related locations, each with a message.
    pub related: Vec<(Span, String)>,
    /// Additional facts.
    pub notes: Vec<String>,
    /// A suggestion for a fix, more specific than that of the catalogue; see [`Diagnostic::way_out`].
    pub help: Option<String>,
    /// The fix, if it is a single edit.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// Returns a diagnostic with this severity and location.
    pub fn new(severity: Severity, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code: None,
            message: message.into(),
            span,
            label: None,
            context: Vec::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Returns an error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, span, message)
    }

    /// Sets the code.
    pub fn code(mut self, code: Code) -> Diagnostic {
        self.code = Some(code);
        self
    }

    /// Sets the label of the marked source range.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Adds a fact that the catalogue requires.
    pub fn context(mut self, key: &'static str, value: impl Into<String>) -> Diagnostic {
        self.context.push((key, value.into()));
        self
    }

    /// Adds a related location.
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.related.push((span, message.into()));
        self
    }

    /// Adds an additional fact.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Sets the suggestion. A long one is truncated, because it may quote the input.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        const LONGEST: usize = 400;
        let mut help = help.into();
        if let Some((cut, _)) = help.char_indices().nth(LONGEST) {
            help.truncate(cut);
            help.push_str(" ...");
        }
        self.help = Some(help);
        self
    }

    /// Suggests `word` in place of the marked word, as help and as a fix.
    pub fn did_you_mean(self, word: &str) -> Diagnostic {
        let fix = Fix {
            span: self.span,
            text: word.to_owned(),
        };
        self.help(format!("did you mean `{word}`?")).fix(fix)
    }

    /// Returns the suggestion that users see: that of the diagnostic, or else, for an error, that of the catalogue.
    pub fn way_out(&self) -> Option<&str> {
        let catalogue = || match self.severity {
            Severity::Error => self.code?.info().map(|info| info.help),
            Severity::Warning | Severity::Note | Severity::Remark => None,
        };
        self.help.as_deref().or_else(catalogue)
    }

    /// Sets the fix. A long one is ignored, because it may quote the input.
    pub fn fix(mut self, fix: Fix) -> Diagnostic {
        const LONGEST: usize = 400;
        self.fix = Some(fix).filter(|fix| fix.text.len() <= LONGEST);
        self
    }

    /// Returns the short form that the APIs of text formats return, for example `mic@2:6: error: message`.
    pub fn one_line(&self, format: &str, line: usize) -> String {
        format!(
            "{format}:{line}: {}: {}",
            self.severity.word(),
            self.message
        )
    }
}

/// A list of diagnostics in the order in which they were found.
///
/// Only the first [`Diagnostics::KEPT`] are kept, and the others are counted, so that malicious input cannot exhaust
/// the memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    dropped: usize,
    errors: usize,
}

impl Diagnostics {
    /// The maximum number of diagnostics that are kept.
    pub const KEPT: usize = 200;

    /// Returns an empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        if self.kept.len() < Diagnostics::KEPT {
            self.kept.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Whether any diagnostic is an error, including those that were not kept.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the number of errors, including those that were not kept.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the number of diagnostics that were not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Iterates over the kept diagnostics.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.kept.iter()
    }

    /// Returns the first error among the kept diagnostics.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.kept
            .iter()
            .find(|found| found.severity == Severity::Error)
    }

    /// Sorts the kept diagnostics by location. The sort is stable.
    pub fn sort_by_place(&mut self) {
        self.kept.sort_by_key(|found| found.span.start);
    }

    /// Applies `change` to each kept diagnostic.
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Diagnostics {
        self.kept = self.kept.into_iter().map(change).collect();
        self
    }

    /// Adds the diagnostics of `other`.
    pub fn append(&mut self, other: Diagnostics) {
        self.errors += other.errors;
        self.dropped += other.dropped;
        for diagnostic in other.kept {
            if self.kept.len() < Diagnostics::KEPT {
                self.kept.push(diagnostic);
            } else {
                self.dropped += 1;
            }
        }
    }
}

/// Prints one line per diagnostic, without its location, because that requires the source file.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, found) in self.kept.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(found.severity.word())?;
            if let Some(code) = found.code {
                write!(f, "[{code}]")?;
            }
            write!(f, ": {}", found.message)?;
        }
        if self.dropped > 0 {
            write!(f, "\nand {} more", self.dropped)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        let mut all = Diagnostics::new();
        all.push(diagnostic);
        all
    }
}
