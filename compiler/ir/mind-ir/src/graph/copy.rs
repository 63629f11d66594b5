//! Copies of ops, within a module or into another one.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Graph, InsertPoint, NewOp};
use crate::attr::Attr;
use crate::entity::{BlockId, OpId, Ty, ValueId};

/// Maps the values of the original to those of the copy.
type Copies = FxHashMap<ValueId, ValueId>;

/// The inferred and the declared type of a value.
type Types = (Option<Ty>, Option<Ty>);

impl Graph {
    /// Returns a module without ops in which the types and symbols of this module have the same ids. New values get
    /// numbers that do not occur in this module.
    pub fn empty_like(&self) -> Graph {
        let mut empty = Graph::new();
        empty.types = self.types.clone();
        empty.symbols = self.symbols.clone();
        empty.free_labels = self.free_labels.clone();
        empty
    }

    /// Takes over the types, symbols and free numbers of `other`.
    ///
    /// `other` must have been created by [`empty_like`](Graph::empty_like) of this module after this module got its
    /// last type or symbol.
    pub fn catch_up(&mut self, other: &Graph) {
        self.types = other.types.clone();
        self.symbols = other.symbols.clone();
        self.free_labels = other.free_labels.clone();
    }

    /// Creates a copy of `op` with its regions, on operands of the same types.
    ///
    /// Results and block arguments get the next labels.
    pub fn copy(&mut self, at: InsertPoint, op: OpId, operands: &[ValueId]) -> OpId {
        self.copy_op(None, at, op, operands, &mut Copies::default())
    }

    /// Creates a copy of an op of `other` with its regions, on operands of the same types. Values keep their numbers.
    ///
    /// This module must have been created by [`empty_like`](Graph::empty_like) of `other` after `other` got its last
    /// type or symbol.
    ///
    /// # Panics
    ///
    /// If a region of `op` reads a value from outside of `op`.
    pub fn copy_from(
        &mut self,
        other: &Graph,
        at: InsertPoint,
        op: OpId,
        operands: &[ValueId],
    ) -> OpId {
        self.copy_op(Some(other), at, op, operands, &mut Copies::default())
    }

    /// Creates a copy of `op`, which is an op of `other`, or of this module if `other` is `None`.
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

    /// Shares the memory of the large literals among attributes of another module.
    fn share_literals(&mut self, other: &Graph, attrs: &[Attr<'_>]) {
        for attr in attrs {
            if let Attr::Literal(literal) = attr
                && let Some(own) = other.shared.owned(literal.bytes)
            {
                self.share(own);
            }
        }
    }

    /// Gives a copied value the number of the original if that is in another module.
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
