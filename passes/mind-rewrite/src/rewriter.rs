//! The interface through which patterns change a graph.

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

/// A graph under rewriting. Patterns read it like a [`Graph`] and change it only through these methods, because the
/// driver must know which ops to revisit.
pub struct Rewriter<'g> {
    graph: &'g mut Graph,
    worklist: &'g mut Worklist,
    constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    /// The value that replaced the op's result.
    replacement: Option<ValueId>,
    /// The values created since the rewriter was.
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

    /// Returns the replacements of the results of `op`, and the other created values that still exist.
    pub(crate) fn into_values(self, op: OpId) -> (SmallVec<[ValueId; 2]>, SmallVec<[ValueId; 2]>) {
        let values = match self.replacement {
            Some(value) => SmallVec::from_slice(&[value]),
            None => self.graph.results(op).into_iter().collect(),
        };
        let exists = |&value: &ValueId| {
            let op = self.graph.defining_op(value);
            op.is_some_and(|op| self.graph.parent(op).is_some())
        };
        let mut helpers = self.made;
        helpers.retain(|value| !values.contains(value) && exists(value));
        (values, helpers)
    }

    /// Creates an op before `anchor`, with inferred result types.
    ///
    /// # Errors
    ///
    /// Errors if the op would be invalid; then nothing is created.
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

    /// Creates a copy of `op`, which may be in a region of `anchor`, before `anchor`, with operands of the same types.
    pub fn copy(&mut self, anchor: OpId, op: OpId, operands: &[ValueId]) -> OpId {
        let copy = self.graph.copy(InsertPoint::Before(anchor), op, operands);
        self.worklist.push(copy);
        self.made.extend(self.graph.results(copy));
        copy
    }

    /// Creates an op with a closed body and `results` results before `anchor`, with inferred result types. `fill` is
    /// called with a builder at the end of the body and the body's arguments; it returns the yielded values.
    ///
    /// # Errors
    ///
    /// Errors if the op would be invalid; then nothing is created.
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

    /// Replaces `op` by a new op with a closed body and the same number of results.
    ///
    /// # Errors
    ///
    /// Errors if the new op would be invalid or have other result types; then nothing is changed.
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

    /// Replaces all uses of `op`'s result with `value`, and erases `op`.
    ///
    /// # Errors
    ///
    /// Errors if the types differ; then nothing is changed.
    pub fn replace(&mut self, op: OpId, value: ValueId) -> Result<(), MatchFailure> {
        self.replace_all(op, &[value])
    }

    /// Replaces all uses of `op`'s results with `values`, in order, and erases `op`. Panics unless there is one value
    /// per result.
    ///
    /// # Errors
    ///
    /// Errors if the types differ; then nothing is changed.
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

    /// Replaces all uses of one result of `op` with `value`, and erases `op` if its other results are unused.
    ///
    /// # Errors
    ///
    /// Errors if the types differ; then nothing is changed.
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
            // Patterns may match on its other results.
            self.worklist.push(op);
        }
        Ok(())
    }

    /// Replaces `op` by a new op.
    ///
    /// # Errors
    ///
    /// Errors if the new op would be invalid or have another result type; then nothing is changed.
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

    /// Erases the op that computes `value` if it is dead and pure, for example an op that was created by a rewrite that
    /// then failed.
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

    /// Erases `op`, whose results are unused, and adds the ops that computed its operands to the worklist.
    pub(crate) fn erase(&mut self, op: OpId) {
        for index in 0..self.graph.operands(op).len() {
            if let Some(source) = self.graph.defining_op(self.graph.operands(op)[index]) {
                self.worklist.push(source);
            }
        }
        self.graph.erase(op);
    }
}
