//! State of writing a mic@2 text, and the parts of its lines.

use mind_ir::graph::Graph;
use mind_ir::types::{Dim, TypeView};
use mind_ir::{Sym, Ty, ValueId};
use smallvec::SmallVec;

use crate::number::{write_int, write_uint};
use crate::refusal::Refusal;
use crate::scan::is_ident;

/// State of writing one text: the value lines, and the declarations that they need.
pub(super) struct Writer<'g> {
    pub(super) graph: &'g Graph,
    values: String,
    /// By value: its id in the text.
    ids: Vec<u32>,
    next_id: u32,
    symbols: Vec<Sym>,
    /// By symbol: whether it is among `symbols`.
    declared: Vec<bool>,
    types: SmallVec<[Ty; 4]>,
    /// By type: its position among `types` plus 1, or 0.
    positions: Vec<u32>,
}

impl<'g> Writer<'g> {
    /// Creates a writer that begins with the declarations of the text that `graph` was read from.
    pub(super) fn new(graph: &'g Graph) -> Writer<'g> {
        const BYTES_PER_LINE: usize = 16;
        let mut writer = Writer {
            graph,
            values: String::with_capacity((graph.op_bound() + 1) * BYTES_PER_LINE),
            ids: vec![0; graph.value_bound()],
            next_id: 0,
            symbols: graph.preamble.symbols.clone(),
            declared: vec![false; graph.symbols().len()],
            types: graph.preamble.types.clone(),
            positions: vec![0; graph.types().len()],
        };
        for sym in &writer.symbols {
            writer.declared[sym.index()] = true;
        }
        for (position, ty) in writer.types.iter().enumerate().rev() {
            writer.positions[ty.index()] = position as u32 + 1;
        }
        writer
    }

    /// Writes the line of an input.
    pub(super) fn input(&mut self, value: ValueId, letter: &str, name: Sym) -> Result<(), Refusal> {
        let graph = self.graph;
        let Some(ty) = graph.declared(value).or(graph.type_id(value)) else {
            return Err("has no type".to_owned());
        };
        let name = graph.name(name);
        if !is_ident(name) {
            return Err(format!("has the name {name:?}, which is not an identifier"));
        }
        let position = self.position(ty)?;
        let repeated = &graph.preamble.repeated;
        let position = match repeated.binary_search_by_key(&value, |entry| entry.0) {
            Ok(at) if self.types.get(repeated[at].1 as usize) == Some(&ty) => repeated[at].1,
            _ => position,
        };
        self.values.push_str(letter);
        self.values.push(' ');
        self.values.push_str(name);
        self.values.push_str(" T");
        write_uint(&mut self.values, position.into());
        self.end();
        self.define(value);
        Ok(())
    }

    /// Returns the position of the `T` line for `ty`, which is added if there is none.
    fn position(&mut self, ty: Ty) -> Result<u32, Refusal> {
        if self.positions[ty.index()] == 0 {
            let shape = self.graph.types().get(ty).shape;
            for &dim in shape {
                self.declare(dim)?;
            }
            self.types.push(ty);
            self.positions[ty.index()] = self.types.len() as u32;
        }
        Ok(self.positions[ty.index()] - 1)
    }

    fn declare(&mut self, dim: Dim) -> Result<(), Refusal> {
        let Dim::Symbol(sym) = dim else { return Ok(()) };
        if !std::mem::replace(&mut self.declared[sym.index()], true) {
            let name = self.graph.name(sym);
            if !is_ident(name) {
                return Err(format!(
                    "has the dimension {name:?}, which is not an identifier"
                ));
            }
            self.symbols.push(sym);
        }
        Ok(())
    }

    /// Writes an opcode and inputs.
    pub(super) fn node(&mut self, opcode: &str, inputs: &[ValueId]) {
        self.values.push_str(opcode);
        for input in inputs {
            self.values.push(' ');
            write_uint(&mut self.values, self.ids[input.index()].into());
        }
    }

    /// Writes a parameter.
    pub(super) fn int(&mut self, value: i64) {
        self.values.push(' ');
        write_int(&mut self.values, value);
    }

    /// Writes a reshape of `input`, or of the previous line if `input` is `None`.
    pub(super) fn reshape(&mut self, input: Option<ValueId>, shape: &[Dim]) -> Result<(), Refusal> {
        let open = |dim: &&Dim| matches!(dim, Dim::Dynamic | Dim::Fixed(-1));
        if shape.contains(&Dim::Dynamic) && shape.iter().filter(open).count() > 1 {
            return Err("has a target shape with more than one unknown extent".to_owned());
        }
        self.values.push_str("rshp ");
        let id = input.map_or(self.next_id.wrapping_sub(1), |value| {
            self.ids[value.index()]
        });
        write_uint(&mut self.values, id.into());
        for &dim in shape {
            self.declare(dim)?;
            match dim {
                Dim::Fixed(extent) => self.int(extent),
                Dim::Symbol(sym) => {
                    self.values.push(' ');
                    self.values.push_str(self.graph.name(sym));
                }
                Dim::Dynamic => self.int(-1),
            }
        }
        self.end();
        Ok(())
    }

    /// Ends a value's line.
    pub(super) fn end(&mut self) {
        self.values.push('\n');
        self.next_id += 1;
    }

    /// Assigns the id of the last line to `value`.
    pub(super) fn define(&mut self, value: ValueId) {
        self.ids[value.index()] = self.next_id.wrapping_sub(1);
    }

    /// Returns the type of `value`: inferred by the verifier, or else declared.
    pub(super) fn known_type(&self, value: ValueId) -> Result<TypeView<'g>, Refusal> {
        let ty = self.graph.type_id(value).or(self.graph.declared(value));
        let ty = ty.ok_or("needs the type of a value that has none: verify the module first")?;
        Ok(self.graph.types().get(ty))
    }

    /// Returns the whole text, with `output` as the last line.
    pub(super) fn finish(self, header: &str, output: ValueId) -> String {
        const BYTES_PER_DECLARATION: usize = 24;
        let declarations = self.symbols.len() + self.types.len() + 2;
        let room = self.values.len() + declarations * BYTES_PER_DECLARATION;
        let mut text = String::with_capacity(room);
        text.push_str(header);
        text.push('\n');
        for &sym in &self.symbols {
            text.push_str("S ");
            text.push_str(self.graph.name(sym));
            text.push('\n');
        }
        for (position, &ty) in self.types.iter().enumerate() {
            self.write_type(&mut text, position, ty);
        }
        text.push_str(&self.values);
        text.push_str("O ");
        write_uint(&mut text, self.ids[output.index()].into());
        text
    }

    fn write_type(&self, text: &mut String, position: usize, ty: Ty) {
        let ty = self.graph.types().get(ty);
        text.push('T');
        write_uint(text, position as u64);
        text.push(' ');
        text.push_str(ty.dtype.name());
        for &dim in ty.shape {
            text.push(' ');
            match dim {
                Dim::Fixed(extent) => write_int(text, extent),
                Dim::Symbol(sym) => text.push_str(self.graph.name(sym)),
                Dim::Dynamic => text.push('?'),
            }
        }
        text.push('\n');
    }
}
