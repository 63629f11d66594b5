//! The cost classes of a registry's ops.

use mind_ir::opdef::{OpDef, Trait};
use rustc_hash::FxHashMap;

use super::class::CostClass;
use super::model::CostModel;
use mind_rules::{OpIx, OpTable};

/// The cost classes of a registry's ops under one cost model.
#[derive(Debug)]
pub(crate) struct CostTable<'r> {
    pub(crate) model: CostModel,
    numbers: &'r OpTable,
    classes: Vec<CostClass>,
    named: FxHashMap<&'static str, CostClass>,
}

impl<'r> CostTable<'r> {
    /// Resolves the classes of `ops` under `model`.
    pub(crate) fn new(ops: &'r OpTable, model: &CostModel) -> CostTable<'r> {
        let classes = model.classes.iter();
        let named = classes.map(|&(name, class)| (name, model.adapted(class)));
        let named: FxHashMap<&'static str, CostClass> = named.collect();
        CostTable {
            model: *model,
            numbers: ops,
            classes: ops.defs().iter().map(|def| classify(&named, def)).collect(),
            named,
        }
    }

    /// Returns the class of an op of the table.
    pub(crate) fn class(&self, op: OpIx) -> CostClass {
        self.classes[op.index()]
    }

    /// Returns the class of any op.
    pub(crate) fn class_of(&self, def: &'static OpDef) -> CostClass {
        match self.numbers.number(def) {
            Some(op) => self.class(op),
            None => classify(&self.named, def),
        }
    }
}

/// Returns the class from the cost table or, for ops that it does not list, from the traits. The default is
/// [`CostClass::Lookup`], which costs a copy.
fn classify(named: &FxHashMap<&'static str, CostClass>, def: &OpDef) -> CostClass {
    let free = [
        Trait::Constant,
        Trait::Interface,
        Trait::DeclaresType,
        Trait::Terminator,
    ];
    match named.get(def.name) {
        Some(&class) => class,
        None if def.has(Trait::Elementwise) => CostClass::Elementwise,
        None if free.into_iter().any(|each| def.has(each)) => CostClass::Free,
        // The elements of an unknown op need not be those of its operands, so it is not a `Move`.
        None => CostClass::Lookup,
    }
}
