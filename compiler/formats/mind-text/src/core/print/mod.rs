//! Printing a module.

mod attrs;
mod interface;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::builtin::Yield;
use mind_ir::graph::Graph;
use mind_ir::types::{Dim, TypeView};
use mind_ir::{BlockId, OpId, Ty, ValueId};

use super::error::MAX_NESTING;
use super::table::OpTable;
use crate::number::{write_int, write_uint};

/// Prints a module.
///
/// # Errors
///
/// Errors if the text could not be parsed again: for an op outside the registry, an op after the terminator of its
/// block, or bodies that are nested too deeply.
pub(super) fn print(table: &OpTable, g: &Graph) -> Result<String, Diagnostics> {
    let out = String::with_capacity(64 * g.op_bound());
    let mut printer = Printer {
        table,
        g,
        out,
        found: Diagnostics::new(),
    };
    printer.interface();
    printer.block(g.body(), 0);
    if printer.found.is_empty() {
        Ok(printer.out)
    } else {
        Err(printer.found)
    }
}

struct Printer<'g> {
    table: &'g OpTable,
    g: &'g Graph,
    out: String,
    found: Diagnostics,
}

impl Printer<'_> {
    /// Prints the lines of a block, each after a newline except the module's first. `depth` is at most [`MAX_NESTING`].
    fn block(&mut self, block: BlockId, depth: usize) {
        let arguments = self.g.arguments(block);
        if !arguments.is_empty() {
            self.line(depth);
            self.out.push_str("args:");
            for (index, argument) in arguments.into_iter().enumerate() {
                self.out.push_str(if index == 0 { " " } else { ", " });
                self.label(argument);
                if let Some(ty) = self.g.declared(argument) {
                    self.out.push_str(" : ");
                    self.ty(ty);
                }
            }
        }
        let mut ended = false;
        for op in self.g.ops(block) {
            if ended {
                self.refuse(op, "it follows the end of its block");
                return;
            }
            self.line(depth);
            if self.g.is::<Yield>(op) {
                self.end(op, depth);
                ended = true;
            } else {
                self.op(op, depth);
            }
        }
    }

    /// Prints the terminator of a block.
    fn end(&mut self, op: OpId, depth: usize) {
        if depth > 0 {
            self.out.push_str("yield:");
            return self.labels(" ", self.g.operands(op).iter().copied());
        }
        self.out.push_str("outputs:");
        for (at, &value) in self.g.operands(op).iter().enumerate() {
            self.labels(if at == 0 { " " } else { ", " }, [value]);
            self.output_entry(at);
        }
    }

    fn line(&mut self, depth: usize) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }

    fn op(&mut self, op: OpId, depth: usize) {
        let (g, table) = (self.g, self.table);
        let Some(syntax) = table.of(g.def(op)) else {
            return self.refuse(op, "its dialect is not registered");
        };
        let results = g.results(op);
        if !results.is_empty() {
            self.labels("", results);
            self.out.push_str(" = ");
        }
        self.out.push_str(syntax.name);
        if !g.operands(op).is_empty() {
            self.labels(" (", g.operands(op).iter().copied());
            self.out.push(')');
        }
        attrs::write(&mut self.out, g, op, syntax);
        self.types(op);
        self.regions(op, depth);
    }

    /// Prints the result types, or nothing if no result has one.
    fn types(&mut self, op: OpId) {
        let results = self.g.results(op);
        if results
            .iter()
            .all(|value| shown_type(self.g, value).is_none())
        {
            return;
        }
        for (index, value) in results.into_iter().enumerate() {
            self.out.push_str(if index == 0 { " : " } else { ", " });
            match shown_type(self.g, value) {
                Some(ty) => self.ty(ty),
                None => self.out.push('_'),
            }
        }
    }

    fn regions(&mut self, op: OpId, depth: usize) {
        let regions = self.g.regions(op);
        if regions.is_empty() {
            return;
        }
        if depth == MAX_NESTING {
            return self.refuse(op, "its body is nested too deeply");
        }
        for &region in regions {
            self.out.push_str(" {");
            self.block(self.g.block(region), depth + 1);
            self.line(depth);
            self.out.push('}');
        }
    }

    /// Prints ids separated by commas, with `before` before the first.
    fn labels(&mut self, before: &str, values: impl IntoIterator<Item = ValueId>) {
        for (index, value) in values.into_iter().enumerate() {
            self.out.push_str(if index == 0 { before } else { ", " });
            self.label(value);
        }
    }

    fn label(&mut self, value: ValueId) {
        self.out.push('%');
        write_uint(&mut self.out, self.g.label(value));
    }

    fn ty(&mut self, ty: Ty) {
        let TypeView { dtype, shape } = self.g.types().get(ty);
        self.out.push_str("tensor<");
        self.out.push_str(dtype.name());
        write_dims(&mut self.out, self.g, shape);
        self.out.push('>');
    }

    fn refuse(&mut self, op: OpId, reason: &str) {
        let message = format!(
            "`{}` cannot be printed as Core text: {reason}",
            self.g.def(op).name
        );
        let span: Span = self.g.span(op);
        self.found.push(Diagnostic::error(span, message));
    }
}

/// Returns the type that is printed for a value: the declared one, else the inferred one.
fn shown_type(g: &Graph, value: ValueId) -> Option<Ty> {
    g.declared(value).or(g.type_id(value))
}

/// Writes a shape as `[4, B, ?]`.
fn write_dims(out: &mut String, g: &Graph, dims: &[Dim]) {
    write_list(out, dims, |out, dim| match *dim {
        Dim::Fixed(extent) => write_int(out, extent),
        Dim::Symbol(sym) => out.push_str(g.name(sym)),
        Dim::Dynamic => out.push('?'),
    });
}

/// Writes a list in brackets.
fn write_list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
    out.push(']');
}
