//! Bodies of nodes: their begin and end lines, and the scope of values in them.

use mind_diag::{Code, Diagnostic, Span};
use mind_ir::builtin::Yield;
use mind_ir::graph::{InsertPoint, NewOp, ValueDef};
use mind_ir::opdef::{Op, OpDef, Results};
use mind_ir::{BlockId, OpId, ValueId};
use smallvec::SmallVec;

use super::ids::Entry;
use super::reader::{Declared, ForwardReference, Head, Operands, Reader, Several, Target};
use super::writer::Writer;
use crate::header::end_of_line;
use crate::refusal::Refusal;
use crate::scan::Parsed;
use crate::source_map::{Entity, Role};

/// Maximum nesting depth of bodies.
pub(super) const MAX_NESTING: usize = 32;

/// The key of a node's number of results.
const RESULTS: &str = "results=";

/// A node whose bodies are not all read yet.
pub(super) struct Open {
    /// `None` if the node was rejected. The lines of its bodies are then checked but create nothing.
    op: Option<OpId>,
    /// The id of its first result.
    id: u64,
    /// Number of bodies that have begun.
    begun: usize,
    /// The `B` line of the body being read; `None` between bodies.
    inside: Option<Span>,
}

impl Open {
    pub(super) fn new(op: Option<OpId>, id: u64) -> Open {
        Open {
            op,
            id,
            begun: 0,
            inside: None,
        }
    }
}

impl Reader<'_> {
    /// Returns the block that nodes are appended to; `None` in a body of a rejected node.
    pub(super) fn block(&self) -> Option<BlockId> {
        let Some(open) = self.bodies.iter().rev().find(|open| open.inside.is_some()) else {
            return Some(self.graph.body());
        };
        let op = open.op?;
        Some(self.graph.block(self.graph.regions(op)[open.begun - 1]))
    }

    /// Returns the id of the node whose body is being read.
    fn owner(&self) -> Option<u64> {
        let open = self.bodies.iter().rev().find(|open| open.inside.is_some());
        open.map(|open| open.id)
    }

    /// Checks that a value belongs to the body being read.
    ///
    /// # Errors
    ///
    /// Returns E4001 if it belongs to another body.
    pub(super) fn check_scope(
        &self,
        reader: &str,
        id: u64,
        value: ValueId,
        start: usize,
    ) -> Parsed<()> {
        let own = match self.graph.value_def(value) {
            ValueDef::Result(op, _) => self.graph.parent(op),
            ValueDef::Argument(block, _) => Some(block),
        };
        match self.block() {
            Some(block) if own != Some(block) => {
                Err(Box::new(self.out_of_scope(reader, id, start)))
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn out_of_scope(&self, reader: &str, id: u64, start: usize) -> Diagnostic {
        let (problem, help) = match self.owner() {
            Some(owner) => (
                format!("{reader} uses N{id}, which is outside of the body"),
                format!(
                    "a body reads what it defines: make N{id} an operand of N{owner}, and add an argument to its `B` lines"
                ),
            ),
            None => (
                format!("{reader} uses N{id}, which is inside of a body"),
                "use the result of the node instead; it is the value on the `E` line of its body, as in `E N4`".to_owned(),
            ),
        };
        let error = self.cursor.error_at(start, problem).code(Code(4001));
        let error = error.context("instruction", reader);
        error.context("operand", format!("N{id}")).help(help)
    }

    /// Returns the error for a node with missing bodies. Called at a line that does not begin a body.
    pub(super) fn missing_bodies(&mut self) -> Option<Diagnostic> {
        let open = self.bodies.pop_if(|open| open.inside.is_none())?;
        let op = open.op?;
        let (kind, expected) = (
            self.graph.def(op).short_name(),
            self.graph.regions(op).len(),
        );
        let text = format!("'{kind}' has {}, found {}", count(expected), open.begun);
        let error = Diagnostic::error(self.graph.span(op), text);
        Some(error.help("a body is a line `B` with its arguments, as in `B N3 N4`, its nodes, and a line `E` with what it yields"))
    }

    /// Returns the errors for bodies that are still open at the end of the module.
    pub(super) fn open_bodies(&mut self) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = self.missing_bodies().into_iter().collect();
        for open in std::mem::take(&mut self.bodies) {
            if let (Some(_), Some(begin)) = (open.op, open.inside) {
                let error = Diagnostic::error(begin, "the body has no end");
                found.push(
                    error.help("a body ends with a line `E` and what it yields, as in `E N4`"),
                );
            }
        }
        found
    }
}

fn count(bodies: usize) -> String {
    match bodies {
        1 => "1 body".to_owned(),
        bodies => format!("{bodies} bodies"),
    }
}

/// Reads `B { N<id> [T<id>] }` after the letter; the line starts at `start`.
pub(super) fn begin(r: &mut Reader<'_>, start: usize) -> Parsed<()> {
    let line = r.cursor.span_of_line(start);
    r.has_bodies = true;
    let problem = start_body(r, line, start);
    let arguments = read_arguments(r);
    if let (Err(_), Some(open)) = (&arguments, r.bodies.last_mut()) {
        open.op = None;
    }
    let arguments = arguments?;
    problem?;
    let Some(block) = r.block() else {
        for &(id, ..) in &arguments {
            r.nodes.set(id, Entry::Failed);
        }
        return Ok(());
    };
    let values = r.graph.add_arguments(block, arguments.len());
    for (value, (id, declared)) in values.into_iter().zip(arguments) {
        match declared {
            Declared::Known(ty) => r.graph.declare(value, ty),
            Declared::Forward(id, at) => {
                let target = Target::Type(value);
                r.forward.push(ForwardReference { target, id, at });
            }
            Declared::No | Declared::Failed => {}
        }
        r.graph.set_label(value, id);
        r.nodes.set(id, Entry::Defined(value.index()));
        if let Some(map) = &mut r.map {
            map.bind(id, value);
        }
    }
    Ok(())
}

/// Begins the next body of the node above the line.
fn start_body(r: &mut Reader<'_>, line: Span, start: usize) -> Parsed<()> {
    let is_deep = r.bodies.len() > MAX_NESTING;
    let problem = match r.bodies.last_mut() {
        Some(open) if open.inside.is_none() => {
            (open.begun, open.inside) = (open.begun + 1, Some(line));
            let was_read = open.op.is_some();
            if is_deep {
                open.op = None;
            }
            (is_deep && was_read)
                .then(|| format!("bodies are nested deeper than {MAX_NESTING} levels"))
        }
        Some(_) | None => {
            let has_reason = std::mem::take(&mut r.rejected);
            r.bodies.push(Open {
                begun: 1,
                inside: Some(line),
                ..Open::new(None, 0)
            });
            (!has_reason).then(|| "no node above lacks a body".to_owned())
        }
    };
    let Some(problem) = problem else {
        return Ok(());
    };
    let help = "the bodies of a node follow its line: `N2 if N0 N1`, then `B N3`";
    Err(Box::new(r.cursor.error_at(start, problem).help(help)))
}

/// Reads the arguments of a body with their declared types.
fn read_arguments(r: &mut Reader<'_>) -> Parsed<SmallVec<[(u64, Declared); 4]>> {
    let mut arguments: SmallVec<[(u64, Declared); 4]> = SmallVec::new();
    loop {
        r.cursor.blanks();
        let start = r.cursor.at();
        match r.cursor.peek() {
            b'N' => {
                let id = r.id("a node such as N3")?;
                r.note(start, Entity::Value(id), Role::Definition);
                r.count_node(start)?;
                let is_taken = arguments.iter().any(|(other, _)| *other == id);
                if is_taken || r.nodes.get(id).is_some() {
                    let error = r.cursor.error_at(start, format!("N{id} is defined twice"));
                    let error = error.code(Code(4002)).context("id", format!("N{id}"));
                    return Err(Box::new(error.help("each node has its own id")));
                }
                arguments.push((id, Declared::No));
            }
            b'T' if !arguments.is_empty() => {
                let declared = r.ty()?;
                if let Some((_, ty)) = arguments.last_mut() {
                    *ty = declared;
                }
            }
            _ if r.cursor.at_line_end() => return Ok(arguments),
            _ => {
                let found = r.cursor.found_at(start);
                let error = r.cursor.error_at(
                    start,
                    format!("expected an argument such as N3, found {found}"),
                );
                return Err(Box::new(error.help("as in `B N3 T0 N4`")));
            }
        }
    }
}

/// Reads `E { N<id> }` after the letter; the line starts at `start`.
pub(super) fn end(r: &mut Reader<'_>, start: usize) -> Parsed<()> {
    let mut yielded = Operands::new();
    let block = r.block();
    let read = r.operands_of(&"the end of the body", &mut yielded);
    let read = read.and_then(|_| end_of_line(&mut r.cursor));
    let span = r.cursor.span_of_line(start);
    let Some(open) = r.bodies.last_mut().filter(|open| open.inside.is_some()) else {
        let error = r.cursor.error_at(start, "no body is open");
        return Err(Box::new(error.help(
            "`E` ends the body that a line `B` began; an output is written `O N3`",
        )));
    };
    open.inside = None;
    let (op, id, begun) = (open.op, open.id, open.begun);
    if let Some(op) = op
        && begun == r.graph.regions(op).len()
    {
        r.bodies.pop();
        if r.graph.results(op).len() > 1 {
            r.several = Some(Several {
                op,
                first: id,
                next: 1,
            });
        }
    }
    read?;
    if let (Some(block), false) = (block, r.poisoned) {
        let new = NewOp {
            def: Yield::DEF,
            operands: &yielded,
            attrs: &[],
            results: 0,
            span,
        };
        r.graph.insert(InsertPoint::End(block), new);
    }
    Ok(())
}

/// Reads `results=2` of an op with a variable number of results. Returns whether it was present.
///
/// # Errors
///
/// Errors for 0 and for more results than the remaining lines can name.
pub(super) fn read_count(r: &mut Reader<'_>, def: &OpDef) -> Parsed<bool> {
    let start = r.cursor.at();
    if def.results != Results::Many || !r.cursor.rest_of_line(start).starts_with(RESULTS) {
        return Ok(false);
    }
    r.cursor.go_to(start + RESULTS.len());
    let found = r.int()?;
    // A lower bound: a line that names a result is longer than this.
    const BYTES_PER_LINE: usize = 8;
    let most = 1 + r.cursor.left() / BYTES_PER_LINE;
    match usize::try_from(found) {
        Ok(results) if (1..=most).contains(&results) => r.results = Some(results),
        _ => {
            let error = r
                .cursor
                .error_at(start, format!("a node cannot have {found} results"));
            return Err(Box::new(error.help(
                "a line below names each result after the first: `N5 result N4 1`",
            )));
        }
    }
    Ok(true)
}

/// Prepares for the bodies of a node that was rejected.
pub(super) fn reject(r: &mut Reader<'_>, head: Head) {
    r.results = None;
    r.bodies.push(Open::new(None, head.id));
}

/// Writes the number of results of an op that has several and may have any number.
pub(super) fn write_count(w: &mut Writer<'_>, op: OpId) {
    let results = w.graph.results(op).len();
    if w.graph.def(op).results == Results::Many && results > 1 {
        w.word(&format!("{RESULTS}{results}"));
    }
}

/// Writes the line that begins a body.
///
/// # Errors
///
/// Errors if mic@1 cannot express the type of an argument.
pub(super) fn write_begin(w: &mut Writer<'_>, block: BlockId) -> Result<(), Refusal> {
    w.out().push('B');
    for argument in w.graph.arguments(block) {
        w.node(argument);
        if let Some(ty) = w.graph.declared(argument) {
            w.ty(ty)?;
        }
    }
    w.out().push('\n');
    Ok(())
}

/// Writes the line that ends a body.
pub(super) fn write_end(w: &mut Writer<'_>, block: BlockId) {
    w.out().push('E');
    let end = w.graph.terminator(block);
    for &value in end.map_or(&[][..], |end| w.graph.operands(end)) {
        w.node(value);
    }
    w.out().push('\n');
}
