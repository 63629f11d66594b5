//! Members of objects, with what is wrong with them.

use mind_diag::{Code, Diagnostic, Diagnostics, Severity, Span};
use mind_json::{Member, Value};

use super::ReadOptions;
use crate::codes;

/// What has been found so far.
pub(crate) struct Reader {
    pub(crate) found: Diagnostics,
    options: ReadOptions,
    /// Where the documentation lists the keys.
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

    /// A reader of a file of a family.
    pub(crate) fn of_family() -> Reader {
        Reader {
            page: "docs/add-a-family.md",
            ..Reader::new(&ReadOptions::default())
        }
    }

    /// The texts of the array at `key`; none if it is absent or `null`.
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

    /// Adds an error with a way out.
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

    /// The value of `key`, whose absence is an error.
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

    /// The elements of the array at `key`, which must be there.
    pub(crate) fn list<'v>(&mut self, object: &'v Value, key: &str) -> &'v [Value] {
        let Some(value) = self.required(object, key) else {
            return &[];
        };
        value.elements().unwrap_or_else(|| {
            self.wrong(key, value, "an array");
            &[]
        })
    }

    /// The text at `key`, which must be there.
    pub(crate) fn text<'v>(&mut self, object: &'v Value, key: &str) -> Option<(&'v str, Span)> {
        let value = self.required(object, key)?;
        self.as_text(key, value)
    }

    /// The text at `key`; `None` if it is absent or `null`.
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

    /// The truth value at `key`, which numbers 0 and 1 are too; `None` if it is absent or `null`.
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

    /// Notes a member that is read and then dropped.
    pub(crate) fn note(&mut self, span: Span, message: String) {
        self.found
            .push(Diagnostic::new(Severity::Note, span, message));
    }

    /// A number without sign and fraction that fits.
    pub(crate) fn natural(&mut self, key: &str, value: &Value) -> Option<usize> {
        let natural = value
            .integer()
            .and_then(|number| usize::try_from(number).ok());
        if natural.is_none() {
            self.wrong(key, value, "a whole number that is not negative");
        }
        natural
    }

    /// Members of `object` that are not among `known`: kept where that is allowed, else reported.
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

/// The value of `key`; `None` if it is absent or `null`.
pub(crate) fn present<'v>(object: &'v Value, key: &str) -> Option<&'v Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// A name of a document, short enough for a message.
pub(crate) fn shown(name: &str) -> String {
    const SHOWN: usize = 60;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// The place of the value of `key`, or of all of `object`.
pub(crate) fn span_of(object: &Value, key: &str) -> Span {
    object.get(key).map_or(object.span, |value| value.span)
}
