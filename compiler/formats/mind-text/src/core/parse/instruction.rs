//! Instructions: resolves their ids and creates their ops.

use mind_ir::attr::Literal;
use mind_ir::graph::{InsertPoint, NewOp};
use mind_ir::{OpId, Ty, ValueId};

use super::Parser;
use super::constant::Constant;
use crate::core::error::{Parsed, SyntaxError};
use crate::core::labels::{Entry, Label, LabelState};
use crate::core::table::OpSyntax;

impl Parser<'_> {
    /// Reads an instruction and creates its op. The results of a rejected instruction are recorded, so that their uses
    /// are not further errors.
    pub(super) fn instruction(&mut self) -> Parsed<()> {
        let created = self.create();
        if !matches!(created, Ok(Some(_))) {
            self.reject_results();
        }
        let body = self.header.body;
        match (created?, body) {
            (Some(op), Some(at)) => self.open_body(op, 0, at),
            (None, Some(at)) => {
                self.open_rejected(at);
                Ok(())
            }
            (_, None) => Ok(()),
        }
    }

    /// Reads an instruction and creates its op. Returns `None` if the definition of an operand or the enclosing body
    /// was rejected.
    fn create(&mut self) -> Parsed<Option<OpId>> {
        let op = self
            .header
            .read(&mut self.src, self.table, &mut self.attrs)?;
        self.body_mut().progress = super::BodyProgress::Lines;
        let (results, start) = (self.header.results.len(), self.header.span.start);
        self.count_nodes(results, start)?;
        self.announce()?;
        let known = self.operands(op)?;
        check_counts(op, &self.header)?;
        let first = self.header.types.first().copied().flatten();
        let name = &self.header.name;
        let (src, bytes) = (&mut self.src, &mut self.bytes);
        let constant = Constant::read(src, op, &self.attrs, name, first, bytes)?;
        let created = {
            let literal = constant.as_ref().map(|constant| Literal {
                dtype: constant.dtype,
                count: constant.count,
                bytes: &self.bytes,
            });
            let attrs = self.attrs.values(op, name, literal.as_ref())?;
            let (true, Some(block)) = (known, self.bodies.last().and_then(|body| body.block))
            else {
                return Ok(None);
            };
            let span = self.report.span(start, self.header.span.end);
            let new = NewOp {
                def: op.def,
                operands: &self.values,
                attrs: &attrs,
                results,
                span,
            };
            self.src.graph.insert(InsertPoint::End(block), new)
        };
        let declared = constant.and_then(|constant| constant.declared);
        self.define(created, declared);
        Ok(Some(created))
    }

    /// Marks the results of the line as pending.
    ///
    /// # Errors
    ///
    /// Returns E4002 for an id that is already defined.
    pub(super) fn announce(&mut self) -> Parsed<()> {
        let scope = self.body().scope;
        for &label in &self.header.results {
            if let Some(entry) = self.labels.get(label.id)
                && entry.state != LabelState::Missing
            {
                let text = self.src.cursor.text();
                let earlier = entry.label(label.id);
                let error = SyntaxError::DefinedTwice { label: label.id };
                let fault = error.at(label.at, label.end(text));
                return Err(fault.about((earlier.at, earlier.end(text))));
            }
            let entry = Entry {
                at: label.at as u32,
                scope,
                state: LabelState::Pending,
            };
            self.labels.set(label.id, entry);
        }
        Ok(())
    }

    /// Records the results of a rejected line.
    pub(super) fn reject_results(&mut self) {
        let scope = self.body().scope;
        for &label in &self.header.results {
            let known = self.labels.get(label.id).map(|entry| entry.state);
            if matches!(
                known,
                None | Some(LabelState::Pending | LabelState::Missing)
            ) {
                let entry = Entry {
                    at: label.at as u32,
                    scope,
                    state: LabelState::Failed,
                };
                self.labels.set(label.id, entry);
            }
        }
    }

    /// Resolves the operands. Returns false if the definition of one was rejected.
    ///
    /// # Errors
    ///
    /// Returns E4001 for an undefined operand, or E2007 if the number of operands is wrong too.
    fn operands(&mut self, op: &OpSyntax) -> Parsed<bool> {
        let mut known = true;
        self.values.clear();
        for at in 0..self.header.operands.len() {
            let label = self.header.operands[at];
            match self.value(label) {
                Ok(Some(value)) => self.values.push(value),
                Ok(None) => known = false,
                Err(error) => {
                    let (end, found) = (
                        label.end(self.src.cursor.text()),
                        self.header.operands.len(),
                    );
                    if !op.def.admits_operands(found) {
                        let (op, expected) = (op.name, op.def.arity_text());
                        let span = &self.header.span;
                        return Err(SyntaxError::Arity {
                            op,
                            expected,
                            found,
                        }
                        .at(span.start, span.end));
                    }
                    let user = match self.header.results.first() {
                        Some(result) => format!("%{}", result.id),
                        None => format!("`{}`", op.name),
                    };
                    return Err(self.unusable(error, label, user).at(label.at, end));
                }
            }
        }
        Ok(known)
    }

    /// Returns the value of `label`; `None` if its line was rejected or its absence is already reported. In a rejected
    /// body, scopes are not checked, because the body may have been opened by mistake.
    pub(super) fn value(&mut self, label: Label) -> Result<Option<ValueId>, Unusable> {
        let (scope, rejected) = (self.body().scope, self.body().block.is_none());
        let Some(known) = self.labels.get(label.id) else {
            let (at, state) = (label.at as u32, LabelState::Missing);
            self.labels.set(label.id, Entry { at, scope, state });
            return Err(Unusable::Undefined);
        };
        match known.state {
            LabelState::Value(value) if known.scope == scope || self.is_captured(known.scope) => {
                Ok(Some(value))
            }
            LabelState::Value(_) if rejected => Ok(None),
            LabelState::Value(_) if scope == 0 => Err(Unusable::Inner),
            LabelState::Value(_) => Err(Unusable::Captured),
            LabelState::Failed | LabelState::Missing => Ok(None),
            LabelState::Pending => Err(Unusable::Undefined),
        }
    }

    /// Labels the results with their ids and declares their types. `constant` is the type that a constant's attributes
    /// declare.
    fn define(&mut self, op: OpId, constant: Option<Ty>) {
        let scope = self.body().scope;
        for (at, value) in self.src.graph.results(op).into_iter().enumerate() {
            let label = self.header.results[at];
            self.src.graph.set_label(value, label.id);
            self.src.bind(label.id, value);
            let entry = Entry {
                at: label.at as u32,
                scope,
                state: LabelState::Value(value),
            };
            self.labels.set(label.id, entry);
            if let Some(ty) = self.header.types.get(at).copied().flatten().or(constant) {
                self.src.graph.declare(value, ty);
            }
        }
    }
}

/// Why an id cannot be used.
pub(super) enum Unusable {
    Undefined,
    Captured,
    Inner,
}

impl Parser<'_> {
    /// Returns the error for `user`, which uses `label`.
    pub(super) fn unusable(&self, why: Unusable, label: Label, user: String) -> SyntaxError {
        let label = label.id;
        match why {
            Unusable::Undefined => SyntaxError::Undefined { user, label },
            Unusable::Captured => SyntaxError::Captured { user, label },
            Unusable::Inner => SyntaxError::Inner { user, label },
        }
    }
}

/// Checks the numbers of results, types and bodies.
fn check_counts(op: &OpSyntax, header: &super::Header) -> Parsed<()> {
    let (name, found) = (&header.name, header.results.len());
    if op
        .def
        .results
        .count()
        .is_some_and(|expected| expected != found)
    {
        let error = SyntaxError::ResultCount {
            op: op.name,
            expected: op.def.results,
            found,
        };
        return Err(error.at(name.start, name.end));
    }
    if !header.types.is_empty() && header.types.len() != found {
        let error = SyntaxError::TypeCount {
            expected: found,
            found: header.types.len(),
        };
        return Err(error.at(name.start, name.end));
    }
    let bodies = usize::from(header.body.is_some());
    if bodies != op.def.regions.min(1) {
        return Err(SyntaxError::bodies(op.name, op.def.regions, bodies).at(name.start, name.end));
    }
    Ok(())
}
