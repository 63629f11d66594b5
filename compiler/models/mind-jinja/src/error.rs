//! Errors of templates.

use std::fmt;
use std::ops::Range;

/// A byte range of a template.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// Returns the range from the start of `self` to the end of `other`.
    pub(crate) fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end.max(self.start),
        }
    }
}

/// An error of a template, with its range in the template if that is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    message: String,
    span: Option<Span>,
}

/// A value or an error of the template.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an error without a range. The evaluator adds that of the failing expression, because functions and
    /// filters do not know it.
    pub fn new(message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            span: None,
        }
    }

    pub(crate) fn at(span: Span, message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            span: Some(span),
        }
    }

    /// Sets the range to `span` unless the error has one already.
    pub(crate) fn or_at(mut self, span: Span) -> Error {
        self.span.get_or_insert(span);
        self
    }

    /// Maps both ends of the range by `place`.
    pub(crate) fn map_span(mut self, place: impl Fn(u32) -> u32) -> Error {
        self.span = self.span.map(|own| Span {
            start: place(own.start),
            end: place(own.end),
        });
        self
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns its byte range in the template.
    pub fn range(&self) -> Option<Range<usize>> {
        let span = self.span?;
        Some(span.start as usize..span.end as usize)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
