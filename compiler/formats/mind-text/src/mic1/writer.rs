//! State of writing a mic@1 text, and the parts of its lines.

use mind_ir::graph::Graph;
use mind_ir::types::Dim;
use mind_ir::{Sym, Ty, ValueId};

use crate::number::{write_int, write_uint};
use crate::quoted::write_quoted;
use crate::refusal::Refusal;
use crate::scan::is_ident;

/// State of writing one text: the node lines, and the tables that they need.
pub(super) struct Writer<'g> {
    pub(super) graph: &'g Graph,
    nodes: String,
    names: Table<Sym>,
    types: Table<Ty>,
}

/// Entities in the order of their first use.
struct Table<T> {
    order: Vec<T>,
    /// By index of the entity: its position plus 1, or 0.
    positions: Vec<u32>,
}

impl<T: Copy> Table<T> {
    fn new(bound: usize) -> Table<T> {
        Table {
            order: Vec::new(),
            positions: vec![0; bound],
        }
    }

    /// Returns the position of `entity`, whose index is `index`, and whether it was added.
    #[inline]
    fn position(&mut self, entity: T, index: usize) -> (u32, bool) {
        let new = self.positions[index] == 0;
        if new {
            self.order.push(entity);
            self.positions[index] = self.order.len() as u32;
        }
        (self.positions[index] - 1, new)
    }
}

impl<'g> Writer<'g> {
    pub(super) fn new(graph: &'g Graph) -> Writer<'g> {
        const BYTES_PER_LINE: usize = 24;
        Writer {
            graph,
            nodes: String::with_capacity((graph.op_bound() + 1) * BYTES_PER_LINE),
            names: Table::new(graph.symbols().len()),
            types: Table::new(graph.types().len()),
        }
    }

    /// Returns the line being written.
    #[inline]
    pub(super) fn out(&mut self) -> &mut String {
        &mut self.nodes
    }

    /// Begins the line that defines `value`.
    #[inline]
    pub(super) fn begin(&mut self, value: ValueId) {
        self.nodes.push('N');
        write_uint(&mut self.nodes, self.graph.label(value));
    }

    /// Writes a blank and a word.
    #[inline]
    pub(super) fn word(&mut self, word: &str) {
        self.nodes.push(' ');
        self.nodes.push_str(word);
    }

    /// Writes an operand.
    #[inline]
    pub(super) fn node(&mut self, value: ValueId) {
        self.nodes.push_str(" N");
        write_uint(&mut self.nodes, self.graph.label(value));
    }

    /// Writes a name as its position in the table.
    pub(super) fn name(&mut self, name: Sym) {
        let (position, _) = self.names.position(name, name.index());
        self.nodes.push_str(" S");
        write_uint(&mut self.nodes, position.into());
    }

    /// Writes a type as its position in the table.
    #[inline]
    pub(super) fn ty(&mut self, ty: Ty) -> Result<(), Refusal> {
        let (position, new) = self.types.position(ty, ty.index());
        if new {
            check_symbols(self.graph, self.graph.types().get(ty).shape)?;
        }
        self.nodes.push_str(" T");
        write_uint(&mut self.nodes, position.into());
        Ok(())
    }

    /// Returns the whole text, ending with the outputs.
    pub(super) fn finish(self, header: &str) -> String {
        const BYTES_PER_ROW: usize = 32;
        let rows = self.names.order.len() + self.types.order.len() + self.graph.outputs().len() + 1;
        let mut text = String::with_capacity(self.nodes.len() + rows * BYTES_PER_ROW);
        text.push_str(header);
        text.push('\n');
        for (position, &name) in self.names.order.iter().enumerate() {
            text.push('S');
            write_uint(&mut text, position as u64);
            text.push(' ');
            write_quoted(&mut text, self.graph.name(name));
            text.push('\n');
        }
        for (position, &ty) in self.types.order.iter().enumerate() {
            text.push('T');
            write_uint(&mut text, position as u64);
            text.push(' ');
            self.write_type(&mut text, ty);
            text.push('\n');
        }
        text.push_str(&self.nodes);
        for &output in self.graph.outputs() {
            text.push_str("O N");
            write_uint(&mut text, self.graph.label(output));
            text.push('\n');
        }
        text
    }

    fn write_type(&self, text: &mut String, ty: Ty) {
        let ty = self.graph.types().get(ty);
        if ty.shape.is_empty() {
            return text.push_str(ty.dtype.name());
        }
        text.push('[');
        text.push_str(ty.dtype.name());
        for (axis, &dim) in ty.shape.iter().enumerate() {
            text.push(if axis == 0 { ';' } else { ',' });
            match dim {
                Dim::Fixed(extent) => write_int(text, extent),
                Dim::Symbol(sym) => text.push_str(self.graph.name(sym)),
                Dim::Dynamic => text.push('?'),
            }
        }
        text.push(']');
    }
}

/// Checks that all symbols of a shape are identifiers.
///
/// # Errors
///
/// Errors for a symbol that is not an identifier.
pub(super) fn check_symbols(g: &Graph, shape: &[Dim]) -> Result<(), Refusal> {
    for dim in shape {
        if let Dim::Symbol(sym) = *dim
            && !is_ident(g.name(sym))
        {
            return Err(format!(
                "has the dimension {:?}, which is not an identifier",
                g.name(sym)
            ));
        }
    }
    Ok(())
}
