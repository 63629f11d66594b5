//! The ops that e-nodes can apply, numbered.

use mind_ir::attr::AttrKind;
use mind_ir::opdef::{OpDef, Registry, Results, Trait};
use rustc_hash::FxHashMap;

/// The number of an op in an [`OpTable`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpIx(u16);

impl OpIx {
    /// This number as an index.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// The rows of a registry, numbered in its order.
#[derive(Debug)]
pub struct OpTable {
    defs: Vec<&'static OpDef>,
    /// By the row's address, which is its identity.
    numbers: FxHashMap<usize, OpIx>,
}

impl OpTable {
    /// Numbers the ops of `registry`; those past 65,536 are not looked into.
    pub fn new(registry: &Registry) -> OpTable {
        let defs: Vec<&'static OpDef> = registry.ops().take(1 << 16).collect();
        let numbers = defs
            .iter()
            .enumerate()
            .map(|(at, def)| (address(def), OpIx(at as u16)));
        OpTable {
            numbers: numbers.collect(),
            defs,
        }
    }

    /// The number of `def`, if the registry has it.
    pub fn number(&self, def: &'static OpDef) -> Option<OpIx> {
        self.numbers.get(&address(def)).copied()
    }

    /// The row of `op`.
    pub fn def(&self, op: OpIx) -> &'static OpDef {
        self.defs[op.index()]
    }

    /// Every row, in order.
    pub fn defs(&self) -> &[&'static OpDef] {
        &self.defs
    }

    /// The number of `def` if e-nodes may stand for it: pure, of one result whose type its shape rule
    /// gives, without regions.
    pub fn transparent(&self, def: &'static OpDef) -> Option<OpIx> {
        let opaque = [
            Trait::Interface,
            Trait::DeclaresType,
            Trait::Terminator,
            Trait::Constant,
        ];
        let looked_into = def.has(Trait::Pure)
            && def.results == Results::One
            && def.regions == 0
            && def.infer.is_some()
            && !opaque.into_iter().any(|each| def.has(each))
            && def
                .attrs
                .iter()
                .all(|attr| attr.kind != AttrKind::LiteralData);
        self.number(def).filter(|_| looked_into)
    }
}

fn address(def: &'static OpDef) -> usize {
    std::ptr::from_ref(def).addr()
}
