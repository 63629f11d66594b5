//! State of reading a mic@1 text, and the parts of its lines.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::attr::Attr;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::OpDef;
use mind_ir::types::Dim;
use mind_ir::{OpId, Sym, Ty, ValueId};
use smallvec::SmallVec;

use super::bodies::{self, Open};
use super::ids::{Entry, Ids};
use crate::header::end_of_line;
use crate::limits::Limits;
use crate::scan::{Cursor, Parsed, excerpt, is_ident, not_ident};
use crate::source_map::{Entity, Role, SourceMap};

/// The operands of a node.
pub(super) type Operands = SmallVec<[ValueId; 6]>;

/// The start of a node line: its id and its offset.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) id: u64,
    pub(super) start: usize,
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "N{}", self.id)
    }
}

/// The type at the end of a node line.
#[derive(Clone, Copy)]
pub(super) enum Declared {
    /// Not written.
    No,
    /// A type that a line above defines.
    Known(Ty),
    /// A forward reference: an id that no line above defines, and its offset.
    Forward(u64, usize),
    /// The id of a line with an error.
    Failed,
}

/// A forward reference to an `S` or `T` line.
pub(super) struct ForwardReference {
    pub(super) target: Target,
    pub(super) id: u64,
    /// The offset of the id.
    pub(super) at: usize,
}

/// The part of the graph that a forward reference completes.
pub(super) enum Target {
    /// The declared type of a value.
    Type(ValueId),
    /// The name of an input.
    Name(OpId),
    /// The elements of a constant, which are read once its type is known.
    Data(OpId, Data),
}

/// State of reading one text.
pub(super) struct Reader<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) limits: &'t Limits,
    pub(super) graph: &'t mut Graph,
    /// Number of node lines so far.
    pub(super) node_lines: usize,
    pub(super) nodes: Ids,
    pub(super) types: Ids,
    pub(super) strings: Ids,
    /// Forward references to `S` and `T` lines.
    pub(super) forward: Vec<ForwardReference>,
    /// Whether this line uses a definition of a line with an error.
    pub(super) poisoned: bool,
    /// The operand of this line that no line above defines.
    pub(super) undefined: Option<u64>,
    /// Whether a limit was exceeded, which ends the reading.
    pub(super) stopped: bool,
    /// The node whose further results the next lines name.
    pub(super) several: Option<Several>,
    /// The number of results that this line declares for its node.
    pub(super) results: Option<usize>,
    /// Nodes whose bodies are being read, outermost first.
    pub(super) bodies: Vec<Open>,
    /// Whether the text has a body. Only then are scopes checked, because otherwise every value is visible everywhere.
    pub(super) has_bodies: bool,
    /// Whether the last node was rejected.
    pub(super) rejected: bool,
    /// Receives the names of the text, if given.
    pub(super) map: Option<&'t mut SourceMap>,
}

/// A node with several results, one of which the next line names.
#[derive(Clone, Copy)]
pub(super) struct Several {
    pub(super) op: OpId,
    /// The id of its first result.
    pub(super) first: u64,
    /// The number of the result that the next line names.
    pub(super) next: usize,
}

/// Offsets of the elements of a constant in the text.
#[derive(Clone, Copy)]
pub(super) enum Data {
    /// Between two offsets, separated by commas.
    List(usize, usize),
    /// One element, between two offsets.
    Fill(usize, usize),
}

impl<'t> Reader<'t> {
    #[inline]
    pub(super) fn new(
        cursor: Cursor<'t>,
        limits: &'t Limits,
        graph: &'t mut Graph,
        map: Option<&'t mut SourceMap>,
    ) -> Reader<'t> {
        Reader {
            cursor,
            limits,
            graph,
            node_lines: 0,
            nodes: Ids::default(),
            types: Ids::default(),
            strings: Ids::default(),
            forward: Vec::new(),
            poisoned: false,
            undefined: None,
            stopped: false,
            several: None,
            results: None,
            bodies: Vec::new(),
            has_bodies: false,
            rejected: false,
            map,
        }
    }

    /// Records the entity of the text from `start` to the cursor.
    pub(super) fn note(&mut self, start: usize, entity: Entity, role: Role) {
        if let Some(map) = &mut self.map {
            map.record(self.cursor.span(start), entity, role);
        }
    }

    /// Reads an id such as `N3`, whose letter is at the cursor. `what` describes it in errors.
    #[inline(always)]
    pub(super) fn id(&mut self, what: &str) -> Parsed<u64> {
        let start = self.cursor.at();
        self.cursor.bump();
        match self.cursor.uint() {
            Some(id) if self.cursor.at_delimiter() => Ok(id),
            _ => Err(Box::new(self.bad_id(start, what))),
        }
    }

    #[cold]
    fn bad_id(&self, start: usize, what: &str) -> Diagnostic {
        let word = self.cursor.word_at(start);
        let error = self
            .cursor
            .error_at(start, format!("expected {what}, found {}", excerpt(word)));
        let digits = word.get(1..).unwrap_or_default();
        let id = word.trim_end_matches([',', ';', ':']);
        let is_id = id.len() > 1 && id[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_id && id != word {
            let help = format!("blanks separate the words of a line: write `{id}`");
            return error
                .help(help)
                .fix(self.cursor.edit(start, word.len(), id));
        }
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            error
                .code(Code(1005))
                .help("the largest id is 9223372036854775807")
        } else {
            error.help("an id is a letter and a number")
        }
    }

    /// Reads all operands at the cursor and returns their number.
    ///
    /// # Errors
    ///
    /// Returns E4001 for an operand that no line above defines.
    pub(super) fn operands(&mut self, head: Head, operands: &mut Operands) -> Parsed<usize> {
        self.operands_of(&head, operands)
    }

    /// Reads operands as [`operands`](Reader::operands) does; errors name the line `reader`.
    pub(super) fn operands_of(
        &mut self,
        reader: &dyn std::fmt::Display,
        operands: &mut Operands,
    ) -> Parsed<usize> {
        let mut count = 0;
        loop {
            self.cursor.blanks();
            if self.cursor.peek() != b'N' {
                return Ok(count);
            }
            let start = self.cursor.at();
            let id = self.id("a node such as N3")?;
            self.note(start, Entity::Value(id), Role::Reference);
            count += 1;
            match self.nodes.get(id) {
                Some(Entry::Defined(index)) => {
                    let value = ValueId::new(index);
                    if self.has_bodies {
                        self.check_scope(&reader.to_string(), id, value, start)?;
                    }
                    operands.push(value);
                }
                Some(Entry::Failed) => self.poisoned = true,
                None if self.block().is_none() => self.poisoned = true,
                None => return Err(Box::new(self.undefined_node(reader, id, start))),
            }
        }
    }

    #[cold]
    fn undefined_node(
        &mut self,
        reader: &dyn std::fmt::Display,
        id: u64,
        start: usize,
    ) -> Diagnostic {
        self.undefined = Some(id);
        let message = format!("{reader} uses N{id}, which is not defined on an earlier line");
        self.cursor
            .error_at(start, message)
            .code(Code(4001))
            .context("instruction", reader.to_string())
            .context("operand", format!("N{id}"))
            .help("a node can be used only below the line that defines it")
    }

    /// Reads the type at the cursor, if there is one, and the end of the line after it.
    pub(super) fn declared(&mut self) -> Parsed<Declared> {
        self.cursor.blanks();
        if self.cursor.at_line_end() {
            return Ok(Declared::No);
        }
        let start = self.cursor.at();
        if self.cursor.peek() != b'T' {
            return Err(Box::new(self.unexpected(start)));
        }
        let declared = self.ty()?;
        end_of_line(&mut self.cursor)?;
        Ok(declared)
    }

    /// Reads the type at the cursor.
    pub(super) fn ty(&mut self) -> Parsed<Declared> {
        let start = self.cursor.at();
        let id = self.id("a type such as T0")?;
        self.note(start, Entity::Type(id), Role::Reference);
        Ok(match self.types.get(id) {
            Some(Entry::Defined(index)) => Declared::Known(Ty::new(index)),
            Some(Entry::Failed) => Declared::Failed,
            None => Declared::Forward(id, start),
        })
    }

    /// Returns the error for a word that is not expected on its line.
    #[cold]
    pub(super) fn unexpected(&self, start: usize) -> Diagnostic {
        let error = self
            .cursor
            .error_at(start, format!("unexpected {}", self.cursor.found_at(start)));
        let word = self.cursor.word_at(start);
        match node_meant(word) {
            Some(node) => error.did_you_mean(&node),
            None if word.starts_with("//") => error.help("a comment starts with '#'"),
            None => error.help(
                "a node line is `N<id> <kind>`, operands, attributes and the type, as in `N2 sum N0 [1] kd=1 T0`",
            ),
        }
    }

    /// Reads the word at the cursor, up to a comma or bracket, as a dimension.
    pub(super) fn dim(&mut self) -> Parsed<Dim> {
        let start = self.cursor.at();
        let first = self.cursor.peek();
        if first == b'-' || first.is_ascii_digit() {
            return self.int().map(Dim::Fixed);
        }
        let word = self.cursor.item();
        match word {
            "?" => Ok(Dim::Dynamic),
            word if is_ident(word) => {
                let symbol = self.intern(word, start)?;
                let entity = Entity::Symbol(symbol.index() as u32);
                self.note(start, entity, Role::Reference);
                Ok(Dim::Symbol(symbol))
            }
            "" => {
                let message = "expected a dimension: an integer, a symbol or '?'";
                let error = self.cursor.error_at(start, message);
                Err(Box::new(error.help("as in `[f32;2,B,?]`")))
            }
            word => Err(Box::new(not_ident(
                self.cursor.span(start),
                word,
                "a dimension",
            ))),
        }
    }

    /// Reads the integer at the cursor, up to a blank, comma or bracket.
    ///
    /// # Errors
    ///
    /// Returns E1005 if it is malformed or outside `i64`.
    pub(super) fn int(&mut self) -> Parsed<i64> {
        let start = self.cursor.at();
        match self.cursor.int() {
            Some(value) if self.at_item_end() => Ok(value),
            _ => Err(Box::new(self.not_int(start))),
        }
    }

    #[cold]
    fn not_int(&mut self, start: usize) -> Diagnostic {
        const INTEGER: &str = "an integer is digits alone, in the range of i64";
        self.cursor.go_to(start);
        let word = self.cursor.item();
        if word.is_empty() {
            let found = self.cursor.found_at(start);
            let message = format!("expected an integer, found {found}");
            return self.cursor.error_at(start, message).help(INTEGER);
        }
        let span = self.cursor.span(start);
        let message = format!("expected an integer, found {}", excerpt(word));
        let error = Diagnostic::error(span, message).help(INTEGER);
        if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            error.code(Code(1005)).context("literal", excerpt(word))
        } else {
            error
        }
    }

    #[inline]
    pub(super) fn at_item_end(&self) -> bool {
        self.cursor.at_delimiter() || matches!(self.cursor.peek(), b',' | b']')
    }

    /// Reads a list in brackets at the cursor, each of its items with `item`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the items; errors if a comma or the closing bracket is missing.
    pub(super) fn list(&mut self, item: impl FnMut(&mut Reader<'t>) -> Parsed<()>) -> Parsed<()> {
        self.list_from(self.cursor.at(), item)
    }

    /// Reads the items after the byte at the cursor, of a list whose bracket is at `open`.
    pub(super) fn list_from(
        &mut self,
        open: usize,
        mut item: impl FnMut(&mut Reader<'t>) -> Parsed<()>,
    ) -> Parsed<()> {
        self.cursor.bump();
        self.cursor.blanks();
        if self.cursor.eat(b']') {
            return Ok(());
        }
        loop {
            if self.cursor.at_line_end() {
                return Err(Box::new(self.open_bracket(open)));
            }
            item(self)?;
            self.cursor.blanks();
            if self.cursor.eat(b']') {
                return Ok(());
            }
            if !self.cursor.eat(b',') {
                return Err(Box::new(self.no_comma(open)));
            }
            self.cursor.blanks();
        }
    }

    #[cold]
    pub(super) fn open_bracket(&self, open: usize) -> Diagnostic {
        let span = self.cursor.span_of(open, open + 1);
        Diagnostic::error(span, "'[' is not closed").help("a list ends with ']' on its line")
    }

    #[cold]
    fn no_comma(&self, open: usize) -> Diagnostic {
        if self.cursor.at_line_end() {
            return self.open_bracket(open);
        }
        let at = self.cursor.at();
        let found = self.cursor.char().unwrap_or_default();
        let span = self.cursor.span_of(at, at + found.len_utf8());
        let found = excerpt(found.encode_utf8(&mut [0; 4]));
        Diagnostic::error(span, format!("expected ',' or ']', found {found}"))
            .help("the items of a list have commas between them, and ']' ends it")
    }

    /// Returns the symbol for the `name` at `start`.
    ///
    /// # Errors
    ///
    /// Errors if there are more names than the limit.
    pub(super) fn intern(&mut self, name: &str, start: usize) -> Parsed<Sym> {
        let sym = self.graph.intern(name);
        if self.graph.symbols().len() > self.limits.strings {
            self.stopped = true;
            let message = format!("more than {} names and symbols", self.limits.strings);
            return Err(Box::new(self.cursor.error_at(start, message)));
        }
        Ok(sym)
    }

    /// Appends the op of the line `head`, which ends at the cursor. Returns `None` if the line uses a definition of a
    /// line with an error.
    pub(super) fn define(
        &mut self,
        head: Head,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        declared: Declared,
    ) -> Option<OpId> {
        if self.poisoned || matches!(declared, Declared::Failed) || self.block().is_none() {
            self.nodes.set(head.id, Entry::Failed);
            if def.regions > 0 {
                bodies::reject(self, head);
            }
            return None;
        }
        let value = ValueId::new(self.graph.value_bound());
        let ty = self.type_of(value, declared);
        let span = self.cursor.span_of_line(head.start);
        Some(self.append(head.id, def, operands, attrs, ty, span))
    }

    /// Returns the type that a line declares for `value`. For a type that a line below defines, it records a forward
    /// reference and returns `None`.
    fn type_of(&mut self, value: ValueId, declared: Declared) -> Option<Ty> {
        match declared {
            Declared::Known(ty) => Some(ty),
            Declared::Forward(id, at) => {
                let target = Target::Type(value);
                self.forward.push(ForwardReference { target, id, at });
                None
            }
            Declared::No | Declared::Failed => None,
        }
    }

    /// Counts a node that is defined at `start`.
    ///
    /// # Errors
    ///
    /// Errors if there are more nodes than the limit.
    pub(super) fn count_node(&mut self, start: usize) -> Parsed<()> {
        self.node_lines += 1;
        if self.node_lines <= self.limits.nodes {
            return Ok(());
        }
        self.stopped = true;
        let message = format!("more than {} nodes", self.limits.nodes);
        Err(Box::new(self.cursor.error_at(start, message)))
    }

    /// Binds the id of the line `head` to `value`.
    pub(super) fn name(&mut self, head: Head, value: ValueId, declared: Declared) {
        if let Some(ty) = self.type_of(value, declared) {
            self.graph.declare(value, ty);
        }
        if self.graph.label(value) != head.id {
            self.graph.set_label(value, head.id);
        }
        self.nodes.set(head.id, Entry::Defined(value.index()));
        if let Some(map) = &mut self.map {
            map.bind(head.id, value);
        }
    }

    /// Appends the op of the node `id`.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        id: u64,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        declared: Option<Ty>,
        span: Span,
    ) -> OpId {
        let value = ValueId::new(self.graph.value_bound());
        let results = def.results.count();
        let results = results.unwrap_or_else(|| self.results.take().unwrap_or(1));
        let new = NewOp {
            def,
            operands,
            attrs,
            results,
            span,
        };
        let op = match self.bodies.last().and(self.block()) {
            Some(block) => self.graph.insert(InsertPoint::End(block), new),
            None => self.graph.append(new),
        };
        if def.regions > 0 {
            self.has_bodies = true;
            self.bodies.push(Open::new(Some(op), id));
        } else if results > 1 {
            self.several = Some(Several {
                op,
                first: id,
                next: 1,
            });
        }
        if self.graph.label(value) != id {
            self.graph.set_label(value, id);
        }
        if let Some(ty) = declared {
            self.graph.declare(value, ty);
        }
        self.nodes.set(id, Entry::Defined(value.index()));
        if let Some(map) = &mut self.map {
            map.bind(id, value);
        }
        op
    }
}

/// Returns the node that `word` means in the spelling of other formats: `%3`, or `3` alone.
#[cold]
pub(super) fn node_meant(word: &str) -> Option<String> {
    let digits = word.trim_end_matches(',');
    let digits = digits.strip_prefix(['%', 'n']).unwrap_or(digits);
    let is_id = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then(|| format!("N{digits}"))
}
