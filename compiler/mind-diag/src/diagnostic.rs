//! One finding about a source text, and a collection of them.

use std::fmt;

use crate::{Code, Span};

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input is rejected.
    Error,
    /// The input is accepted, with doubt.
    Warning,
    /// Information attached to something else.
    Note,
    /// What an optimisation did or declined to do.
    Remark,
}

impl Severity {
    /// The word shown to users.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Remark => "remark",
        }
    }
}

/// An edit that follows the way out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What is replaced; empty where something is inserted.
    pub span: Span,
    /// What comes in its place.
    pub text: String,
}

/// One finding: what is wrong, where, and the way out.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The catalogue code; plain syntax errors have none.
    pub code: Option<Code>,
    /// What was found, lower case, without a final period.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands under the marked place.
    pub label: Option<String>,
    /// What the catalogue says must be shown, as key and value.
    pub context: Vec<(&'static str, String)>,
    /// Other places that matter.
    pub related: Vec<(Span, String)>,
    /// Further facts.
    pub notes: Vec<String>,
    /// A way out that this diagnostic knows; see [`Diagnostic::way_out`].
    pub help: Option<String>,
    /// The edit that the way out comes to, where it is one edit.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding of `severity` at `span`.
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

    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, span, message)
    }

    /// Sets the catalogue code.
    pub fn code(mut self, code: Code) -> Diagnostic {
        self.code = Some(code);
        self
    }

    /// Sets the text under the marked place.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Adds a key and value that the catalogue asks for.
    pub fn context(mut self, key: &'static str, value: impl Into<String>) -> Diagnostic {
        self.context.push((key, value.into()));
        self
    }

    /// Adds another place that matters.
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.related.push((span, message.into()));
        self
    }

    /// Adds a further fact.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Sets the way out. One that repeats a long piece of a text is cut.
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

    /// Sets the way out for a wrong word at the marked place: the right one is `word`.
    pub fn did_you_mean(self, word: &str) -> Diagnostic {
        let fix = Fix {
            span: self.span,
            text: word.to_owned(),
        };
        self.help(format!("did you mean `{word}`?")).fix(fix)
    }

    /// The way out that users see: the diagnostic's own, else the one that the catalogue has for the code of an error.
    pub fn way_out(&self) -> Option<&str> {
        let catalogue = || match self.severity {
            Severity::Error => self.code?.info().map(|info| info.help),
            Severity::Warning | Severity::Note | Severity::Remark => None,
        };
        self.help.as_deref().or_else(catalogue)
    }

    /// Sets the edit that the way out comes to, unless it repeats a long piece of a text.
    pub fn fix(mut self, fix: Fix) -> Diagnostic {
        const LONGEST: usize = 400;
        self.fix = Some(fix).filter(|fix| fix.text.len() <= LONGEST);
        self
    }

    /// The short form `mic@2:6: error: message` that the formats' APIs promise.
    pub fn one_line(&self, format: &str, line: usize) -> String {
        format!(
            "{format}:{line}: {}: {}",
            self.severity.word(),
            self.message
        )
    }
}

/// Findings in the order they were made.
///
/// Keeps the first [`Diagnostics::KEPT`] and counts the rest, so that hostile input costs no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    dropped: usize,
    errors: usize,
}

impl Diagnostics {
    /// How many findings are kept in full.
    pub const KEPT: usize = 200;

    /// An empty collection.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        if self.kept.len() < Diagnostics::KEPT {
            self.kept.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors were found, kept or not.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many findings were counted but not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// The findings kept.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.kept.iter()
    }

    /// The first error, if there is one.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.kept
            .iter()
            .find(|found| found.severity == Severity::Error)
    }

    /// Sorts the kept findings by place, keeping the order of those at one place.
    pub fn sort_by_place(&mut self) {
        self.kept.sort_by_key(|found| found.span.start);
    }

    /// The same findings, each kept one changed by `change`.
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Diagnostics {
        self.kept = self.kept.into_iter().map(change).collect();
        self
    }

    /// Takes all findings of `other`.
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

/// A line for each finding, without its place, which only the source file can show.
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
