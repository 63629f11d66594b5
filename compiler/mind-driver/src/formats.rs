//! The text formats that every tool knows.

use std::fmt;

use mind_coreml::mil::{self, Spelling};
use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::{OpDef, Registry};
use mind_text::{Limits, SourceMap};

/// A text format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// mic@1.
    Mic1,
    /// mic@2.
    Mic2,
    /// Core text.
    Core,
    /// MIL, as compilers print it.
    Mil,
    /// MIL, as the primer for writing by hand spells it.
    MilPrimer,
}

/// Which crate reads and writes a format.
enum Syntax {
    Text(mind_text::Format),
    Mil(Spelling),
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [
        Format::Mic1,
        Format::Mic2,
        Format::Core,
        Format::Mil,
        Format::MilPrimer,
    ];

    const fn syntax(self) -> Syntax {
        match self {
            Format::Mic1 => Syntax::Text(mind_text::Format::Mic1),
            Format::Mic2 => Syntax::Text(mind_text::Format::Mic2),
            Format::Core => Syntax::Text(mind_text::Format::Core),
            Format::Mil => Syntax::Mil(Spelling::Compiler),
            Format::MilPrimer => Syntax::Mil(Spelling::Primer),
        }
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self.syntax() {
            Syntax::Text(format) => format.name(),
            Syntax::Mil(Spelling::Compiler) => "mil",
            Syntax::Mil(Spelling::Primer) => "mil-primer",
        }
    }

    /// The format called `name`.
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl From<mind_text::Format> for Format {
    fn from(format: mind_text::Format) -> Format {
        match format {
            mind_text::Format::Mic1 => Format::Mic1,
            mind_text::Format::Mic2 => Format::Mic2,
            mind_text::Format::Core => Format::Core,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The format that `text` looks like, by its first line that is neither blank nor a comment.
///
/// A header of an unknown version, and MLIR, count as the format nearest to them, whose parser then says
/// what is wrong with them.
pub fn detect(text: &str) -> Option<Format> {
    if mil::is_program(text) {
        return Some(Format::Mil);
    }
    mind_text::detect(text).map(Format::from)
}

/// All formats, prepared for the ops of a registry.
pub struct Formats {
    /// mic@1, mic@2 and Core text.
    pub text: mind_text::Formats,
}

impl Formats {
    /// The formats for the ops of `registry`.
    pub fn new(registry: &Registry) -> Formats {
        Formats {
            text: mind_text::Formats::new(registry),
        }
    }

    /// Reads a module. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text itself.
    pub fn parse(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
    ) -> Result<Graph, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.parse(format, text, base, limits),
            Syntax::Mil(spelling) => mil::parse(text, base, limits, spelling),
        }
    }

    /// Reads a module as [`parse`](Formats::parse) does, and fills `map` with the names of the text.
    ///
    /// # Errors
    ///
    /// The same; `map` then holds the names that could be read.
    pub fn parse_mapped(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
        map: &mut SourceMap,
    ) -> Result<Graph, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.parse_mapped(format, text, base, limits, map),
            Syntax::Mil(spelling) => mil::parse_mapped(text, base, limits, spelling, map),
        }
    }

    /// The words that name ops in `format`, ascending, with what each names.
    pub fn ops(&self, format: Format) -> Vec<(&'static str, &'static OpDef)> {
        match format.syntax() {
            Syntax::Text(format) => self.text.ops(format),
            Syntax::Mil(_) => {
                let mut ops: Vec<_> = mil::ops().collect();
                ops.sort_unstable_by_key(|(word, _)| *word);
                ops
            }
        }
    }

    /// Writes a module.
    ///
    /// # Errors
    ///
    /// Each op that the format cannot say.
    pub fn print(&self, format: Format, g: &Graph) -> Result<String, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.print(format, g),
            Syntax::Mil(spelling) => mil::print(g, spelling),
        }
    }
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
    fn formats_are_detected_by_their_first_line() {
        let cases = [
            ("mic@2 # more", Some(Format::Mic2)),
            ("// a comment\n  program(1.3)", Some(Format::Mil)),
            ("mil.program {}", Some(Format::Core)),
            ("# only comments", None),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text), format, "{text:?}");
        }
    }
}
