//! Text formats.

#[cfg(feature = "mil")]
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
    /// MIL in the spelling of compilers.
    #[cfg(feature = "mil")]
    Mil,
    /// MIL in the spelling of the primer, for writing by hand.
    #[cfg(feature = "mil")]
    MilPrimer,
}

/// The parser and printer of a format.
enum Syntax {
    Text(mind_text::Format),
    #[cfg(feature = "mil")]
    Mil(Spelling),
}

impl Format {
    /// All text formats.
    pub const ALL: &[Format] = &[
        Format::Mic1,
        Format::Mic2,
        Format::Core,
        #[cfg(feature = "mil")]
        Format::Mil,
        #[cfg(feature = "mil")]
        Format::MilPrimer,
    ];

    const fn syntax(self) -> Syntax {
        match self {
            Format::Mic1 => Syntax::Text(mind_text::Format::Mic1),
            Format::Mic2 => Syntax::Text(mind_text::Format::Mic2),
            Format::Core => Syntax::Text(mind_text::Format::Core),
            #[cfg(feature = "mil")]
            Format::Mil => Syntax::Mil(Spelling::Compiler),
            #[cfg(feature = "mil")]
            Format::MilPrimer => Syntax::Mil(Spelling::Primer),
        }
    }
}

/// All text formats, prepared for the ops of a registry.
pub struct Formats {
    /// mic@1, mic@2 and Core text.
    pub text: mind_text::Formats,
}

impl Formats {
    /// Prepares the formats for the ops of `registry`.
    pub fn new(registry: &Registry) -> Formats {
        Formats {
            text: mind_text::Formats::new(registry),
        }
    }

    /// Parses a module. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text.
    pub fn parse(
        &self,
        format: Format,
        text: &str,
        base: u32,
        limits: &Limits,
    ) -> Result<Graph, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.parse(format, text, base, limits),
            #[cfg(feature = "mil")]
            Syntax::Mil(spelling) => mil::parse(text, base, limits, spelling),
        }
    }

    /// As [`parse`](Formats::parse), and fills `map` with the names of the text.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text; `map` then has the names that could be read.
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
            #[cfg(feature = "mil")]
            Syntax::Mil(spelling) => mil::parse_mapped(text, base, limits, spelling, map),
        }
    }

    /// Returns the op names of `format`, sorted, with the ops they name.
    pub fn ops(&self, format: Format) -> Vec<(&'static str, &'static OpDef)> {
        match format.syntax() {
            Syntax::Text(format) => self.text.ops(format),
            #[cfg(feature = "mil")]
            Syntax::Mil(_) => {
                let mut ops: Vec<_> = mil::ops().collect();
                ops.sort_unstable_by_key(|(word, _)| *word);
                ops
            }
        }
    }

    /// Prints a module.
    ///
    /// # Errors
    ///
    /// Returns an error for each op that the format cannot express.
    pub fn print(&self, format: Format, g: &Graph) -> Result<String, Diagnostics> {
        match format.syntax() {
            Syntax::Text(format) => self.text.print(format, g),
            #[cfg(feature = "mil")]
            Syntax::Mil(spelling) => mil::print(g, spelling),
        }
    }
}
