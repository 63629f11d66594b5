//! mic@1: nodes by id, tables for names and types.

mod bodies;
mod fast_path;
mod form;
mod ids;
mod kinds;
mod node;
mod parse;
mod print;
mod reader;
mod results;
mod special;
mod value;
mod writer;

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::{OpDef, Registry};

use crate::limits::Limits;
use crate::source_map::SourceMap;

const HEADER: &str = "mic@1";

/// The format, prepared for the ops of a registry.
pub struct Syntax {
    kinds: kinds::NodeKinds,
}

impl Syntax {
    /// Creates the format for the ops of `registry` that have a name in it.
    pub fn new(registry: &Registry) -> Syntax {
        Syntax {
            kinds: kinds::NodeKinds::new(registry),
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
        parse::parse(&self.kinds, text, base, limits, map)
    }

    /// Returns the words that name ops, each with its op, in no particular order.
    pub fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        self.kinds
            .words()
            .filter_map(|word| Some((word, self.kinds.get(word.as_bytes())?.def)))
    }

    /// Writes a module with the ids of its values and their declared types.
    ///
    /// # Errors
    ///
    /// Returns one error for each op that mic@1 cannot express.
    pub fn print(&self, g: &Graph) -> Result<String, Diagnostics> {
        print::print(&self.kinds, g)
    }
}
