//! The text being parsed and the graph that receives its names and types.

use mind_diag::Span;
use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::{Sym, Ty, ValueId};

use super::suggest;
use crate::core::cursor::{Cursor, excerpt};
use crate::core::error::{Fault, Parsed, SyntaxError};
use crate::foreign::dtype_meant;
use crate::limits::Limits;
use crate::number::parse_int;
use crate::source_map::{Entity, Role, SourceMap};

/// The text being parsed and the graph that receives its names and types.
pub(super) struct Source<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) graph: Graph,
    pub(super) limits: &'t Limits,
    /// Whether errors still search for similar names.
    pub(super) suggest: bool,
    /// Added to every offset.
    pub(super) base: u32,
    /// Receives the names of the text, if given.
    pub(super) map: Option<&'t mut SourceMap>,
}

impl Source<'_> {
    /// Records the entity of the text from `start` to the cursor.
    pub(super) fn note(&mut self, start: usize, entity: Entity, role: Role) {
        if let Some(map) = &mut self.map {
            let end = self.cursor.at() as u32;
            let span = Span::new(self.base + start as u32, self.base + end);
            map.record(span, entity, role);
        }
    }

    /// Records the value of an id.
    pub(super) fn bind(&mut self, id: u64, value: ValueId) {
        if let Some(map) = &mut self.map {
            map.bind(id, value);
        }
    }

    /// Reads the next id, for example `%5`, and returns it with its offset.
    pub(super) fn label(&mut self, role: Role) -> Parsed<(u64, usize)> {
        let (id, at) = self.cursor.label()?;
        self.note(at, Entity::Value(id), role);
        Ok((id, at))
    }

    /// Reads a list after its opening bracket, up to and including `close`. Items are separated by commas; one more
    /// comma may follow the last.
    pub(super) fn list(
        &mut self,
        close: u8,
        expected: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        while !self.cursor.eat(close) {
            item(self)?;
            if !self.cursor.eat(b',') {
                return self.cursor.expect(close, expected);
            }
        }
        Ok(())
    }

    /// Returns the symbol for `name`, which is at `start`.
    pub(super) fn intern(&mut self, name: &str, start: usize) -> Parsed<Sym> {
        let sym = self.graph.intern(name);
        let limit = self.limits.strings;
        if self.graph.symbols().len() > limit {
            Err(SyntaxError::Limit {
                limit,
                what: "different names and dimension symbols",
            }
            .at(start, self.cursor.at()))
        } else {
            Ok(sym)
        }
    }

    /// Reads an integer.
    pub(super) fn int(&mut self) -> Parsed<i64> {
        let literal = self.cursor.number();
        if literal.is_empty() {
            return Err(self.cursor.unexpected("an integer"));
        }
        parse_int(literal).ok_or_else(|| self.bad_number(literal, "an integer of 64 bits"))
    }

    /// Returns the error for the number `literal` that was just read.
    pub(super) fn bad_number(&self, literal: &str, expected: &'static str) -> Box<Fault> {
        let end = self.cursor.at();
        let start = end - literal.len();
        let literal = excerpt(literal);
        SyntaxError::Number { literal, expected }.at(start, end)
    }

    /// Reads a shape, `[4, B, ?]`, into `dims`.
    pub(super) fn dims(&mut self, dims: &mut Shape) -> Parsed<()> {
        self.cursor.expect(b'[', "`[` and a shape")?;
        let start = self.cursor.at() - 1;
        let limit = self.limits.dims;
        let mut found = 0;
        self.list(b']', "`,` or `]`", |source| {
            let dim = source.dim()?;
            found += 1;
            if found <= limit {
                dims.push(dim);
            }
            Ok(())
        })?;
        if found > limit {
            Err(SyntaxError::Rank { found, limit }.at(start, self.cursor.at()))
        } else {
            Ok(())
        }
    }

    fn dim(&mut self) -> Parsed<Dim> {
        match self.cursor.peek() {
            b'?' => {
                self.cursor.eat(b'?');
                Ok(Dim::Dynamic)
            }
            b'0'..=b'9' | b'-' | b'+' | b'.' => Ok(Dim::Fixed(self.int()?)),
            _ => match self.cursor.word()? {
                Some(name) => {
                    let start = self.cursor.at() - name.len();
                    let symbol = self.intern(name, start)?;
                    let entity = Entity::Symbol(symbol.index() as u32);
                    self.note(start, entity, Role::Reference);
                    Ok(Dim::Symbol(symbol))
                }
                None => Err(self
                    .cursor
                    .unexpected("an extent: an integer, a name or `?`")),
            },
        }
    }

    /// Reads a dtype.
    pub(super) fn dtype(&mut self) -> Parsed<DType> {
        let Some(name) = self.cursor.word()? else {
            return Err(self.cursor.unexpected("a dtype such as `f32`"));
        };
        let start = self.cursor.at() - name.len();
        self.note(start, Entity::DType, Role::Reference);
        DType::parse(name).ok_or_else(|| {
            let end = self.cursor.at();
            let nearest = dtype_meant(name);
            let start = end - name.len();
            let name = excerpt(name);
            SyntaxError::UnknownDType { name, nearest }.at(start, end)
        })
    }

    /// Reads a type: `tensor<f32[4, B]>` or `Tensor<f32, [4, B]>`.
    pub(super) fn ty(&mut self) -> Parsed<Ty> {
        suggest::or_suggest(self, Source::plain_ty, suggest::ty)
    }

    fn plain_ty(&mut self) -> Parsed<Ty> {
        const EXPECTED: &str = "a type such as `tensor<f32[4, 6]>`";
        let start = self.cursor.at();
        if !matches!(self.cursor.word()?, Some("tensor" | "Tensor")) {
            self.cursor.seek(start);
            return Err(self.cursor.unexpected(EXPECTED));
        }
        self.cursor.expect(b'<', "`<` and a dtype")?;
        let dtype = self.dtype()?;
        self.cursor.eat(b',');
        let mut shape = Shape::new();
        self.dims(&mut shape)?;
        self.cursor.expect(b'>', "`>`")?;
        Ok(self.graph.intern_type(TypeView {
            dtype,
            shape: &shape,
        }))
    }
}
