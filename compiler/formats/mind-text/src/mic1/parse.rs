//! Reading mic@1, line by line.

use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::attr::Attr;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, NewOp};
use mind_ir::opdef::{Op, nearest};
use mind_ir::types::{DType, Shape, TypeView};
use mind_ir::{OpId, Sym, Ty, ValueId};
use smallvec::SmallVec;

use super::HEADER;
use super::bodies;
use super::fast_path;
use super::ids::Entry;
use super::kinds::NodeKinds;
use super::results;

use super::reader::{Data, ForwardReference, Head, Reader, Target, node_meant};
use super::special::{in_quotes, literal};
use super::value::check_rank;
use crate::foreign::{ForeignType, lacking, unknown_dtype};
use crate::header::{end_of_line, read_header};
use crate::limits::Limits;
use crate::quoted::read_quoted;
use crate::scan::{Cursor, Parsed, excerpt};
use crate::source_map::{Entity, Role, SourceMap};

/// Reads a whole text.
pub(super) fn parse(
    kinds: &NodeKinds,
    text: &str,
    base: u32,
    limits: &Limits,
    map: Option<&mut SourceMap>,
) -> Result<Graph, Diagnostics> {
    let mut cursor = Cursor::new(text, base, limits).map_err(|error| Diagnostics::from(*error))?;
    read_header(&mut cursor, HEADER).map_err(|error| Diagnostics::from(*error))?;
    const BYTES_PER_LINE: usize = 16;
    let mut graph = Graph::with_capacity((cursor.left() / BYTES_PER_LINE + 1).min(limits.nodes));
    let mut parser = Parser {
        kinds,
        reader: Reader::new(cursor, limits, &mut graph, map),
        outputs: SmallVec::new(),
        found: Vec::new(),
    };
    parser.lines();
    parser.resolve();
    if parser.found.is_empty() {
        Ok(graph)
    } else {
        Err(parser.diagnostics())
    }
}

struct Parser<'t> {
    kinds: &'t NodeKinds,
    reader: Reader<'t>,
    /// Node ids of the outputs, each with the offset and the span of the id.
    outputs: SmallVec<[(u64, usize, Span); 4]>,
    /// Errors, each with the undefined node that it is about, if any.
    found: Vec<(Box<Diagnostic>, Option<u64>)>,
}

impl Parser<'_> {
    fn lines(&mut self) {
        loop {
            // The fast path records no names.
            let reader = &self.reader;
            if reader.map.is_none() && reader.several.is_none() && !reader.has_bodies {
                fast_path::lines(&mut self.reader, self.kinds);
            }
            let cursor = &mut self.reader.cursor;
            if !cursor.next_line() {
                return;
            }
            cursor.blanks();
            if cursor.at_line_end() {
                continue;
            }
            let start = cursor.at();
            if cursor.line() > self.reader.limits.lines {
                let message = format!("more than {} lines", self.reader.limits.lines);
                let error = cursor.error_at(start, message);
                return self.found.push((Box::new(error), None));
            }
            if let Err(error) = self.line(start) {
                self.found.push((error, self.reader.undefined.take()));
                if self.reader.stopped || self.found.len() == Diagnostics::KEPT {
                    return;
                }
            }
        }
    }

    /// Reads the line that starts at the cursor, `start`.
    #[inline]
    fn line(&mut self, start: usize) -> Parsed<()> {
        match self.reader.cursor.peek() {
            b'N' => self.node_line(start),
            b'S' => self.string_line(),
            b'T' => self.type_line(),
            b'O' => self.output_line(start),
            b'B' => self.body_line(start, bodies::begin),
            b'E' => {
                self.settle_bodies();
                self.body_line(start, bodies::end)
            }
            _ => Err(Box::new(unknown_line(&self.reader.cursor, start))),
        }
    }

    /// Reads a line `B` or `E`; `read` reads it from after the letter.
    fn body_line(
        &mut self,
        start: usize,
        read: fn(&mut Reader<'_>, usize) -> Parsed<()>,
    ) -> Parsed<()> {
        self.settle_results();
        let reader = &mut self.reader;
        reader.poisoned = false;
        reader.cursor.bump();
        if !reader.cursor.at_delimiter() {
            return Err(Box::new(unknown_line(&reader.cursor, start)));
        }
        read(reader, start)
    }

    /// Reports the node above if not all of its results are named.
    fn settle_results(&mut self) {
        if let Some(missing) = results::missing(&mut self.reader) {
            self.found.push((Box::new(missing), None));
        }
    }

    /// Reports the node above if bodies are missing.
    fn settle_bodies(&mut self) {
        if let Some(missing) = self.reader.missing_bodies() {
            self.found.push((Box::new(missing), None));
        }
    }

    /// Reads `N<id> <kind> <operands> <attributes> [T<id>]`.
    #[inline]
    fn node_line(&mut self, start: usize) -> Parsed<()> {
        self.settle_bodies();
        let reader = &mut self.reader;
        reader.count_node(start)?;
        (reader.poisoned, reader.rejected) = (false, false);
        let head = Head {
            id: reader.id("a node such as N3")?,
            start,
        };
        reader.note(start, Entity::Value(head.id), Role::Definition);
        if let Some(first) = reader.nodes.get(head.id) {
            return Err(Box::new(self.defined_twice(head, first)));
        }
        reader.cursor.blanks();
        let kind_at = reader.cursor.at();
        let word = reader.cursor.word();
        if word == results::KIND.as_bytes() {
            let read = results::read(reader, head);
            if read.is_err() {
                reader.nodes.set(head.id, Entry::Failed);
            }
            return read;
        }
        self.settle_results();
        let reader = &mut self.reader;
        let read = match self.kinds.get(word) {
            Some(kind) => {
                reader.note(kind_at, Entity::Op(kind.def), Role::Reference);
                (kind.read)(reader, kind.def, head)
            }
            None => Err(Box::new(unknown_kind(self.kinds, &reader.cursor, kind_at))),
        };
        if read.is_err() {
            reader.nodes.set(head.id, Entry::Failed);
            reader.rejected = true;
            reader.results = None;
        }
        read
    }

    #[cold]
    fn defined_twice(&self, head: Head, first: Entry) -> Diagnostic {
        let message = format!("N{} is defined twice", head.id);
        let error = self
            .reader
            .cursor
            .error_at(head.start, message)
            .code(Code(4002));
        let error = error
            .context("id", format!("N{}", head.id))
            .help("each node has its own id");
        let place = match first {
            Entry::Defined(index) => self.place_of(index),
            Entry::Failed => None,
        };
        match place {
            Some(place) => error.related(place, format!("N{} is first defined here", head.id)),
            None => error,
        }
    }

    /// Returns the span of the definition of the value with this index.
    fn place_of(&self, index: usize) -> Option<Span> {
        let graph = &self.reader.graph;
        graph
            .defining_op(ValueId::new(index))
            .map(|op| graph.span(op))
    }

    /// Reads `S<id> "<text>"`.
    fn string_line(&mut self) -> Parsed<()> {
        let reader = &mut self.reader;
        let start = reader.cursor.at();
        let id = reader.id("a name such as S0")?;
        reader.note(start, Entity::Name(id), Role::Definition);
        if reader.strings.get(id).is_some() {
            let error = reader
                .cursor
                .error_at(start, format!("S{id} is declared twice"));
            return Err(Box::new(error.help("each name has its own number")));
        }
        let read = string(reader);
        let entry = read
            .as_ref()
            .map_or(Entry::Failed, |&index| Entry::Defined(index));
        reader.strings.set(id, entry);
        read.map(|_| ())
    }

    /// Reads `T<id> <dtype>` or `T<id> [<dtype>;<dim>,<dim>...]`.
    fn type_line(&mut self) -> Parsed<()> {
        let reader = &mut self.reader;
        let start = reader.cursor.at();
        let id = reader.id("a type such as T0")?;
        reader.note(start, Entity::Type(id), Role::Definition);
        if reader.types.get(id).is_some() {
            let error = reader
                .cursor
                .error_at(start, format!("T{id} is declared twice"));
            return Err(Box::new(error.help("each type has its own number")));
        }
        let read = spec(reader);
        let entry = read
            .as_ref()
            .map_or(Entry::Failed, |ty| Entry::Defined(ty.index()));
        reader.types.set(id, entry);
        read.map(|_| ())
    }

    /// Reads `O N<id>`.
    fn output_line(&mut self, start: usize) -> Parsed<()> {
        let open = self.reader.open_bodies().into_iter();
        self.found.extend(open.map(|error| (Box::new(error), None)));
        let reader = &mut self.reader;
        reader.cursor.bump();
        if !reader.cursor.at_delimiter() {
            return Err(Box::new(unknown_line(&reader.cursor, start)));
        }
        reader.cursor.blanks();
        let at = reader.cursor.at();
        if reader.cursor.peek() != b'N' {
            let found = reader.cursor.found_at(at);
            let message = format!("expected a node such as N3, found {found}");
            let error = reader.cursor.error_at(at, message);
            let word = reader.cursor.word_at(at);
            return Err(Box::new(match node_meant(word) {
                Some(node) => error.did_you_mean(&node),
                None => error.help("as in `O N3`"),
            }));
        }
        let id = reader.id("a node such as N3")?;
        reader.note(at, Entity::Value(id), Role::Reference);
        let span = reader.cursor.span(at);
        reader.cursor.blanks();
        if reader.cursor.peek() == b'N' {
            return Err(Box::new(second_output(&reader.cursor)));
        }
        end_of_line(&mut reader.cursor)?;
        self.outputs.push((id, at, span));

        Ok(())
    }

    /// Resolves the forward references to `S` and `T` lines.
    fn resolve(&mut self) {
        self.settle_results();
        let open = self.reader.open_bodies().into_iter();
        self.found.extend(open.map(|error| (Box::new(error), None)));
        for ForwardReference { target, id, at } in std::mem::take(&mut self.reader.forward) {
            match target {
                Target::Type(value) => {
                    if let Some(ty) = self.forward_type(id, at) {
                        self.reader.graph.declare(value, ty);
                    }
                }
                Target::Name(input) => self.name(input, id, at),
                Target::Data(op, data) => self.data(op, data, id),
            }
        }
        self.outputs();
    }

    fn forward_type(&mut self, id: u64, at: usize) -> Option<Ty> {
        match self.reader.types.get(id) {
            Some(Entry::Defined(index)) => Some(Ty::new(index)),
            Some(Entry::Failed) => None,
            None => {
                let error = self
                    .reader
                    .cursor
                    .error_at(at, format!("type T{id} is not declared"));
                let error = error.help(format!("add a line `T{id} [f32;2,3]`"));
                self.found.push((Box::new(error), None));
                None
            }
        }
    }

    /// Names an input by an `S` line below it, or after the id itself if no line defines it.
    fn name(&mut self, input: OpId, id: u64, at: usize) {
        let sym = match self.reader.strings.get(id) {
            Some(Entry::Defined(index)) => Sym::new(index),
            Some(Entry::Failed) => return,
            None => match self.reader.intern(&format!("S{id}"), at) {
                Ok(sym) => sym,
                Err(error) => return self.found.push((error, None)),
            },
        };
        let graph = &mut self.reader.graph;
        if let Some(index) = graph.def(input).attr_index("name") {
            graph.set_attr(input, index, Attr::Str(sym));
        }
    }

    /// Reads the elements of a constant, whose type is that of the line `T<id>`.
    fn data(&mut self, constant: OpId, data: Data, id: u64) {
        let Some(Entry::Defined(index)) = self.reader.types.get(id) else {
            return;
        };
        let mut bytes = Vec::new();
        let graph = &self.reader.graph;
        let label = graph.label(graph.result(constant));
        match literal(&self.reader, Ty::new(index), data, label, &mut bytes) {
            Ok(literal) => {
                let graph = &mut self.reader.graph;
                graph.set_attr(constant, 0, Attr::Literal(&literal));
            }
            Err(error) => self.found.push((error, None)),
        }
    }

    fn outputs(&mut self) {
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
        for (position, &(id, at, span)) in self.outputs.iter().enumerate() {
            match self.reader.nodes.get(id) {
                Some(Entry::Defined(index)) => {
                    let value = ValueId::new(index);
                    match self.reader.check_scope("the output", id, value, at) {
                        Ok(()) => values.push(value),
                        Err(error) => self.found.push((error, None)),
                    }
                }
                Some(Entry::Failed) => {}
                None => {
                    let message = format!("output N{id} is not defined");
                    let error = Diagnostic::error(span, message).code(Code(4003));
                    let error = error.help("an output names a node of the module, as in `O N3`");
                    let error = error.context("output", position.to_string());
                    let error = error.context("id", format!("N{id}"));
                    self.found.push((Box::new(error), None));
                }
            }
        }
        let Some(&(_, _, span)) = self.outputs.first() else {
            return;
        };
        let new = NewOp {
            def: Yield::DEF,
            operands: &values,
            attrs: &[],
            results: 0,
            span,
        };
        self.reader.graph.append(new);
    }

    /// Returns the errors in text order. Those for a node that a line below defines name that line.
    fn diagnostics(mut self) -> Diagnostics {
        let mut found = Diagnostics::new();
        for (mut error, undefined) in std::mem::take(&mut self.found) {
            if let Some(id) = undefined
                && let Some(Entry::Defined(index)) = self.reader.nodes.get(id)
                && let Some(place) = self.place_of(index)
            {
                *error = error.related(place, format!("N{id} is defined here"));
            }
            found.push(*error);
        }
        found.sort_by_place();
        found
    }
}

/// Reads the text of an `S` line, and returns the index of its symbol.
fn string(r: &mut Reader<'_>) -> Parsed<usize> {
    r.cursor.blanks();
    let start = r.cursor.at();
    if r.cursor.peek() != b'"' {
        let error = r.cursor.error_at(start, "expected a text in quotes");
        return Err(Box::new(in_quotes(
            &r.cursor,
            start,
            error,
            "as in `S0 \"weight\"`",
        )));
    }
    let text = read_quoted(&mut r.cursor)?;
    end_of_line(&mut r.cursor)?;
    Ok(r.intern(&text, start)?.index())
}

/// Reads the type of a `T` line. If it is written in another tool's spelling, the error suggests the one of mic@1.
fn spec(r: &mut Reader<'_>) -> Parsed<Ty> {
    r.cursor.blanks();
    let start = r.cursor.at();
    plain_spec(r, start).map_err(|error| Box::new(with_type(&r.cursor, start, *error)))
}

#[cold]
fn with_type(cursor: &Cursor<'_>, start: usize, error: Diagnostic) -> Diagnostic {
    let rest = cursor.rest_of_line(start);
    let Some(ty) = ForeignType::parse(rest).filter(|_| error.fix.is_none()) else {
        return error;
    };
    let dtype = ty.dtype.name();
    let written = if ty.dims.is_empty() {
        dtype.to_owned()
    } else {
        format!("[{dtype};{}]", ty.dims(","))
    };
    if written == rest {
        return error;
    }
    let fix = cursor.edit(start, rest.len(), written.as_str());
    error.help(format!("write `{written}`")).fix(fix)
}

fn plain_spec(r: &mut Reader<'_>, open: usize) -> Parsed<Ty> {
    let bracket = r.cursor.eat(b'[');
    r.cursor.blanks();
    let dtype = dtype(r)?;
    let mut shape = Shape::new();
    if bracket {
        r.cursor.blanks();
        dims(r, open, &mut shape)?;
    }
    end_of_line(&mut r.cursor)?;
    Ok(r.graph.intern_type(TypeView {
        dtype,
        shape: &shape,
    }))
}

fn dtype(r: &mut Reader<'_>) -> Parsed<DType> {
    let start = r.cursor.at();
    let word = r.cursor.item();
    r.note(start, Entity::DType, Role::Reference);
    DType::parse(word).ok_or_else(|| {
        if word.is_empty() {
            return Box::new(
                r.cursor
                    .error_at(start, "expected a type such as f32 or [f32;2,3]"),
            );
        }
        Box::new(unknown_dtype(r.cursor.span(start), word))
    })
}

/// Reads `;<dim>,<dim>...]`.
fn dims(r: &mut Reader<'_>, open: usize, shape: &mut Shape) -> Parsed<()> {
    if r.cursor.peek() != b';' {
        if r.cursor.at_line_end() {
            return Err(Box::new(r.open_bracket(open)));
        }
        let at = r.cursor.at();
        let message = "expected ';' after the dtype, as in [f32;2,3]";
        return Err(Box::new(r.cursor.error_at(at, message)));
    }
    r.list_from(open, |r| {
        check_rank(r, shape.len(), r.cursor.at())?;
        shape.push(r.dim()?);
        Ok(())
    })
}

#[cold]
fn unknown_line(cursor: &Cursor<'_>, start: usize) -> Diagnostic {
    let found = cursor.found_at(start);
    let message = format!("expected a line of kind S, T, N, B, E or O, found {found}");
    let (error, word) = (cursor.error_at(start, message), cursor.word_at(start));
    let rest = word.strip_prefix(['s', 't', 'n', 'o']);
    if rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
        return error.did_you_mean(&word.to_ascii_uppercase());
    }
    if word.starts_with("//") {
        return error.help("a comment starts with '#'");
    }
    if ["output", "outputs", "outputs:", "return", "out"].contains(&word.to_lowercase().as_str()) {
        return error.help("an output is written `O N3`, each on a separate line");
    }
    error.help("names are lines such as `S0 \"x\"`, types `T0 [f32;2,3]`, nodes `N1 relu N0 T0`, outputs `O N1`")
}

/// Returns the error for a second node on the output line at the cursor.
#[cold]
fn second_output(cursor: &Cursor<'_>) -> Diagnostic {
    let (at, word) = (cursor.at(), cursor.word_at(cursor.at()));
    let message = format!("expected the end of the line, found {}", excerpt(word));
    let fix = cursor.edit(at, word.len(), format!("\nO {word}"));
    let help = format!("each output has its line: write `O {word}` below");
    cursor.error_at(at, message).help(help).fix(fix)
}

#[cold]
fn unknown_kind(kinds: &NodeKinds, cursor: &Cursor<'_>, at: usize) -> Diagnostic {
    let word = cursor.word_at(at);
    if word.is_empty() {
        return cursor
            .error_at(at, "expected a kind such as add, found the end of the line")
            .help("as in `N2 add N0 N1 T0`");
    }
    let error = cursor.error_at(at, format!("unknown kind {}", excerpt(word)));
    let foreign = kinds.foreign(word);
    let own = foreign.and_then(|def| Some((def, kinds.spelling(def)?)));
    match (own, foreign) {
        (Some((_, spelling)), _) => error.did_you_mean(spelling.kind),
        (None, Some(def)) => error.help(lacking("mic@1", def)),
        (None, None) => match nearest(word, kinds.words()) {
            Some(kind) => error.did_you_mean(kind),
            None => {
                error.help("`mind-opt --show-dialects` lists the ops and what mic@1 calls them")
            }
        },
    }
}
