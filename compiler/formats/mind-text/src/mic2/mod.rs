//! mic@2: values numbered by position, opcodes of a few letters.

mod fast_path;
mod node;
mod opcodes;
mod parse;
mod print;
mod reader;
mod special;
mod writer;

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::{OpDef, Registry};

use crate::limits::Limits;
use crate::source_map::SourceMap;

const HEADER: &str = "mic@2";

/// The format, prepared for the ops of a registry.
pub struct Syntax {
    opcodes: opcodes::Opcodes,
}

impl Syntax {
    /// Creates the format for the ops of `registry` that have a name in it.
    pub fn new(registry: &Registry) -> Syntax {
        Syntax {
            opcodes: opcodes::Opcodes::new(registry),
        }
    }

    /// Reads a module. `base` is added to every span, for a text that is part of a larger file; `map`, if given,
    /// receives the names of the text.
    ///
    /// # Errors
    ///
    /// Returns every syntax error of the text, in text order; types and shapes are left to the verifier. `map` then
    /// holds the names that could be read.
    pub fn parse(
        &self,
        text: &str,
        base: u32,
        limits: &Limits,
        map: Option<&mut SourceMap>,
    ) -> Result<Graph, Diagnostics> {
        parse::parse(&self.opcodes, text, base, limits, map)
    }

    /// Returns the words that name ops, each with its op, in no particular order.
    pub fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        self.opcodes
            .words()
            .filter_map(|word| Some((word, self.opcodes.get(word.as_bytes())?.def)))
    }

    /// Writes a module in canonical form, with the declarations of the text that it was read from. The module must be
    /// verified if a line depends on an inferred type, for example the reshape after a reduction with kept axes.
    ///
    /// # Errors
    ///
    /// Returns one error for each op that mic@2 cannot express; errors unless there is exactly one output.
    pub fn print(&self, g: &Graph) -> Result<String, Diagnostics> {
        print::print(&self.opcodes, g)
    }
}
