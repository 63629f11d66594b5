//! State of reading a mic@2 text, and the parts of its lines.

use mind_diag::{Code, Diagnostic, Fix, Span};
use mind_ir::attr::Attr;
use mind_ir::graph::{Graph, NewOp};
use mind_ir::opdef::OpDef;
use mind_ir::types::{Dim, Shape};
use mind_ir::{OpId, Sym, Ty, ValueId};
use smallvec::SmallVec;

use super::parse::NO_CONSTANTS;
use crate::input;
use crate::limits::Limits;
use crate::scan::{Cursor, Parsed, excerpt};
use crate::source_map::{Entity, Role, SourceMap};

/// The integers of a node line.
pub(super) type Ints = SmallVec<[i64; 8]>;

/// The inputs of a node.
pub(super) type Inputs = SmallVec<[ValueId; 6]>;

/// The op of the `a` and `p` lines, with the positions of its attributes.
#[derive(Clone, Copy)]
pub(super) struct InputOp {
    pub(super) def: &'static OpDef,
    pub(super) name: usize,
    pub(super) param: usize,
}

/// State of reading one text.
pub(super) struct Reader<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) limits: &'t Limits,
    /// The module. Nothing is appended after the first error, because its values would no longer be numbered as in the
    /// text.
    pub(super) graph: &'t mut Graph,
    /// Number of value ids so far, including those of lines with errors.
    pub(super) values: usize,
    /// Whether a line had an error.
    pub(super) broken: bool,
    /// Whether a limit was exceeded, which ends the reading.
    pub(super) stopped: bool,
    /// Receives the names of the text, if given.
    pub(super) map: Option<&'t mut SourceMap>,
    /// By symbol: whether an `S` line declares it.
    declared: SmallVec<[bool; 32]>,
    /// By type: the position of the first `T` line that declares it.
    first_of: SmallVec<[u32; 16]>,
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
            values: 0,
            broken: false,
            stopped: false,
            map,
            declared: SmallVec::new(),
            first_of: SmallVec::new(),
        }
    }

    /// Records the entity of the text from `start` to the cursor.
    pub(super) fn note(&mut self, start: usize, entity: Entity, role: Role) {
        if let Some(map) = &mut self.map {
            map.record(self.cursor.span(start), entity, role);
        }
    }

    /// Records the inputs of the node line at `start`, which are the words after its first.
    pub(super) fn note_inputs(&mut self, ids: &[i64], start: usize) {
        let Some(map) = &mut self.map else { return };
        let mut at = start + self.cursor.word_at(start).len();
        for &id in ids {
            let rest = self.cursor.slice(at, self.cursor.at().max(at));
            at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let end = at + self.cursor.word_at(at).len();
            let span = self.cursor.span_of(at, end);
            map.record(span, Entity::Value(id as u64), Role::Reference);
            at = end;
        }
    }

    /// Reads the integers of a node line of `def` up to its end into `ints`.
    ///
    /// # Errors
    ///
    /// Errors for a word that is not an integer, or outside `i64`.
    #[inline]
    pub(super) fn ints(&mut self, def: &OpDef, ints: &mut Ints) -> Parsed<()> {
        loop {
            self.cursor.blanks();
            let start = self.cursor.at();
            match self.cursor.uint() {
                Some(value) if self.cursor.at_delimiter() => ints.push(value as i64),
                _ => {
                    self.cursor.go_to(start);
                    if self.cursor.at_line_end() {
                        return Ok(());
                    }
                    let value = self.int("an integer");
                    ints.push(
                        value.map_err(|error| self.for_node(*error, def, ints.len(), start))?,
                    );
                }
            }
        }
    }

    /// Reads the integer at the cursor. `what` describes its role in errors.
    pub(super) fn int(&mut self, what: &str) -> Parsed<i64> {
        let start = self.cursor.at();
        match self.cursor.int() {
            Some(value) if self.cursor.at_delimiter() => Ok(value),
            _ => Err(Box::new(self.not_int(start, what))),
        }
    }

    #[cold]
    fn not_int(&self, start: usize, what: &str) -> Diagnostic {
        let word = self.cursor.word_at(start);
        let found = self.cursor.found_at(start);
        let error = self
            .cursor
            .error_at(start, format!("expected {what}, found {found}"));
        let error = if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            error.code(Code(1005)).context("literal", excerpt(word))
        } else {
            error
        };
        self.with_id(error, start, what)
    }

    /// Completes the error for the word at `start`, which should be `what`, with the integer that it means.
    #[cold]
    fn with_id(&self, error: Diagnostic, start: usize, what: &str) -> Diagnostic {
        let word = self.cursor.word_at(start);
        if word.parse::<i128>().is_ok() {
            return error.help("an integer is from -9223372036854775808 to 9223372036854775807");
        }
        let bare = word.trim_start_matches(['%', 'N', '[', '(', ',']);
        let bare = bare.trim_end_matches([']', ')', ',', ';']);
        if bare.parse::<i64>().is_ok() {
            return error.did_you_mean(bare);
        }
        if word.starts_with("//") {
            return error.help("a comment starts with '#'");
        }
        match self.value_named(word) {
            Some(id) => {
                let fix = self.cursor.edit(start, word.len(), id.to_string());
                let help = format!("values go by number: {} is value {id}", excerpt(word));
                error.help(help).fix(fix)
            }
            None => error.help(match what {
                "a value id" => {
                    "values are numbered from 0 in the order of their lines, as in `O 0`"
                }
                "a dimension" => {
                    "dimensions are integers, symbols or '?', with blanks between them"
                }
                _ => "inputs are value ids and params are integers, with blanks between them",
            }),
        }
    }

    /// Returns the error for the word at `start`, the integer number `index` of a node line of `def`.
    #[cold]
    fn for_node(
        &self,
        error: Diagnostic,
        def: &OpDef,
        index: usize,
        start: usize,
    ) -> Box<Diagnostic> {
        let word = self.cursor.word_at(start);
        if error.fix.is_some() {
            return Box::new(error);
        }
        if let Some((key, value)) = word.split_once('=') {
            let value = value.trim_matches(['[', ']', '(', ')']).replace(',', " ");
            let help = format!("params have no names: write `{value}` for {}", excerpt(key));
            let fix = self.cursor.edit(start, word.len(), value);
            return Box::new(error.help(help).fix(fix));
        }
        let list = word.trim_matches(['[', ']', '(', ')']);
        if list.contains(',') && list.split(',').all(|item| item.parse::<i64>().is_ok()) {
            let list = list.replace(',', " ");
            let fix = self.cursor.edit(start, word.len(), list.as_str());
            return Box::new(
                error
                    .help(format!(
                        "blanks separate the items of a list: write `{list}`"
                    ))
                    .fix(fix),
            );
        }
        let is_input = def.variadic.is_some() || index < def.operands.len();
        let is_number = word.parse::<f64>().is_ok() && word.parse::<i128>().is_err();
        Box::new(match is_input && is_number {
            true => error.help(NO_CONSTANTS),
            false if is_number => error.help("the params of a node are integers"),
            false => error,
        })
    }

    /// Returns the id of the input called `name`, if a line so far declares it.
    fn value_named(&self, name: &str) -> Option<usize> {
        let g = &self.graph;
        let sym = g.symbols().find(name)?;
        let named = |op: &OpId| g.attrs(*op).contains(&Attr::Str(sym));
        let op = g.ops(g.body()).find(named)?;
        Some(g.result(op).index())
    }

    /// Looks up the values for the ids in the node line at `start`. A negative id is treated as a large one.
    ///
    /// # Errors
    ///
    /// Returns E4001 for an id that no line above defines.
    #[inline]
    pub(super) fn inputs(&self, ids: &[i64], start: usize, inputs: &mut Inputs) -> Parsed<()> {
        for (index, &id) in ids.iter().enumerate() {
            if id as u64 >= self.values as u64 {
                return Err(Box::new(self.undefined(id, self.word(start, index + 1))));
            }
            inputs.push(ValueId::new(id as usize));
        }
        Ok(())
    }

    #[cold]
    fn undefined(&self, id: i64, at: usize) -> Diagnostic {
        let found = self.cursor.word_at(at).trim_start_matches('0');
        let found = if found.is_empty() {
            "0".to_owned()
        } else {
            id.to_string()
        };
        let message = format!(
            "input {found} is not defined yet ({})",
            self.values_so_far()
        );
        self.cursor
            .error_at(at, message)
            .code(Code(4001))
            .context("instruction", format!("value {}", self.values))
            .context("operand", found)
            .help("a value can be used only below the line that defines it")
    }

    /// Returns the ids that are defined so far, for messages.
    pub(super) fn values_so_far(&self) -> String {
        match self.values {
            0 => "values so far: none".to_owned(),
            count => format!("values so far: 0..{count}"),
        }
    }

    /// Returns the offset of the `index`-th word of the line at `start`.
    pub(super) fn word(&self, start: usize, index: usize) -> usize {
        let mut at = start;
        for _ in 0..index {
            at += self.cursor.word_at(at).len();
            let rest = &self.cursor.slice(at, self.cursor.at().max(at));
            at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
        }
        at
    }

    /// Reads dimensions up to the end of the line into `dims`. `?` is allowed if `open` is set.
    ///
    /// # Errors
    ///
    /// Errors for too many dimensions, a malformed one, or a symbol that no line above declares.
    pub(super) fn dims(&mut self, open: bool, dims: &mut Shape) -> Parsed<()> {
        loop {
            self.cursor.blanks();
            if self.cursor.at_line_end() {
                return Ok(());
            }
            let start = self.cursor.at();
            if dims.len() == self.limits.dims {
                let span = self.cursor.error_at(start, "").span;
                return Err(Box::new(self.limits.rank_error(span)));
            }
            dims.push(match self.cursor.uint() {
                Some(extent) if self.cursor.at_delimiter() => Dim::Fixed(extent as i64),
                _ => {
                    self.cursor.go_to(start);
                    self.other_dim(open)?
                }
            });
        }
    }

    /// Reads a dimension that is not a plain number.
    fn other_dim(&mut self, open: bool) -> Parsed<Dim> {
        let start = self.cursor.at();
        match self.cursor.peek() {
            b'-' | b'0'..=b'9' => self.int("a dimension").map(Dim::Fixed),
            b'?' if self.cursor.word() == b"?" => {
                if open {
                    Ok(Dim::Dynamic)
                } else {
                    Err(Box::new(self.open_target(start)))
                }
            }
            _ => {
                self.cursor.go_to(start);
                self.symbol().map(Dim::Symbol)
            }
        }
    }

    #[cold]
    fn open_target(&self, start: usize) -> Diagnostic {
        self.cursor
            .error_at(start, "a target dimension cannot be '?'")
            .help("use -1 for the extent that is left")
    }

    fn symbol(&mut self) -> Parsed<Sym> {
        let start = self.cursor.at();
        let word = self.ident("a dimension")?;
        if let Some(sym) = self.graph.symbols().find(word)
            && self
                .declared
                .get(sym.index())
                .is_some_and(|&declared| declared)
        {
            self.note(start, Entity::Symbol(sym.index() as u32), Role::Reference);
            return Ok(sym);
        }
        self.declare(word, start)?;
        let error = self
            .cursor
            .error_at(start, format!("symbol {} is not declared", excerpt(word)));
        let line = format!("S {}", excerpt(word).trim_matches('\''));
        let fix = Fix {
            span: self.cursor.line_start(),
            text: format!("{line}\n"),
        };
        Err(Box::new(error.help(format!("add `{line}` above")).fix(fix)))
    }

    /// Returns the symbol for the `name` at `start`.
    ///
    /// # Errors
    ///
    /// Errors if there are more names than the limit.
    #[inline]
    pub(super) fn intern(&mut self, name: &str, start: usize) -> Parsed<Sym> {
        let sym = self.graph.intern(name);
        if self.graph.symbols().len() > self.limits.strings {
            self.stopped = true;
            let message = format!("more than {} names and symbols", self.limits.strings);
            return Err(Box::new(self.cursor.error_at(start, message)));
        }
        Ok(sym)
    }

    /// Declares the `name` at `start` as a dimension symbol.
    pub(super) fn declare(&mut self, name: &str, start: usize) -> Parsed<Sym> {
        let sym = self.intern(name, start)?;
        if self.declared.len() <= sym.index() {
            self.declared.resize(sym.index() + 1, false);
        }
        self.declared[sym.index()] = true;
        Ok(sym)
    }

    /// Reads the identifier at the cursor. `what` describes its role in errors, for example "a name".
    #[inline]
    pub(super) fn ident(&mut self, what: &str) -> Parsed<&'t str> {
        let start = self.cursor.at();
        let ident = self.cursor.ident();
        if !ident.is_empty() && self.cursor.at_delimiter() {
            return Ok(ident);
        }
        Err(Box::new(self.cursor.not_ident_at(start, what)))
    }

    /// Adds the type of the next `T` line.
    #[inline]
    pub(super) fn declare_type(&mut self, ty: Ty) {
        let types = &mut self.graph.preamble.types;
        if ty.index() == self.first_of.len() {
            self.first_of.push(types.len() as u32);
        }
        types.push(ty);
    }

    /// Appends the input at `span`, whose type is that of the given `T` line.
    #[inline]
    pub(super) fn push_input(
        &mut self,
        op: InputOp,
        param: bool,
        name: Sym,
        ty: (u32, Ty),
        span: Span,
    ) {
        let (value, (position, ty)) = (ValueId::new(self.values), ty);
        let attrs = input::attrs(op.def, name, param);
        self.push_at(op.def, &[], &attrs, span);
        if !self.broken {
            self.graph.declare(value, ty);
            if self.first_of[ty.index()] != position {
                self.graph.preamble.repeated.push((value, position));
            }
        }
    }

    /// Appends the op of the node line at `start`, which ends at the cursor.
    pub(super) fn push(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        start: usize,
    ) {
        self.push_at(def, operands, attrs, self.cursor.span_of_line(start));
    }

    /// Appends the op at `span`.
    #[inline(always)]
    pub(super) fn push_at(
        &mut self,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        span: Span,
    ) {
        if self.broken {
            return;
        }
        if let Some(map) = &mut self.map {
            map.bind(self.values as u64, ValueId::new(self.values));
        }
        self.graph.append(NewOp {
            def,
            operands,
            attrs,
            results: 1,
            span,
        });
    }
}
