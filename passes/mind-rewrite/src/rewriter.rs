//! The only way a pattern changes a graph.

use std::ops::Deref;

use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::InsertPoint;
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::verify::VerifyError;
use mind_ir::{Graph, OpId, ValueId};
use smallvec::SmallVec;

use crate::MatchFailure;
use crate::worklist::Worklist;

/// A graph under rewriting: read it like a [`Graph`], change it through the methods here, so that the
/// driver learns what to look at again.
pub struct Rewriter<'g> {
    graph: &'g mut Graph,
    worklist: &'g mut Worklist,
    constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    /// What readers of the op read now.
    replacement: Option<ValueId>,
    /// The values made since the rewriter was.
    made: SmallVec<[ValueId; 2]>,
}

impl Deref for Rewriter<'_> {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        self.graph
    }
}

impl<'g> Rewriter<'g> {
    pub(crate) fn new(
        graph: &'g mut Graph,
        worklist: &'g mut Worklist,
        constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    ) -> Rewriter<'g> {
        Rewriter {
            graph,
            worklist,
            constant,
            replacement: None,
            made: SmallVec::new(),
        }
    }

    /// What the results of `op` became, and the other values that were made and still stand.
    pub(crate) fn into_made(self, op: OpId) -> (SmallVec<[ValueId; 2]>, SmallVec<[ValueId; 2]>) {
        let values = match self.replacement {
            Some(value) => SmallVec::from_slice(&[value]),
            None => self.graph.results(op).into_iter().collect(),
        };
        let stands = |&value: &ValueId| {
            let op = self.graph.defining_op(value);
            op.is_some_and(|op| self.graph.parent(op).is_some())
        };
        let mut helpers = self.made;
        helpers.retain(|value| !values.contains(value) && stands(value));
        (values, helpers)
    }

    /// Creates an op before `anchor`, with the types its shape rule gives.
    ///
    /// # Errors
    ///
    /// A miss when the op would break a rule; nothing is created then.
    pub fn create(
        &mut self,
        anchor: OpId,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> Result<ValueId, MatchFailure> {
        let created = Builder::before(self.graph, anchor).create(def, operands, attrs);
        let op = created.map_err(|_| MatchFailure("the new op would not verify"))?;
        self.worklist.push(op);
        let value = self.graph.result(op);
        self.made.push(value);
        Ok(value)
    }

    /// Creates a copy of `op`, which may stand in a region of `anchor`, before `anchor`, over operands of the same types.
    pub fn copy(&mut self, anchor: OpId, op: OpId, operands: &[ValueId]) -> OpId {
        let copy = self.graph.copy(InsertPoint::Before(anchor), op, operands);
        self.worklist.push(copy);
        self.made.extend(self.graph.results(copy));
        copy
    }

    /// Creates an op with a closed body and `results` results before `anchor`, with the types its shape rule
    /// gives. `fill` gets a builder at the end of the body and the body's arguments, and gives what the
    /// body yields.
    ///
    /// # Errors
    ///
    /// A miss when the op would break a rule; nothing is created then.
    pub fn create_with_body(
        &mut self,
        anchor: OpId,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
        results: usize,
        fill: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Box<VerifyError>>,
    ) -> Result<OpId, MatchFailure> {
        let mut builder = Builder::before(self.graph, anchor);
        let created = builder.create_with_body(def, operands, attrs, results, fill);
        let op = created.map_err(|_| MatchFailure("the new op would not verify"))?;
        for index in 0..self.graph.regions(op).len() {
            let block = self.graph.block(self.graph.regions(op)[index]);
            self.worklist.extend(self.graph.ops(block));
        }
        self.worklist.push(op);
        self.made.extend(self.graph.results(op));
        Ok(op)
    }

    /// Creates a constant before `anchor`.
    pub fn constant(&mut self, anchor: OpId, tensor: &Tensor) -> ValueId {
        let value = (self.constant)(&mut Builder::before(self.graph, anchor), tensor);
        self.worklist.extend(self.graph.defining_op(value));
        self.made.push(value);
        value
    }

    /// Replaces `op` by a new op with a closed body and as many results in its place.
    ///
    /// # Errors
    ///
    /// A miss when that op would break a rule or have other types; nothing is changed then.
    pub fn replace_with_body(
        &mut self,
        op: OpId,
        def: &'static OpDef,
        operands: &[ValueId],
        fill: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Result<Vec<ValueId>, Box<VerifyError>>,
    ) -> Result<(), MatchFailure> {
        let results = self.graph.results(op).len();
        let created = self.create_with_body(op, def, operands, &[], results, fill)?;
        let values: Vec<ValueId> = self.graph.results(created).into_iter().collect();
        let replaced = self.replace_all(op, &values);
        if replaced.is_err() {
            self.graph.erase(created);
        }
        replaced
    }

    /// Makes every reader of `op`'s result read `value` instead, and erases `op`.
    ///
    /// # Errors
    ///
    /// A miss when the types differ; nothing is changed then.
    pub fn replace(&mut self, op: OpId, value: ValueId) -> Result<(), MatchFailure> {
        self.replace_all(op, &[value])
    }

    /// Makes every reader of `op`'s results read `values` instead, in order, and erases `op`. Panics unless
    /// there is one value per result.
    ///
    /// # Errors
    ///
    /// A miss when the types differ; nothing is changed then.
    pub fn replace_all(&mut self, op: OpId, values: &[ValueId]) -> Result<(), MatchFailure> {
        let results = self.graph.results(op);
        assert_eq!(results.len(), values.len(), "one value per result");
        let same_type =
            |(old, &new): (ValueId, &ValueId)| self.graph.type_id(old) == self.graph.type_id(new);
        if !results.into_iter().zip(values).all(same_type) {
            return Err(MatchFailure("the replacement has another type"));
        }
        for (old, &new) in results.into_iter().zip(values) {
            for (user, _) in self.graph.uses(old) {
                self.worklist.push(user);
            }
            self.graph.replace_all_uses(old, new);
        }
        self.replacement = values.first().copied();
        self.erase(op);
        Ok(())
    }

    /// Makes every reader of one result of `op` read `value` instead, and erases `op` if nothing reads another one.
    ///
    /// # Errors
    ///
    /// A miss when the types differ; nothing is changed then.
    pub fn replace_result(
        &mut self,
        op: OpId,
        result: usize,
        value: ValueId,
    ) -> Result<(), MatchFailure> {
        let results = self.graph.results(op);
        let old = results.get(result);
        if self.graph.type_id(old) != self.graph.type_id(value) {
            return Err(MatchFailure("the replacement has another type"));
        }
        for (user, _) in self.graph.uses(old) {
            self.worklist.push(user);
        }
        self.graph.replace_all_uses(old, value);
        self.replacement = Some(value);
        if results
            .iter()
            .all(|value| self.graph.uses(value).is_empty())
        {
            self.erase(op);
        } else {
            // Its other results may have rules, too.
            self.worklist.push(op);
        }
        Ok(())
    }

    /// Replaces `op` by a new op in its place.
    ///
    /// # Errors
    ///
    /// A miss when that op would break a rule or have another type; nothing is changed then.
    pub fn replace_with(
        &mut self,
        op: OpId,
        def: &'static OpDef,
        operands: &[ValueId],
        attrs: &[Attr<'_>],
    ) -> Result<(), MatchFailure> {
        let value = self.create(op, def, operands, attrs)?;
        let replaced = self.replace(op, value);
        if replaced.is_err()
            && let Some(created) = self.graph.defining_op(value)
        {
            self.graph.erase(created);
        }
        replaced
    }

    /// Sets attribute `index` of `op`.
    pub fn set_attr(&mut self, op: OpId, index: usize, value: Attr<'_>) {
        self.graph.set_attr(op, index, value);
        self.worklist.push(op);
    }

    /// Erases the op that computes `value`, if that is pure and nothing reads it: what was created for a
    /// rewrite that failed.
    pub fn discard(&mut self, value: ValueId) {
        let unread = |op: &OpId| {
            let results = self.graph.results(*op);
            results
                .into_iter()
                .all(|value| self.graph.uses(value).is_empty())
        };
        let op = self.graph.defining_op(value).filter(unread);
        if let Some(op) = op.filter(|&op| self.graph.def(op).has(Trait::Pure)) {
            self.graph.erase(op);
        }
    }

    /// Erases `op`, whose results nobody reads, and has the ops that fed it looked at again.
    pub(crate) fn erase(&mut self, op: OpId) {
        for index in 0..self.graph.operands(op).len() {
            if let Some(source) = self.graph.defining_op(self.graph.operands(op)[index]) {
                self.worklist.push(source);
            }
        }
        self.graph.erase(op);
    }
}
