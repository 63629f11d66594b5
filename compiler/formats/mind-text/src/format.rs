//! Detects the format of a text; reads and writes each format by name.

use std::fmt;
use std::sync::{Arc, LazyLock};

use mind_diag::{Diagnostics, Span};
use mind_ir::Graph;
use mind_ir::opdef::{OpDef, Registry};

use crate::foreign::mlir_line;
use crate::limits::Limits;
use crate::source_map::SourceMap;
use crate::{core, mic1, mic2};

/// A text format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// mic@1.
    Mic1,
    /// mic@2.
    Mic2,
    /// Core text.
    Core,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 3] = [Format::Mic1, Format::Mic2, Format::Core];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Mic1 => "mic1",
            Format::Mic2 => "mic2",
            Format::Core => "core",
        }
    }

    /// Returns the format called `name`.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the prefix of the line number in the one-line form of an error, for example `mic@2` in `mic@2:6: error:
    /// ...`.
    pub const fn prefix(self) -> &'static str {
        match self {
            Format::Mic1 => "mic",
            Format::Mic2 => "mic@2",
            Format::Core => "core",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the format that `text` seems to have, by its first line that is neither blank nor a comment.
///
/// A header of an unknown version, and MLIR, are assigned to the closest format, because its parser reports the
/// problem.
pub fn detect(text: &str) -> Option<Format> {
    let first = first_line(text)?;
    match first.strip_prefix("mic@") {
        Some(version) if version.starts_with('1') => Some(Format::Mic1),
        Some(_) => Some(Format::Mic2),
        None if first.starts_with('%') || first.starts_with("outputs") => Some(Format::Core),
        None if is_interface_line(first) => Some(Format::Core),
        None if is_qualified(first) => Some(Format::Core),
        None if mlir_line(text).is_some() => Some(Format::Core),
        None => None,
    }
}

/// The words that begin an interface line in Core text.
const INTERFACE: [&str; 3] = ["metadata:", "input:", "classifier:"];

/// Returns whether a line of Core text belongs to the interface, which precedes the instructions.
pub fn is_interface_line(line: &str) -> bool {
    INTERFACE.iter().any(|word| line.starts_with(word))
}

/// Returns the first line of `text` that is neither blank nor a comment, without its leading blanks.
pub fn first_line(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text
        .lines()
        .map(|line| line.trim_start_matches([' ', '\t']));
    lines.find(|line| {
        !line.trim_end().is_empty() && !line.starts_with('#') && !line.starts_with("//")
    })
}

/// Returns whether a line begins with a qualified op name and no result, for example `mil.program`.
fn is_qualified(line: &str) -> bool {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let rest = line.trim_start_matches(word);
    let name = rest.strip_prefix('.').unwrap_or("");
    rest.len() < line.len() && name.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// A syntax whose tables are built on first use, because most tools use a single format.
type Lazy<S> = LazyLock<S, Box<dyn FnOnce() -> S + Send>>;

/// All formats, prepared for the ops of a registry.
pub struct Formats {
    /// mic@1.
    pub mic1: Lazy<mic1::Syntax>,
    /// mic@2.
    pub mic2: Lazy<mic2::Syntax>,
    /// Core text.
    pub core: Lazy<core::Syntax>,
}

impl Formats {
    /// Creates the formats for the ops of `registry`.
    pub fn new(registry: &Registry) -> Formats {
        let registry = Arc::new(registry.clone());
        Formats {
            mic1: lazy(&registry, mic1::Syntax::new),
            mic2: lazy(&registry, mic2::Syntax::new),
            core: lazy(&registry, core::Syntax::new),
        }
    }

    /// Reads a module. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// # Errors
    ///
    /// Returns every syntax error of the text. Types and shapes are not checked; that is the verifier's task.
    pub fn parse(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
    ) -> Result<Graph, Diagnostics> {
        self.read(format, text, base, limits, None)
    }

    /// Reads a module as [`parse`](Formats::parse) does, and fills `map` with the names of the text.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`parse`](Formats::parse); `map` then holds the names that could be read.
    pub fn parse_mapped(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
        map: &mut SourceMap,
    ) -> Result<Graph, Diagnostics> {
        let parsed = self.read(format, text, base, limits, Some(map));
        map.sort();
        parsed
    }

    fn read(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
        map: Option<&mut SourceMap>,
    ) -> Result<Graph, Diagnostics> {
        match format {
            Format::Mic1 => self.mic1.parse(text, base, limits, map),
            Format::Mic2 => self.mic2.parse(text, base, limits, map),
            Format::Core => self.core.parse_mapped(text, base, limits, map),
        }
    }

    /// Returns the words that name ops in `format`, in ascending order, each with its op.
    pub fn ops(&self, format: Format) -> Vec<(&'static str, &'static OpDef)> {
        let mut ops: Vec<_> = match format {
            Format::Mic1 => self.mic1.ops().collect(),
            Format::Mic2 => self.mic2.ops().collect(),
            Format::Core => self.core.ops().collect(),
        };
        ops.sort_unstable_by_key(|(word, _)| *word);
        ops
    }

    /// Writes a module.
    ///
    /// # Errors
    ///
    /// Returns one error for each op that the format cannot express.
    pub fn print(&self, format: Format, g: &Graph) -> Result<String, Diagnostics> {
        match format {
            Format::Mic1 => self.mic1.print(g),
            Format::Mic2 => self.mic2.print(g),
            Format::Core => self.core.print(g),
        }
    }
}

fn lazy<S: 'static>(registry: &Arc<Registry>, make: fn(&Registry) -> S) -> Lazy<S> {
    let registry = Arc::clone(registry);
    LazyLock::new(Box::new(move || make(&registry)))
}

/// The first error in a text, in the form of the formats' APIs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineError {
    /// The 1-based line; 0 for the text as a whole.
    pub line: usize,
    /// The message of the error.
    pub message: String,
}

impl LineError {
    /// Returns the one-line form of the formats' specification, for example `mic@2:6: error: 'm' needs 2 inputs, found
    /// 1`.
    pub fn one_line(&self, format: Format) -> String {
        format!("{}:{}: error: {}", format.prefix(), self.line, self.message)
    }
}

/// Returns the first error of `found`, the diagnostics of parsing or verifying `text` at offset `base`.
pub fn first_error(text: &str, base: u32, found: &Diagnostics) -> Option<LineError> {
    let error = found.first_error()?;
    let line = match error.span {
        Span::FILE => 0,
        span => {
            let at = (span.start.saturating_sub(base) as usize).min(text.len());
            1 + text.as_bytes()[..at]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count()
        }
    };
    Some(LineError {
        line,
        message: error.message.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()), Some(format));
        }
        assert_eq!(Format::parse("mic@1"), None);
    }

    #[test]
    fn formats_are_told_apart_by_their_first_line() {
        let cases = [
            ("mic@1\n", Some(Format::Mic1)),
            ("\u{feff}mic@2", Some(Format::Mic2)),
            (
                "# a comment\r\n\r\n  \t\n  mic@2 # more",
                Some(Format::Mic2),
            ),
            ("mic@21\n", Some(Format::Mic2)),
            ("mic@3\n", Some(Format::Mic2)),
            ("mic@1.5\n", Some(Format::Mic1)),
            ("# %0\n%0 = Input() : Tensor<f32, [2]>", Some(Format::Core)),
            ("outputs: %0", Some(Format::Core)),
            ("metadata: author=me\n%0 = Input", Some(Format::Core)),
            ("classifier: c {}", Some(Format::Core)),
            ("inputs", None),
            ("// a comment\n  program(1.3)", None),
            ("mil.program {}", Some(Format::Core)),
            ("// MLIR\nmodule {\n", Some(Format::Core)),
            ("func.func @main() {", Some(Format::Core)),
            ("T0 f32", None),
            ("1.5", None),
            ("# only comments", None),
            ("", None),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text), format, "{text:?}");
        }
    }
}
