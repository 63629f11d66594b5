//! What kind of work an op does.

use mind_ir::opdef::{OpDef, Trait};
use rustc_hash::FxHashMap;

use super::CostModel;
use crate::egraph::optable::{OpIx, OpTable};

/// What kind of work an op does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostClass {
    /// None when the module runs: inputs and constants.
    Free,
    /// The same elements in the same order under another shape: no kernel.
    View,
    /// The same elements in the order of other axes; a contraction can read through it.
    Permute,
    /// Some elements of its operands, copied; which ones, the attributes and shapes say.
    Move,
    /// Elements at given positions, copied; a position out of bounds is an error when run.
    Lookup,
    /// One scalar function at every position.
    Elementwise,
    /// Fewer elements, each from many.
    Reduction,
    /// Several passes along one axis.
    Normalisation,
    /// Chains of multiply-adds.
    Contraction(Inner),
}

/// How many products one element of a contraction's result sums up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inner {
    /// The last extent of operand 0.
    LastOfLhs,
    /// The product of all extents of operand 1 but the last.
    AllButLastOfRhs,
}

/// The classes of a registry's ops under one cost model.
#[derive(Debug)]
pub(crate) struct CostTable {
    pub(crate) model: CostModel,
    classes: Vec<CostClass>,
    named: FxHashMap<&'static str, CostClass>,
}

impl CostTable {
    /// The table for `ops` under `model`.
    pub(crate) fn new(ops: &OpTable, model: &CostModel) -> CostTable {
        let named = model.classes.iter().copied().collect();
        let mut table = CostTable { model: *model, classes: Vec::new(), named };
        table.classes = ops.defs().iter().map(|def| table.class_of(def)).collect();
        table
    }

    /// The class of an op of the table.
    pub(crate) fn class(&self, op: OpIx) -> CostClass {
        self.classes[op.index()]
    }

    /// The class of any op: what its row in the cost table says, else what its traits say, else a copy.
    pub(crate) fn class_of(&self, def: &OpDef) -> CostClass {
        let free = [Trait::Constant, Trait::Interface, Trait::DeclaresType, Trait::Terminator];
        match self.named.get(def.name) {
            Some(&class) => class,
            None if def.scalar.is_some() => CostClass::Elementwise,
            None if free.into_iter().any(|each| def.has(each)) => CostClass::Free,
            None => CostClass::Move,
        }
    }
}
