//! Reading mic@2, line by line.

use mind_diag::{Code, Diagnostic, Diagnostics};
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, NewOp};
use mind_ir::opdef::{Op, nearest};
use mind_ir::types::{DType, Shape, TypeView};
use mind_ir::{Ty, ValueId};

use super::HEADER;
use super::opcodes::Opcodes;
use super::plain;
use super::reader::{InputOp, Reader};
use crate::header::{end_of_line, read_header};
use crate::limits::Limits;
use crate::scan::{Cursor, Parsed, shown};
use crate::source_map::{Entity, Role, SourceMap};

/// Reads a whole text.
pub(super) fn parse(
    opcodes: &Opcodes,
    text: &str,
    base: u32,
    limits: &Limits,
    map: Option<&mut SourceMap>,
) -> Result<Graph, Diagnostics> {
    let mut cursor = Cursor::new(text, base, limits).map_err(|error| Diagnostics::from(*error))?;
    read_header(&mut cursor, HEADER).map_err(|error| Diagnostics::from(*error))?;
    const BYTES_PER_LINE: usize = 8;
    let mut graph = Graph::with_capacity((cursor.left() / BYTES_PER_LINE + 1).min(limits.nodes));
    let mut parser = Parser {
        opcodes,
        reader: Reader::new(cursor, limits, &mut graph, map),
        types_broken: false,
        done: false,
        found: Diagnostics::new(),
    };
    parser.lines();
    if parser.found.has_errors() {
        Err(parser.found)
    } else {
        Ok(graph)
    }
}

struct Parser<'t> {
    opcodes: &'t Opcodes,
    reader: Reader<'t>,
    /// Whether a `T` line had an error, so that a type may be missing for that reason.
    types_broken: bool,
    /// Whether the output was read.
    done: bool,
    found: Diagnostics,
}

impl Parser<'_> {
    fn lines(&mut self) {
        loop {
            // Plain lines record no names.
            if !self.done && self.reader.map.is_none() {
                plain::lines(&mut self.reader, self.opcodes);
            }
            let reader = &mut self.reader;
            if !reader.cursor.next_line() {
                break;
            }
            reader.cursor.blanks();
            if reader.cursor.at_line_end() {
                continue;
            }
            let start = reader.cursor.at();
            if reader.cursor.line() > reader.limits.lines {
                let message = format!("more than {} lines", reader.limits.lines);
                return self.found.push(reader.cursor.error_at(start, message));
            }
            if self.done {
                let error = reader
                    .cursor
                    .error_at(start, "nothing may follow the output");
                return self
                    .found
                    .push(error.help("the line `O <id>` is the last one"));
            }
            if let Err(error) = self.line(start) {
                self.found.push(*error);
                self.reader.broken = true;
                if self.reader.stopped || self.found.iter().len() == Diagnostics::KEPT {
                    return;
                }
            }
            if self.reader.values > self.reader.limits.nodes {
                let message = format!("more than {} values", self.reader.limits.nodes);
                return self.found.push(self.reader.cursor.error_at(start, message));
            }
        }
        if !self.done {
            let span = self.reader.cursor.last_line_span();
            let error = Diagnostic::error(span, "the module has no output").code(Code(4003));
            self.found
                .push(error.help("the last line is `O <id>`, with the id of a value"));
        }
    }

    /// Reads the line at `start`, which is the cursor.
    #[inline]
    fn line(&mut self, start: usize) -> Parsed<()> {
        let second = self.reader.cursor.ahead(1);
        let alone = || matches!(second, b' ' | b'\t' | b'\r' | b'\n' | b'#');
        match self.reader.cursor.peek() {
            b'T' if second.is_ascii_digit() || alone() => {
                let read = self.type_line(start);
                self.types_broken |= read.is_err();
                read
            }
            b'S' if alone() => self.symbol_line(),
            b'O' if alone() => self.output_line(start),
            letter @ (b'a' | b'p') if alone() && self.opcodes.input.is_some() => {
                let input = self.opcodes.input;
                let read = input.map_or(Ok(()), |op| self.input_line(op, letter == b'p', start));
                self.reader.values += 1;
                read
            }
            _ => {
                let read = self.node_line(start);
                self.reader.values += 1;
                read
            }
        }
    }

    /// `S <ident>`
    fn symbol_line(&mut self) -> Parsed<()> {
        let reader = &mut self.reader;
        reader.cursor.bump();
        reader.cursor.blanks();
        let start = reader.cursor.at();
        let name = reader.ident("a symbol")?;
        let sym = reader.declare(name, start)?;
        reader.note(start, Entity::Symbol(sym.index() as u32), Role::Definition);
        reader.graph.preamble.symbols.push(sym);
        end_of_line(&mut reader.cursor)
    }

    /// `T<i> <dtype> <dim>...`
    fn type_line(&mut self, start: usize) -> Parsed<()> {
        let reader = &mut self.reader;
        reader.cursor.bump();
        let index = reader.cursor.uint();
        let expected = reader.graph.preamble.types.len() as u64;
        if !reader.cursor.at_delimiter() || (index != Some(expected) && !self.types_broken) {
            let found = reader.cursor.found_at(start);
            let message = format!("expected type 'T{expected}', found {found}");
            let error = reader.cursor.error_at(start, message);
            return Err(Box::new(
                error.help("types are numbered from 0 in the order of their lines"),
            ));
        }
        reader.note(start, Entity::Type(expected), Role::Definition);
        reader.cursor.blanks();
        let at = reader.cursor.at();
        reader.cursor.word();
        let Some(dtype) = DType::parse(reader.cursor.since(at)) else {
            return Err(Box::new(unknown_dtype(&reader.cursor, at)));
        };
        reader.note(at, Entity::DType, Role::Reference);
        let mut shape = Shape::new();
        reader.dims(true, &mut shape)?;
        let ty = reader.graph.intern_type(TypeView {
            dtype,
            shape: &shape,
        });
        reader.declare_type(ty);
        Ok(())
    }

    /// `a <ident> T<i>` or `p <ident> T<i>`
    fn input_line(&mut self, op: InputOp, param: bool, start: usize) -> Parsed<()> {
        let reader = &mut self.reader;
        reader.cursor.bump();
        reader.note(start, Entity::Op(op.def), Role::Reference);
        reader.cursor.blanks();
        let name_at = reader.cursor.at();
        let name = reader.ident("a name")?;
        reader.note(
            name_at,
            Entity::Value(reader.values as u64),
            Role::Definition,
        );
        reader.cursor.blanks();
        let at = reader.cursor.at();
        let declared = self.type_reference(at)?;
        let reader = &mut self.reader;
        end_of_line(&mut reader.cursor)?;
        let Some(ty) = declared else {
            reader.broken = true;
            return Ok(());
        };
        let name = reader.intern(name, name_at)?;
        let span = reader.cursor.span_of_line(start);
        reader.push_input(op, param, name, ty, span);
        Ok(())
    }

    /// The `T` line that the word at `at` names; none where that line may have had an error.
    fn type_reference(&mut self, at: usize) -> Parsed<Option<(u32, Ty)>> {
        let cursor = &mut self.reader.cursor;
        let index = if cursor.eat(b'T') {
            cursor.uint()
        } else {
            None
        };
        let Some(index) = index.filter(|_| cursor.at_delimiter()) else {
            let found = cursor.found_at(at);
            let error = cursor.error_at(at, format!("expected a type such as T0, found {found}"));
            return Err(Box::new(error.code(Code(4004)).help("as in `a x T0`")));
        };
        self.reader.note(at, Entity::Type(index), Role::Reference);
        let (cursor, types) = (&self.reader.cursor, &self.reader.graph.preamble.types);
        match types.get(usize::try_from(index).unwrap_or(usize::MAX)) {
            Some(&ty) => Ok(Some((index as u32, ty))),
            None if self.types_broken => Ok(None),
            None => {
                let message = format!("type T{index} is not declared");
                let help = match types.len() {
                    0 => "add `T0 <dtype> <dims>` above".to_owned(),
                    count => format!("the types so far are T0 to T{}", count - 1),
                };
                Err(Box::new(cursor.error_at(at, message).help(help)))
            }
        }
    }

    /// `<opcode> <inputs> <params>`
    #[inline]
    fn node_line(&mut self, start: usize) -> Parsed<()> {
        let word = self.reader.cursor.word();
        match self.opcodes.get(word) {
            Some(opcode) => {
                let number = self.reader.values as u64;
                self.reader
                    .note(start, Entity::Value(number), Role::Implicit);
                self.reader
                    .note(start, Entity::Op(opcode.def), Role::Reference);
                (opcode.read)(&mut self.reader, opcode.def, start)
            }
            None => Err(Box::new(unknown_opcode(
                self.opcodes,
                &self.reader.cursor,
                start,
            ))),
        }
    }

    /// `O <id>`
    fn output_line(&mut self, start: usize) -> Parsed<()> {
        self.done = true;
        let reader = &mut self.reader;
        reader.cursor.bump();
        reader.cursor.blanks();
        let at = reader.cursor.at();
        let id = reader.int("a value id")?;
        reader.note(at, Entity::Value(id as u64), Role::Reference);
        end_of_line(&mut reader.cursor)?;
        if id < 0 || id as usize >= reader.values {
            let message = format!("output {id} is not defined ({})", reader.values_so_far());
            let error = reader.cursor.error_at(at, message).code(Code(4003));
            return Err(Box::new(
                error.context("output", "0").context("id", id.to_string()),
            ));
        }
        if !reader.broken {
            let (operands, span) = (
                [ValueId::new(id as usize)],
                reader.cursor.span_of_line(start),
            );
            let new = NewOp {
                def: Yield::DEF,
                operands: &operands,
                attrs: &[],
                results: 0,
                span,
            };
            reader.graph.append(new);
        }
        Ok(())
    }
}

#[cold]
fn unknown_opcode(opcodes: &Opcodes, cursor: &Cursor<'_>, start: usize) -> Diagnostic {
    let word = cursor.word_at(start);
    let error = cursor.error_at(start, format!("unknown opcode {}", cursor.found_at(start)));
    match nearest(word, opcodes.words()) {
        Some(opcode) => error.did_you_mean(opcode),
        None => error.help("a line starts with S, T, a, p, O or an opcode"),
    }
}

#[cold]
fn unknown_dtype(cursor: &Cursor<'_>, at: usize) -> Diagnostic {
    let word = cursor.word_at(at);
    if word.is_empty() {
        return cursor.error_at(at, "expected a dtype, found the end of the line");
    }
    let error = cursor.error_at(at, format!("unknown dtype {}", shown(word)));
    match nearest(word, DType::ALL.iter().map(|dtype| dtype.name())) {
        Some(name) => error.did_you_mean(name),
        None => error.help("the dtypes are f16 bf16 f32 f64 i8 to i64, u8 to u64 and bool"),
    }
}
