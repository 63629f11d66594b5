//! Jinja templates with the values of Python: the part of jinja2 that chat templates of models are written in.
//!
//! A template is rendered as `jinja2.sandbox.ImmutableSandboxedEnvironment` does with `trim_blocks`, `lstrip_blocks`, the
//! extension `loopcontrols` and the tag `generation`, without a loader and without autoescape. Lists and dictionaries are
//! immutable there, so that values hold no cycles. Integers have 64 bits; an overflow is an error.
//!
//! Steps, nesting and the length of texts have limits, so that every template ends in a text or an error.

mod arguments;
mod ast;
mod error;
mod eval;
mod filters;
mod format;
mod globals;
mod json;
mod lexer;
mod methods;
mod number;
mod operators;
mod parse;
mod show;
mod sort;
mod tests;
mod unicode;
mod value;
mod views;

pub use arguments::{Arguments, text as text_argument};
pub use error::{Error, Result};
pub use value::{Dict, Function, Object, Value};

/// How deeply expressions, statements and values are nested at most.
pub(crate) const MAX_DEPTH: usize = 64;

/// The most bytes of a text.
const MAX_LENGTH: usize = 32 << 20;

/// # Errors
///
/// A text that would have more bytes than texts may have.
pub(crate) fn check_length(bytes: usize) -> Result<()> {
    match bytes <= MAX_LENGTH {
        true => Ok(()),
        false => Err(Error::new(format!(
            "a text has more than {MAX_LENGTH} bytes"
        ))),
    }
}

/// A template that was read.
pub struct Template {
    parsed: parse::Parsed,
    lines: Lines,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// Errors if the text is not a template; the error has its place.
    pub fn parse(source: &str) -> Result<Template> {
        let (text, lines) = Lines::normalise(source);
        if u32::try_from(text.len()).is_err() {
            return Err(Error::new("the template has more than 4 GiB"));
        }
        match parse::parse(&text) {
            Ok(parsed) => Ok(Template { parsed, lines }),
            Err(why) => Err(why.map_span(|at| lines.source(at))),
        }
    }

    /// The text that the template makes of variables, in `steps` at most: of evaluation, and of 64 bytes of texts.
    ///
    /// # Errors
    ///
    /// An error in the template, at its place; a limit.
    pub fn render(&self, variables: Vec<(&str, Value)>, steps: u64) -> Result<String> {
        let rendered = eval::render(&self.parsed, variables, steps);
        rendered.map_err(|why| why.map_span(|at| self.lines.source(at)))
    }
}

/// The lines of a source whose line ends may be those of Windows, which templates read as `\n`.
struct Lines {
    /// Offsets in the normalised text after which a `\r` was removed.
    removed: Vec<u32>,
}

impl Lines {
    /// The text that is read: line ends are `\n`, and the last one is left out.
    fn normalise(source: &str) -> (String, Lines) {
        let mut text = String::with_capacity(source.len());
        let mut removed = Vec::new();
        let mut rest = source;
        while let Some(at) = rest.find('\r') {
            text.push_str(&rest[..at]);
            text.push('\n');
            rest = &rest[at + 1..];
            if let Some(more) = rest.strip_prefix('\n') {
                removed.push(text.len() as u32);
                rest = more;
            }
        }
        text.push_str(rest);
        if text.ends_with('\n') {
            text.pop();
        }
        (text, Lines { removed })
    }

    /// The offset in the source of one in the text that is read.
    fn source(&self, at: u32) -> u32 {
        at + self.removed.partition_point(|own| *own <= at) as u32
    }
}
