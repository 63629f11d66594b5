//! Bodies: their braces, arguments and terminators.

use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{BlockId, OpId, Ty};

use super::Parser;
use crate::core::error::{Fault, MAX_NESTING, Parsed, SyntaxError};
use crate::core::labels::{Entry, Label, LabelState};
use crate::source_map::Role;

/// A body being read.
pub(super) struct Body {
    /// Its block; `None` in a rejected body, whose lines are checked but create nothing.
    pub(super) block: Option<BlockId>,
    /// Identifies the scope of its ids; 0 for the module's own body.
    pub(super) scope: u32,
    pub(super) progress: BodyProgress,
    /// The op that it belongs to, and its index among the op's bodies.
    owner: Option<(OpId, usize)>,
    /// Offset of its opening brace.
    opened: usize,
}

/// How far a body has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BodyProgress {
    /// Nothing yet: `args:` is allowed.
    Start,
    /// At least one line.
    Lines,
    /// Its terminator.
    Ended,
}

impl Body {
    /// Creates the module's own body.
    pub(super) fn module(g: &Graph) -> Body {
        Body {
            block: Some(g.body()),
            scope: 0,
            progress: BodyProgress::Start,
            owner: None,
            opened: 0,
        }
    }
}

impl Parser<'_> {
    /// Returns the innermost open body.
    pub(super) fn body(&self) -> &Body {
        self.bodies
            .last()
            .expect("the module's own body stays open")
    }

    /// Returns the innermost open body.
    pub(super) fn body_mut(&mut self) -> &mut Body {
        self.bodies
            .last_mut()
            .expect("the module's own body stays open")
    }

    /// Returns whether the innermost body may use values of the open body `scope`: no op between them has closed bodies, as
    /// `mil.while_loop` does not.
    pub(super) fn is_captured(&self, scope: u32) -> bool {
        for body in self.bodies.iter().rev() {
            if body.scope == scope {
                return true;
            }
            let owner = body.owner.map(|(op, _)| self.src.graph.def(op));
            if owner.is_none_or(OpDef::has_closed_body) {
                return false;
            }
        }
        false
    }

    /// Opens body `index` of `op`, whose brace is at `at`.
    pub(super) fn open_body(&mut self, op: OpId, index: usize, at: usize) -> Parsed<()> {
        if self.bodies.len() > MAX_NESTING {
            self.open_rejected(at);
            return Err(SyntaxError::Depth { what: "bodies" }.at(at, at + 1));
        }
        let block = self.src.graph.block(self.src.graph.regions(op)[index]);
        self.push(Some(block), Some((op, index)), at);
        Ok(())
    }

    /// Opens a body of a rejected op.
    pub(super) fn open_rejected(&mut self, at: usize) {
        self.push(None, None, at);
    }

    fn push(&mut self, block: Option<BlockId>, owner: Option<(OpId, usize)>, opened: usize) {
        self.scopes += 1;
        let scope = self.scopes;
        self.bodies.push(Body {
            block,
            scope,
            progress: BodyProgress::Start,
            owner,
            opened,
        });
    }

    /// Reads `}`, or `} {` between two bodies of an op.
    pub(super) fn close_body(&mut self) -> Parsed<()> {
        let at = self.src.cursor.at();
        self.src.cursor.eat(b'}');
        if self.bodies.len() == 1 {
            return Err(SyntaxError::StrayBrace.at(at, at + 1));
        }
        let closed = self.bodies.pop();
        let again = self.src.cursor.opens_body();
        let brace = self.src.cursor.at();
        let Some((op, index)) = closed.and_then(|body| body.owner) else {
            if again {
                self.open_rejected(brace);
                return Ok(());
            }
            return self.end_line();
        };
        let (expected, found) = (
            self.src.graph.regions(op).len(),
            index + 1 + usize::from(again),
        );
        match (again, expected > index + 1) {
            (true, true) => self.open_body(op, index + 1, brace),
            (false, false) => self.end_line(),
            _ => {
                let name = self.src.graph.def(op).short_name();
                Err(SyntaxError::bodies(name, expected, found).at(at, at + 1))
            }
        }
    }

    /// Reads `args: %4, %5`, optionally with types. The cursor is after the keyword, which starts at `start`.
    pub(super) fn arguments(&mut self, start: usize) -> Parsed<()> {
        let end = self.src.cursor.at();
        if self.bodies.len() == 1 || self.body().progress != BodyProgress::Start {
            let rule = "is allowed only on the first line of a body";
            return Err(SyntaxError::Misplaced {
                keyword: "args",
                rule,
            }
            .at(start, end));
        }
        self.body_mut().progress = BodyProgress::Lines;
        let read = self.read_arguments();
        if read.is_err() || self.body().block.is_none() {
            self.reject_results();
        }
        read
    }

    fn read_arguments(&mut self) -> Parsed<()> {
        let start = self.src.cursor.at();
        let mut types: Vec<Option<Ty>> = Vec::new();
        self.header.results.clear();
        while !self.src.cursor.at_line_end() {
            let (id, at) = self.src.label(Role::Definition)?;
            self.header.results.push(Label { id, at });
            types.push(if self.src.cursor.eat(b':') {
                Some(self.src.ty()?)
            } else {
                None
            });
            if !self.src.cursor.eat(b',') {
                self.end_line()?;
            }
        }
        let count = types.len();
        self.count_nodes(count, start)?;
        self.announce()?;
        let &Body {
            block: Some(block),
            scope,
            ..
        } = self.body()
        else {
            return Ok(());
        };
        let arguments = self.src.graph.add_arguments(block, count);
        for ((value, ty), &label) in arguments.into_iter().zip(types).zip(&self.header.results) {
            self.src.graph.set_label(value, label.id);
            self.src.bind(label.id, value);
            let entry = Entry {
                at: label.at as u32,
                scope,
                state: LabelState::Value(value),
            };
            self.labels.set(label.id, entry);
            if let Some(ty) = ty {
                self.src.graph.declare(value, ty);
            }
        }
        Ok(())
    }

    /// Reads `yield: %8`. The cursor is after the keyword, which starts at `start`.
    pub(super) fn end_body(&mut self, start: usize) -> Parsed<()> {
        let end = self.src.cursor.at();
        if self.bodies.len() == 1 {
            let rule = "ends a body; a module ends with `outputs:`";
            return Err(SyntaxError::Misplaced {
                keyword: "yield",
                rule,
            }
            .at(start, end));
        }
        self.body_mut().progress = BodyProgress::Ended;
        self.read_yielded(start, |parser, why, _, label| {
            parser.unusable(why, label, "`yield`".to_owned())
        })
    }

    /// Reads `outputs: %1, %2`. The cursor is after the keyword, which starts at `start`.
    pub(super) fn outputs(&mut self, start: usize) -> Parsed<()> {
        if let Some(fault) = self.open_body_fault() {
            self.report.add(&fault);
        }
        self.bodies.truncate(1);
        self.body_mut().progress = BodyProgress::Ended;
        self.read_yielded(start, |_, _, index, label| SyntaxError::UndefinedOutput {
            index,
            label: label.id,
        })
    }

    /// Reads the ids after `outputs:` or `yield:` and creates the block's terminator.
    fn read_yielded(
        &mut self,
        start: usize,
        error: impl Fn(&Self, super::instruction::Unusable, usize, Label) -> SyntaxError,
    ) -> Parsed<()> {
        let mut known = true;
        self.values.clear();
        let mut index = 0;
        while !self.src.cursor.at_line_end() {
            let (id, at) = self.src.label(Role::Reference)?;
            let (label, end) = (Label { id, at }, self.src.cursor.at());
            match self.value(label) {
                Ok(Some(value)) => self.values.push(value),
                Ok(None) => known = false,
                Err(why) => return Err(error(self, why, index, label).at(at, end)),
            }
            if self.bodies.len() == 1 {
                self.output_entry(index)?;
            }
            index += 1;
            if !self.src.cursor.eat(b',') && !self.src.cursor.at_line_end() {
                let fault = self.src.cursor.unexpected("`,` or the end of the line");
                return Err(fault.suggest("ids have commas between them, as in `outputs: %1, %2`"));
            }
        }
        let (true, Some(block)) = (known, self.body().block) else {
            return Ok(());
        };
        let end = self.src.cursor.text()[start..self.src.cursor.at()]
            .trim_end()
            .len();
        let span = self.report.span(start, start + end);
        let new = NewOp {
            def: Yield::DEF,
            operands: &self.values,
            attrs: &[],
            results: 0,
            span,
        };
        self.src.graph.insert(InsertPoint::End(block), new);
        Ok(())
    }

    /// Returns the error for the innermost open body whose op was not rejected, if there is one.
    pub(super) fn open_body_fault(&self) -> Option<Box<Fault>> {
        let open = self.bodies.iter().rev().find(|body| body.owner.is_some())?;
        Some(SyntaxError::OpenBody.at(open.opened, open.opened + 1))
    }

    /// Reports the line at `start`, which follows the terminator of the innermost body, and rejects that body.
    ///
    /// # Errors
    ///
    /// Errors after the last line of the module; parsing then ends.
    pub(super) fn after_end(&mut self, start: usize) -> Parsed<()> {
        let end = self.src.cursor.token_end(start);
        if self.bodies.len() == 1 {
            return Err(SyntaxError::AfterEnd { keyword: "outputs" }.at(start, end));
        }
        self.report
            .add(&SyntaxError::AfterEnd { keyword: "yield" }.at(start, end));
        let body = self.body_mut();
        (body.block, body.progress) = (None, BodyProgress::Lines);
        Ok(())
    }
}
