//! MIL, the text of Core ML's compiled programs.
//!
//! ```text
//! program(1.3)
//! [buildInfo = dict<string, string>({{"coremlc-version", "0"}})]
//! {
//!     func main<ios18>(tensor<fp16, [1, 4]> x) {
//!             tensor<fp16, [1, 4]> y = relu(x = x)[name = string("y")];
//!         } -> (y);
//! }
//! ```
//!
//! docs/formats/mil.md has the grammar, and what of it is read and printed. Both generations are read and
//! printed as they were read; a program's function `main`, or its first, is the module.

mod element;
mod float;
mod lex;
mod names;
mod parse;
mod print;
mod spelling;
mod syntax;
mod table;
mod types;

use mind_diag::Diagnostics;
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Registry};

use crate::limits::Limits;
use crate::source_map::SourceMap;
pub use spelling::Spelling;
use table::Table;

/// The format, prepared for the ops of a registry.
pub struct Syntax {
    table: Table,
}

impl Syntax {
    /// The format for the ops of the mil dialect, where `registry` has it.
    pub fn new(registry: &Registry) -> Syntax {
        Syntax {
            table: Table::new(registry),
        }
    }

    /// Reads a program. `base` is added to every span, for a text that is part of a larger file.
    ///
    /// Weights in a file stay unread, their path checked to stay inside the model's folder.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text itself, in the order of its places; types and
    /// shapes are for the verifier.
    pub fn parse(
        &self,
        text: &str,
        base: u32,
        limits: &Limits,
        spelling: Spelling,
    ) -> Result<Graph, Diagnostics> {
        parse::parse(&self.table, text, base, limits, spelling, None)
    }

    /// The words that name ops, with what each names, in no order.
    pub fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        self.table.ops()
    }

    /// Reads a program as [`parse`](Syntax::parse) does, and fills `map` with the names of the text.
    ///
    /// # Errors
    ///
    /// The same; `map` then holds the names of the statements that could be read.
    pub fn parse_mapped(
        &self,
        text: &str,
        base: u32,
        limits: &Limits,
        spelling: Spelling,
        map: &mut SourceMap,
    ) -> Result<Graph, Diagnostics> {
        let parsed = parse::parse(&self.table, text, base, limits, spelling, Some(map));
        map.sort();
        parsed
    }

    /// Writes a program as compilers lay it out; the last byte is its closing brace.
    ///
    /// # Errors
    ///
    /// Each op that MIL does not have.
    pub fn print(&self, g: &Graph, spelling: Spelling) -> Result<String, Diagnostics> {
        print::print(&self.table, g, spelling)
    }
}
