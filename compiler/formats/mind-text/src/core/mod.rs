//! Core IR text.
//!
//! A module is a list of instructions, one per line, and the list of its outputs:
//!
//! ```text
//! %0 = Input {name=x} : tensor<f32[4, 6]>
//! %1 = Sum (%0) {axes=[1], keepdims=true} : tensor<f32[4, 1]>
//! outputs: %1
//! ```
//!
//! ```text
//! module      = { instruction } [ "outputs:" ids ]
//! instruction = [ ids "=" ] op [ "(" ids ")" ] [ "{" attributes "}" ] [ ":" types ] { body }
//! attributes  = key "=" value { "," key "=" value }
//! type        = "tensor<" dtype "[" dims "]" ">"            dim = integer | symbol | "?"
//! body        = "{" newline [ "args:" ids newline ] { instruction } [ "yield:" ids newline ] "}"
//! ```
//!
//! - An op is written by its name in Core text, or by its full name, for example `loops.for`. Keys and the forms of
//!   values are derived from the op tables; exceptions are listed in `table.rs`.
//! - Attributes are printed in the order of their keys. All are printed except: Gather's `axis` of 0 and its
//!   `bounds=strict`, an empty `permutation` of Transpose, the `role` of an Input, printed only as `role=param`,
//!   `halves=false` of products, and in the tensor dialect empty lists of `like`, `carry`, `lhs_batch` and `rhs_batch`.
//! - An open end of a slice is `_`: `ends=[_, 4]`. The padding of a window is `valid`, `same` or `[[top, bottom],
//!   [left, right]]`.
//! - A constant is `{data=[[1.0],[2.0]], dtype=f32, shape=[2, 1]}` or, if all elements are equal, `{dtype=f32,
//!   fill=0.0, shape=[2, 1]}`. Data is nested as its shape or is one list. Omitted keys are taken from the type.
//! - A value's type is printed if it is declared or inferred. If only some results of an op have a type, the others are
//!   printed as `_`.
//! - Ids are unique in the whole module and visible in their own body only: a body receives outside values as operands
//!   of its op and names them in `args:`. Only bodies of ops without closed regions, for example `mil.while_loop`, also use
//!   values of the bodies around them. Bodies and lists of data are nested at most 32 deep.
//! - The spelling of the specification is read too: attributes in parentheses in the order of the op's table, `Sum(%0,
//!   [1], true)`, `Slice(%0, [0:4:2, 1:])`, `Conv2d(%0, %1, [1, 1], Custom([[1, 1], [0, 0]]))`; `BinOp(Add, %0, %1)`;
//!   `Tensor<f32, [4, 6]>`; `:` for `=` in braces.
//! - `#` starts a comment; blanks and blank lines are insignificant; a comma may follow the last item.

mod cursor;
mod error;
mod labels;
mod parse;
mod print;
mod table;

use mind_diag::Diagnostics;
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Registry};

use crate::limits::Limits;
use crate::source_map::SourceMap;
use table::OpTable;

/// The Core text of the ops of a registry.
#[derive(Debug)]
pub struct Syntax {
    table: OpTable,
}

impl Syntax {
    /// Creates the syntax for all ops of `registry`. Panics if an op has two attributes with the same key.
    pub fn new(registry: &Registry) -> Syntax {
        Syntax {
            table: OpTable::new(registry),
        }
    }

    /// Parses a module whose first byte is at offset `base` of its file.
    ///
    /// Values are untyped, with the types that the text declares; the [verifier](mind_ir::verify::verify) infers their
    /// types.
    ///
    /// # Errors
    ///
    /// Returns the errors of all lines, in text order. A line whose only problem is a use of a rejected definition adds
    /// none.
    pub fn parse(&self, text: &str, base: u32, limits: &Limits) -> Result<Graph, Diagnostics> {
        self.parse_mapped(text, base, limits, None)
    }

    /// Parses a module as [`parse`](Syntax::parse) does, and fills `map` with the names of the text.
    pub(crate) fn parse_mapped(
        &self,
        text: &str,
        base: u32,
        limits: &Limits,
        map: Option<&mut SourceMap>,
    ) -> Result<Graph, Diagnostics> {
        parse::parse(&self.table, text, base, limits, map)
    }

    /// Returns the words that name ops, each with its op, in no particular order.
    pub fn ops(&self) -> impl Iterator<Item = (&'static str, &'static OpDef)> + '_ {
        self.table.ops()
    }

    /// Prints a module, without a newline at the end.
    ///
    /// # Errors
    ///
    /// Errors if the text could not be parsed again: for an op outside the registry, an op after the terminator of its
    /// block, or bodies that are nested too deeply.
    pub fn print(&self, g: &Graph) -> Result<String, Diagnostics> {
        print::print(&self.table, g)
    }
}
