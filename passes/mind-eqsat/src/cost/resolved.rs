//! The classes of a registry's ops.

use mind_ir::opdef::{OpDef, Trait};
use rustc_hash::FxHashMap;

use super::class::CostClass;
use super::model::CostModel;
use crate::egraph::optable::{OpIx, OpTable};

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
        let mut table = CostTable {
            model: *model,
            classes: Vec::new(),
            named,
        };
        table.classes = ops.defs().iter().map(|def| table.class_of(def)).collect();
        table
    }

    /// The class of an op of the table.
    pub(crate) fn class(&self, op: OpIx) -> CostClass {
        self.classes[op.index()]
    }

    /// The class of any op: what its row in the cost table says, else what its traits say, else a copy.
    pub(crate) fn class_of(&self, def: &OpDef) -> CostClass {
        let free = [
            Trait::Constant,
            Trait::Interface,
            Trait::DeclaresType,
            Trait::Terminator,
        ];
        match self.named.get(def.name) {
            Some(&class) => class,
            None if def.scalar.is_some() => CostClass::Elementwise,
            None if free.into_iter().any(|each| def.has(each)) => CostClass::Free,
            None => CostClass::Move,
        }
    }
}
