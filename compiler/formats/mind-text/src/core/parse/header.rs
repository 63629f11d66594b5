//! The line of an instruction, before its ids are resolved.

use std::ops::Range;

use mind_ir::Ty;

use super::attrs::Attributes;
use super::source::Source;
use super::suggest;
use crate::core::cursor::excerpt;
use crate::core::error::{Parsed, SyntaxError};
use crate::core::labels::Label;
use crate::core::table::{OpSyntax, OpTable};
use crate::source_map::{Entity, Role};

/// The line of an instruction without its attributes. Reused from line to line.
#[derive(Default)]
pub(super) struct Header {
    /// The ids before `=`.
    pub(super) results: Vec<Label>,
    pub(super) operands: Vec<Label>,
    /// The declared types: one per result, `None` for `_`; or empty if no types are written.
    pub(super) types: Vec<Option<Ty>>,
    /// Start and end of the op's name.
    pub(super) name: Range<usize>,
    /// Start and end of the instruction, without its body.
    pub(super) span: Range<usize>,
    /// Offset of the brace that opens its body.
    pub(super) body: Option<usize>,
}

impl Header {
    /// Reads an instruction up to the end of its line, and returns its op. Its attributes are left in `attrs`.
    ///
    /// After an error [`results`](Header::results) holds the ids that were read.
    pub(super) fn read<'s>(
        &mut self,
        src: &mut Source<'_>,
        table: &'s OpTable,
        attrs: &mut Attributes,
    ) -> Parsed<&'s OpSyntax> {
        self.operands.clear();
        self.types.clear();
        self.results.clear();
        self.body = None;
        src.cursor.peek();
        let start = src.cursor.at();
        if src.cursor.peek() == b'%' {
            self.read_results(src)?;
        }
        let op = self.read_op(src, table, attrs)?;
        if src.cursor.peek() == b'{' && !src.cursor.opens_body() {
            src.cursor.eat(b'{');
            attrs.read_braces(src, op)?;
        }
        if src.cursor.eat(b':') {
            self.read_types(src)?;
        }
        let end = src.cursor.text()[start..src.cursor.at()].trim_end().len();
        self.span = start..start + end;
        if src.cursor.opens_body() {
            self.body = Some(src.cursor.at());
            src.cursor.eat(b'{');
        }
        if src.cursor.at_line_end() {
            Ok(op)
        } else {
            let fault = src.cursor.unexpected("the end of the line");
            Err(suggest::surplus(src, op, fault))
        }
    }

    fn read_results(&mut self, src: &mut Source<'_>) -> Parsed<()> {
        loop {
            let (id, at) = src.label(Role::Definition)?;
            self.results.push(Label { id, at });
            if src.cursor.eat(b'=') {
                return Ok(());
            }
            if !src.cursor.eat(b',') {
                let fault = src.cursor.unexpected("`=` or `,`");
                return Err(suggest::after_result(src, fault));
            }
        }
    }

    /// Reads the op's name and its arguments in parentheses.
    fn read_op<'s>(
        &mut self,
        src: &mut Source<'_>,
        table: &'s OpTable,
        attrs: &mut Attributes,
    ) -> Parsed<&'s OpSyntax> {
        let Some(name) = src.cursor.op_name()? else {
            let fault = src.cursor.unexpected("the name of an op");
            return Err(suggest::not_op(src, fault.start, fault));
        };
        self.name = src.cursor.at() - name.len()..src.cursor.at();
        if name == "BinOp" {
            return self.read_binary(src, table, attrs);
        }
        let Some(op) = table.named(name) else {
            let nearest = if src.suggest {
                table.nearest(name)
            } else {
                None
            };
            let name = excerpt(name);
            let fault = SyntaxError::UnknownOp { name, nearest };
            let fault = fault.at(self.name.start, self.name.end);
            return Err(suggest::unknown_op(src, &self.name, fault));
        };
        src.note(self.name.start, Entity::Op(op.def), Role::Reference);
        attrs.start(op.keys.len());
        if src.cursor.eat(b'(') {
            self.read_arguments(src, op, attrs)?;
        }
        Ok(op)
    }

    /// Reads the rest of `BinOp(Add, %0, %1)`.
    fn read_binary<'s>(
        &mut self,
        src: &mut Source<'_>,
        table: &'s OpTable,
        attrs: &mut Attributes,
    ) -> Parsed<&'s OpSyntax> {
        src.cursor
            .expect(b'(', "`(` and the name of an op of two operands")?;
        let Some(name) = src.cursor.op_name()? else {
            return Err(src.cursor.unexpected("the name of an op of two operands"));
        };
        self.name = src.cursor.at() - name.len()..src.cursor.at();
        let Some(op) = table.binary(name) else {
            let nearest = if src.suggest {
                table.nearest_binary(name)
            } else {
                None
            };
            let name = excerpt(name);
            let error = SyntaxError::UnknownBinOp { name, nearest };
            return Err(error.at(self.name.start, self.name.end));
        };
        src.note(self.name.start, Entity::Op(op.def), Role::Reference);
        attrs.start(op.keys.len());
        src.cursor.expect(b',', "`,` and the operands")?;
        self.read_arguments(src, op, attrs)?;
        Ok(op)
    }

    /// Reads operands, then attributes in the order of the op's table entry, up to `)`.
    fn read_arguments(
        &mut self,
        src: &mut Source<'_>,
        op: &OpSyntax,
        attrs: &mut Attributes,
    ) -> Parsed<()> {
        let mut next = 0;
        src.list(b')', "`,` or `)`", |src| {
            if src.cursor.peek() != b'%' {
                next = attrs.read_argument(src, op, next)?;
                return Ok(());
            }
            let (id, at) = src.label(Role::Reference)?;
            if next > 0 {
                return Err(SyntaxError::LateOperand { label: id }.at(at, src.cursor.at()));
            }
            self.operands.push(Label { id, at });
            Ok(())
        })
    }

    /// Reads one type, or several separated by commas; `_` is an omitted type.
    fn read_types(&mut self, src: &mut Source<'_>) -> Parsed<()> {
        loop {
            src.cursor.peek();
            let start = src.cursor.at();
            let open = src.cursor.number() == "_";
            if open {
                self.types.push(None);
            } else {
                src.cursor.seek(start);
                self.types.push(Some(src.ty()?));
            }
            if !src.cursor.eat(b',') {
                return Ok(());
            }
        }
    }
}
