//! Copies of ops, in their own module or in another one.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Graph, InsertPoint, NewOp};
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, Ty, ValueId};

/// What the values read by an op are in the copy of it.
type Copies = FxHashMap<ValueId, ValueId>;

/// The inferred and the declared type of a value.
type Types = (Option<Ty>, Option<Ty>);

impl Graph {
    /// A module without ops in which the types and symbols of this one have the same ids, and new values get numbers
    /// that no value of this one has.
    pub fn empty_like(&self) -> Graph {
        let mut empty = Graph::new();
        empty.types = self.types.clone();
        empty.symbols = self.symbols.clone();
        empty.free_labels = self.free_labels.clone();
        empty
    }

    /// Takes the types and symbols of `other`, which was made by [`empty_like`](Graph::empty_like) of this module since
    /// that got its last type or symbol, and keeps its numbers free of those of `other`.
    pub fn catch_up(&mut self, other: &Graph) {
        self.types = other.types.clone();
        self.symbols = other.symbols.clone();
        self.free_labels = other.free_labels.clone();
    }

    /// Creates a copy of `op` with its regions, over operands of the same types.
    ///
    /// Results and block arguments get the next labels.
    pub fn copy(&mut self, at: InsertPoint, op: OpId, operands: &[ValueId]) -> OpId {
        self.copy_op(None, at, op, operands, &mut Copies::default())
    }

    /// Creates a copy of `op` of `other` with its regions, over operands of the same types.
    ///
    /// This module must have been made by [`empty_like`](Graph::empty_like) of `other` since that got its last type or
    /// symbol, and the regions must read nothing from outside. Values keep the numbers that they go by in text.
    ///
    /// # Panics
    ///
    /// If a region reads a value from outside of `op`.
    pub fn copy_from(
        &mut self,
        other: &Graph,
        at: InsertPoint,
        op: OpId,
        operands: &[ValueId],
    ) -> OpId {
        self.copy_op(Some(other), at, op, operands, &mut Copies::default())
    }

    /// A copy of `op` of `other`, or of this module.
    fn copy_op(
        &mut self,
        other: Option<&Graph>,
        at: InsertPoint,
        op: OpId,
        operands: &[ValueId],
        copies: &mut Copies,
    ) -> OpId {
        let from = other.unwrap_or(self);
        let data = &from.ops[op.index()];
        let (def, results, span) = (data.def, data.results, data.span);
        let attrs = from.stored_attrs(op);
        let types: SmallVec<[Types; 2]> = results
            .into_iter()
            .map(|value| (from.type_id(value), from.declared(value)))
            .collect();
        if let Some(other) = other {
            self.share_literals(other, &attrs);
        }
        let new = NewOp {
            def,
            operands,
            attrs: &attrs,
            results: results.len(),
            span,
        };
        let copy = self.insert(at, new);
        for ((old, new), types) in results.into_iter().zip(self.results(copy)).zip(types) {
            self.give_types(new, types);
            self.keep_label(other, old, new);
            copies.insert(old, new);
        }
        if def.regions > 0 {
            self.copy_regions(other, op, copy, copies);
        }
        copy
    }

    /// Shares the large literals among attributes of another module.
    fn share_literals(&mut self, other: &Graph, attrs: &[Attr<'_>]) {
        for attr in attrs {
            if let Attr::Literal(literal) = attr
                && let Some(own) = other.shared.owned(literal.bytes)
            {
                self.share(own);
            }
        }
    }

    /// Gives a copy of a value of another module the number of that.
    fn keep_label(&mut self, other: Option<&Graph>, old: ValueId, new: ValueId) {
        if let Some(other) = other {
            self.set_label(new, other.label(old));
        }
    }

    fn give_types(&mut self, value: ValueId, (inferred, declared): Types) {
        if let Some(ty) = inferred {
            self.set_type(value, ty);
        }
        if let Some(ty) = declared {
            self.declare(value, ty);
        }
    }

    #[cold]
    fn copy_regions(&mut self, other: Option<&Graph>, op: OpId, copy: OpId, copies: &mut Copies) {
        let blocks = |g: &Graph, op: OpId| -> Vec<BlockId> {
            g.regions(op)
                .iter()
                .map(|&region| g.block(region))
                .collect()
        };
        let new_blocks = blocks(self, copy);
        for (old, new) in blocks(other.unwrap_or(self), op)
            .into_iter()
            .zip(new_blocks)
        {
            let from = other.unwrap_or(self);
            let arguments: Vec<(ValueId, Types)> = from
                .arguments(old)
                .into_iter()
                .map(|value| (value, (from.type_id(value), from.declared(value))))
                .collect();
            let inner: Vec<(OpId, Vec<ValueId>)> = from
                .ops(old)
                .map(|op| (op, from.operands(op).to_vec()))
                .collect();
            let own = self.add_arguments(new, arguments.len());
            for ((argument, types), own) in arguments.into_iter().zip(own) {
                self.give_types(own, types);
                self.keep_label(other, argument, own);
                copies.insert(argument, own);
            }
            for (op, operands) in inner {
                let operands: Vec<ValueId> = operands
                    .into_iter()
                    .map(|value| match copies.get(&value) {
                        Some(&copy) => copy,
                        None if other.is_none() => value,
                        None => panic!("{value:?} is from outside of a region that is copied"),
                    })
                    .collect();
                self.copy_op(other, InsertPoint::End(new), op, &operands, copies);
            }
        }
    }
}
