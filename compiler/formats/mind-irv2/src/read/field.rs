//! Reads object members, and reports errors.

use mind_diag::{Code, Diagnostic, Diagnostics, Severity, Span};
use mind_json::{Member, Value};

use super::ReadOptions;
use crate::codes;

/// The diagnostics found so far, and options.
pub(crate) struct Reader {
    pub(crate) found: Diagnostics,
    options: ReadOptions,
    /// The documentation page that lists the keys.
    page: &'static str,
}

impl Reader {
    pub(crate) fn new(options: &ReadOptions) -> Reader {
        Reader {
            found: Diagnostics::new(),
            options: *options,
            page: "docs/formats/irv2.md",
        }
    }

    /// Creates a reader of a file of a family.
    pub(crate) fn of_family() -> Reader {
        Reader {
            page: "docs/add-a-family.md",
            ..Reader::new(&ReadOptions::default())
        }
    }

    /// Returns the texts of the array at `key`; empty if it is absent or `null`.
    pub(crate) fn texts(&mut self, object: &Value, key: &str) -> Vec<String> {
        let Some(value) = present(object, key) else {
            return Vec::new();
        };
        let texts = value.elements().map(|all| all.iter().map(Value::text));
        let texts: Option<Vec<&str>> = texts.and_then(Iterator::collect);
        let Some(texts) = texts else {
            self.wrong(key, value, "an array of texts");
            return Vec::new();
        };
        texts.into_iter().map(str::to_owned).collect()
    }

    /// Adds an error.
    pub(crate) fn push(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.found.push(Diagnostic::error(span, message).code(code));
    }

    /// Adds an error with a help text.
    pub(crate) fn push_with_help(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.found
            .push(Diagnostic::error(span, message).code(code).help(help));
    }

    /// Returns the value of `key`; reports an error if it is absent.
    pub(crate) fn required<'v>(&mut self, object: &'v Value, key: &str) -> Option<&'v Value> {
        let value = object.get(key);
        if value.is_none() {
            self.push(codes::MISSING, object.span, format!("`{key}` is missing"));
        }
        value
    }

    /// Reports that `value`, found at `key`, is not `expected`.
    pub(crate) fn wrong(&mut self, key: &str, value: &Value, expected: &str) {
        let message = format!("`{key}` is {}, expected {expected}", value.describe());
        self.push(codes::KIND, value.span, message);
    }

    /// Returns the elements of the array at `key`; reports an error if it is absent.
    pub(crate) fn list<'v>(&mut self, object: &'v Value, key: &str) -> &'v [Value] {
        let Some(value) = self.required(object, key) else {
            return &[];
        };
        value.elements().unwrap_or_else(|| {
            self.wrong(key, value, "an array");
            &[]
        })
    }

    /// Returns the text at `key`; reports an error if it is absent.
    pub(crate) fn text<'v>(&mut self, object: &'v Value, key: &str) -> Option<(&'v str, Span)> {
        let value = self.required(object, key)?;
        self.as_text(key, value)
    }

    /// Returns the text at `key`; `None` if it is absent or `null`.
    pub(crate) fn maybe_text<'v>(
        &mut self,
        object: &'v Value,
        key: &str,
    ) -> Option<(&'v str, Span)> {
        let value = present(object, key)?;
        self.as_text(key, value)
    }

    fn as_text<'v>(&mut self, key: &str, value: &'v Value) -> Option<(&'v str, Span)> {
        let text = value.text();
        if text.is_none() {
            self.wrong(key, value, "a text");
        }
        text.map(|text| (text, value.span))
    }

    /// Returns the boolean at `key`, which may also be the number 0 or 1; `None` if it is absent or `null`.
    pub(crate) fn maybe_truth(&mut self, object: &Value, key: &str) -> Option<bool> {
        let value = present(object, key)?;
        let truth = match value.integer() {
            Some(number @ 0..=1) => Some(number == 1),
            _ => value.truth(),
        };
        if truth.is_none() {
            self.wrong(key, value, "true or false");
        }
        truth
    }

    /// Adds a note about a member that is dropped.
    pub(crate) fn note(&mut self, span: Span, message: String) {
        self.found
            .push(Diagnostic::new(Severity::Note, span, message));
    }

    /// Returns a non-negative integer that fits into `usize`.
    pub(crate) fn natural(&mut self, key: &str, value: &Value) -> Option<usize> {
        let natural = value
            .integer()
            .and_then(|number| usize::try_from(number).ok());
        if natural.is_none() {
            self.wrong(key, value, "a whole number that is not negative");
        }
        natural
    }

    /// Returns the members of `object` that are not in `known`. They are errors unless the options allow them.
    pub(crate) fn foreign(&mut self, object: &Value, known: &[&str]) -> Vec<Member> {
        let members = object.members().unwrap_or_default().iter();
        let unknown: Vec<Member> = members
            .filter(|member| !known.contains(&member.key.as_str()))
            .cloned()
            .collect();
        let allowed = self.options.allow_unknown;
        let severity = if allowed {
            Severity::Warning
        } else {
            Severity::Error
        };
        for member in &unknown {
            let message = format!("the format has no key `{}` here", shown(&member.key));
            let found =
                Diagnostic::new(severity, member.key_span, message).code(codes::UNKNOWN_KEY);
            let help = match self.options.unknown_flag {
                Some(flag) => format!("`{flag}` accepts keys of other tools"),
                None => format!("{} lists the keys; remove this one", self.page),
            };
            self.found
                .push(if allowed { found } else { found.help(help) });
        }
        unknown
    }
}

/// Returns the value of `key`; `None` if it is absent or `null`.
pub(crate) fn present<'v>(object: &'v Value, key: &str) -> Option<&'v Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// Returns a name of a document, shortened for messages.
pub(crate) fn shown(name: &str) -> String {
    const SHOWN: usize = 60;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Returns the location of the value of `key`, or of `object` if it is absent.
pub(crate) fn span_of(object: &Value, key: &str) -> Span {
    object.get(key).map_or(object.span, |value| value.span)
}
