//! mic@1: nodes by id, tables for names and types.

mod ids;
mod kinds;
mod node;
mod parse;
mod plain;
mod print;
mod reader;
mod special;
mod value;
mod writer;

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::Registry;

use crate::limits::Limits;

const HEADER: &str = "mic@1";

/// The format, prepared for the ops of a registry.
pub struct Syntax {
    kinds: kinds::Kinds,
}

impl Syntax {
    /// The format for the ops of `registry` that have a name in it.
    pub fn new(registry: &Registry) -> Syntax {
        Syntax {
            kinds: kinds::Kinds::new(registry),
        }
    }

    /// Reads a module. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// Errors: everything that is wrong with the text itself, in the order of its lines; types and
    /// shapes are for the verifier.
    pub fn parse(&self, text: &str, base: u32, limits: &Limits) -> Result<Graph, Diagnostics> {
        parse::parse(&self.kinds, text, base, limits)
    }

    /// Writes a module with the ids that its values have, and the types that are declared.
    ///
    /// Errors: each op that mic@1 cannot say.
    pub fn print(&self, g: &Graph) -> Result<String, Diagnostics> {
        print::print(&self.kinds, g)
    }
}
