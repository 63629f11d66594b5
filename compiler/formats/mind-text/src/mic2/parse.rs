//! Reading mic@2, line by line.

use mind_diag::{Code, Diagnostic, Diagnostics};
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, NewOp};
use mind_ir::opdef::{Op, Trait, nearest};
use mind_ir::types::{DType, Shape, TypeView};
use mind_ir::{Ty, ValueId};

use super::HEADER;
use super::fast_path;
use super::opcodes::Opcodes;
use super::reader::{InputOp, Reader};
use crate::foreign::{self, ForeignType, lacking, unknown_dtype};
use crate::header::{end_of_line, read_header};
use crate::limits::Limits;
use crate::scan::{Cursor, Parsed};
use crate::source_map::{Entity, Role, SourceMap};

/// Help for a second output.
const ONE_OUTPUT: &str = "mic@2 has exactly one output; write a module of several in mic@1, as in `O N1` \
     and `O N2`, or in Core text, as in `outputs: %1, %2`";

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
    /// Whether a `T` line had an error, which may be why a type is missing.
    types_broken: bool,
    /// Whether the output was read.
    done: bool,
    found: Diagnostics,
}

impl Parser<'_> {
    fn lines(&mut self) {
        loop {
            // The fast path records no names.
            if !self.done && self.reader.map.is_none() {
                fast_path::lines(&mut self.reader, self.opcodes);
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
                let message = "nothing may follow the output";
                let error = reader.cursor.error_at(start, message);
                return self.found.push(match reader.cursor.word_at(start) {
                    "O" => error.help(ONE_OUTPUT),
                    _ => error.help("the line `O <id>` is the last one: move it to the end"),
                });
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
            let help = match self.reader.values.checked_sub(1) {
                Some(last) => format!("end with the id of a value, as in `O {last}`"),
                None => "declare an input, `a x T0`, and end with `O 0`".to_owned(),
            };
            self.found.push(error.help(help));
        }
    }

    /// Reads the line that starts at the cursor, `start`.
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

    /// Reads `S <ident>`.
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

    /// Reads `T<i> <dtype> <dim>...`. If the type is written in another tool's spelling, the error suggests the one of
    /// mic@2.
    fn type_line(&mut self, start: usize) -> Parsed<()> {
        let read = self.plain_type_line(start);
        read.map_err(|error| Box::new(with_type(&self.reader.cursor, start, *error)))
    }

    fn plain_type_line(&mut self, start: usize) -> Parsed<()> {
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
            return Err(Box::new(dtype_error(&reader.cursor, at)));
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

    /// Reads `a <ident> T<i>` or `p <ident> T<i>`.
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

    /// Returns the `T` line that the word at `at` names; `None` if that line may have had an error.
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
            let help =
                "types are declared on lines above, as in `T0 f32 2 3`, and named by `a x T0`";
            return Err(Box::new(error.code(Code(4004)).help(help)));
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
                    1 => "the only type so far is T0".to_owned(),
                    count => format!("the types so far are T0 to T{}", count - 1),
                };
                Err(Box::new(cursor.error_at(at, message).help(help)))
            }
        }
    }

    /// Reads `<opcode> <inputs> <params>`.
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
            None => {
                let cursor = &self.reader.cursor;
                self.done |= is_output(cursor.word_at(start));
                Err(Box::new(unknown_opcode(self.opcodes, cursor, start)))
            }
        }
    }

    /// Reads `O <id>`.
    fn output_line(&mut self, start: usize) -> Parsed<()> {
        self.done = true;
        let reader = &mut self.reader;
        reader.cursor.bump();
        reader.cursor.blanks();
        let at = reader.cursor.at();
        let id = reader.int("a value id")?;
        reader.note(at, Entity::Value(id as u64), Role::Reference);
        end_of_line(&mut reader.cursor).map_err(|error| {
            let several = reader.cursor.peek().is_ascii_digit();
            Box::new(if several {
                error.help(ONE_OUTPUT)
            } else {
                *error
            })
        })?;
        if id < 0 || id as usize >= reader.values {
            let message = format!("output {id} is not defined ({})", reader.values_so_far());
            let error = reader.cursor.error_at(at, message).code(Code(4003));
            let error = error.context("output", "0").context("id", id.to_string());
            let help = match reader.values.checked_sub(1) {
                Some(last) => format!("values are numbered from 0: the last one is {last}"),
                None => "declare an input above, as in `a x T0`".to_owned(),
            };
            return Err(Box::new(error.help(help)));
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

/// Help for a constant.
pub(super) const NO_CONSTANTS: &str = "mic@2 has no constants: make the number a parameter, as in \
     `p scale T0`, or write the module in mic@1 or Core text";

#[cold]
fn with_type(cursor: &Cursor<'_>, start: usize, error: Diagnostic) -> Diagnostic {
    let word = cursor.word_at(start);
    let line = cursor.rest_of_line(start);
    let rest = line[word.len()..].trim_start();
    let first = rest.split([' ', '\t']).next().unwrap_or_default();
    let other_dtype = error.fix.is_some() && foreign::dtype(first).is_some();
    let Some(ty) = ForeignType::parse(rest).filter(|_| !other_dtype) else {
        return error;
    };
    let mut written = ty.dtype.name().to_owned();
    for dim in &ty.dims {
        written.push(' ');
        written.push_str(dim);
    }
    if written == rest {
        return error;
    }
    let fix = cursor.edit(
        start + line.len() - rest.len(),
        rest.len(),
        written.as_str(),
    );
    error.help(format!("write `{written}`")).fix(fix)
}

/// Returns whether `word` begins an output line in other formats.
#[cold]
fn is_output(word: &str) -> bool {
    const WORDS: [&str; 7] = ["output", "outputs", "outputs:", "out", "ret", "return", "o"];
    WORDS.iter().any(|own| word.eq_ignore_ascii_case(own))
}

#[cold]
fn unknown_opcode(opcodes: &Opcodes, cursor: &Cursor<'_>, start: usize) -> Diagnostic {
    let word = cursor.word_at(start);
    let error = cursor.error_at(start, format!("unknown opcode {}", cursor.found_at(start)));
    let lower = word.to_lowercase();
    match lower.as_str() {
        "param" | "parameter" | "weight" => return error.did_you_mean("p"),
        _ => {}
    }
    if is_output(word) {
        return error.did_you_mean("O");
    }
    if word.starts_with("//") {
        return error.help("a comment starts with '#'");
    }
    let foreign = opcodes.foreign(word);
    let own = foreign.and_then(|def| Some((def, def.names.mic2?)));
    match (own, foreign) {
        (Some((_, opcode)), _) => error.did_you_mean(opcode),
        (None, Some(def)) if def.has(Trait::Constant) => error.help(NO_CONSTANTS),
        (None, Some(def)) => error.help(lacking("mic@2", def)),
        (None, None) => match nearest(word, opcodes.words()) {
            Some(opcode)
                if word.starts_with(|c: char| c.is_ascii_graphic() && !c.is_ascii_digit()) =>
            {
                error.did_you_mean(opcode)
            }
            _ => error.help("a line starts with S, T, a, p, O or an opcode such as m, + or rshp"),
        },
    }
}

#[cold]
fn dtype_error(cursor: &Cursor<'_>, at: usize) -> Diagnostic {
    let word = cursor.word_at(at);
    if word.is_empty() {
        let error = cursor.error_at(at, "expected a dtype, found the end of the line");
        return error.help("as in `T0 f32 2 3`");
    }
    unknown_dtype(cursor.word_span(at), word)
}
