//! mic@2: values numbered by position, opcodes of a few letters.

mod node;
mod opcodes;
mod parse;
mod plain;
mod print;
mod reader;
mod special;
mod writer;

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::Registry;

use crate::limits::Limits;

const HEADER: &str = "mic@2";

/// The format, prepared for the ops of a registry.
pub struct Syntax {
    opcodes: opcodes::Opcodes,
}

impl Syntax {
    /// The format for the ops of `registry` that have a name in it.
    pub fn new(registry: &Registry) -> Syntax {
        Syntax {
            opcodes: opcodes::Opcodes::new(registry),
        }
    }

    /// Reads a module. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// Errors: everything that is wrong with the text itself, in the order of its lines; types and
    /// shapes are for the verifier.
    pub fn parse(&self, text: &str, base: u32, limits: &Limits) -> Result<Graph, Diagnostics> {
        parse::parse(&self.opcodes, text, base, limits)
    }

    /// Writes a module in canonical form, with the declarations of the text that it was read from.
    ///
    /// Errors: each op that mic@2 cannot say; any number of outputs but one. What the text does not
    /// spell, such as the shape behind a kept reduction, needs a verified module.
    pub fn print(&self, g: &Graph) -> Result<String, Diagnostics> {
        print::print(&self.opcodes, g)
    }
}
