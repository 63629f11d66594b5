//! Tables that the e-graphs of a run share.

use mind_ir::attr::{Attr, Literal};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::types::TypeView;
use mind_ir::{OpId, Symbols, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::constants::{ConstId, Constants};
use super::payload::{AttrId, AttrIds, Interner, Payload};
use super::scratch::{Scratch, Signature};
use crate::cost::CostTable;
use mind_rules::AttrValue;
use mind_rules::{OpIx, OpTable};

/// The number of scalar operations that folding may execute in a run. It bounds the compile time of modules of
/// constants.
const FOLD_WORK: u64 = 1 << 27;

/// The identity of a literal of the module: the address of its bytes, which a graph neither moves nor frees while the
/// literal exists.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct LiteralKey {
    bytes: (usize, usize),
    is_splat: bool,
    ty: Ty,
}

impl LiteralKey {
    /// Returns the key of a constant of this literal and type.
    pub(crate) fn of(literal: &Literal<'_>, ty: Ty) -> LiteralKey {
        let bytes = literal.bytes;
        LiteralKey {
            bytes: (bytes.as_ptr().addr(), bytes.len()),
            is_splat: literal.is_splat(),
            ty,
        }
    }
}

/// The tables that ids in e-nodes refer to. They live for one run over one module.
pub(crate) struct Store<'r> {
    pub(crate) ops: &'r OpTable,
    pub(crate) costs: &'r CostTable<'r>,
    pub(crate) scratch: Scratch,
    pub(crate) constants: Constants,
    /// The ids of literals that were read before, so that later regions and passes do not read them again.
    pub(crate) literals: FxHashMap<LiteralKey, ConstId>,
    /// The number of scalar operations that folding may still execute in this run.
    pub(crate) fold_work: u64,
    attrs: Interner<AttrValue>,
    payloads: Interner<Payload>,
}

impl<'r> Store<'r> {
    /// Returns empty tables for `module`.
    pub(crate) fn new(ops: &'r OpTable, costs: &'r CostTable<'r>, module: &Graph) -> Store<'r> {
        Store {
            ops,
            costs,
            scratch: Scratch::new(module),
            constants: Constants::default(),
            literals: FxHashMap::default(),
            fold_work: FOLD_WORK,
            attrs: Interner::default(),
            payloads: Interner::default(),
        }
    }

    /// Returns empty tables, as a placeholder when a store is moved out.
    pub(crate) fn vacant(ops: &'r OpTable, costs: &'r CostTable<'r>) -> Store<'r> {
        Store::new(ops, costs, &Graph::new())
    }

    /// Returns the type with this id.
    pub(crate) fn ty(&self, ty: Ty) -> TypeView<'_> {
        self.scratch.types().get(ty)
    }

    /// Returns the names of the module's symbols.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.scratch.symbols()
    }

    /// Returns the text of the type with this id.
    pub(crate) fn type_text(&self, ty: Ty) -> String {
        self.ty(ty).text(self.symbols())
    }

    /// Returns the id of an attribute value.
    pub(crate) fn intern_attr(&mut self, value: AttrValue) -> AttrId {
        self.attrs.intern(value)
    }

    /// Returns the attribute value with this id.
    pub(crate) fn attr(&self, attr: AttrId) -> &AttrValue {
        self.attrs.get(attr)
    }

    /// Returns the id of a payload.
    pub(crate) fn intern_payload(&mut self, attrs: AttrIds, ty: Ty) -> u32 {
        self.payloads.intern(Payload { attrs, ty })
    }

    /// Returns the payload with this id, of an e-node that applies an op.
    pub(crate) fn payload(&self, payload: u32) -> &Payload {
        self.payloads.get(payload)
    }

    /// Returns the ids of the attributes of `op`; `None` if one is a literal.
    pub(crate) fn import_attrs(&mut self, module: &Graph, op: OpId) -> Option<AttrIds> {
        let attrs = module.attrs(op).iter();
        attrs
            .map(|&attr| AttrValue::of(attr).map(|value| self.attrs.intern(value)))
            .collect()
    }

    /// Returns the attributes with these ids, in the form that the IR borrows.
    pub(crate) fn borrow_attrs(&self, attrs: &[AttrId]) -> SmallVec<[Attr<'_>; 4]> {
        attrs
            .iter()
            .map(|&attr| self.attrs.get(attr).as_attr())
            .collect()
    }

    /// Returns the signature of `op` with these attributes over operands of these types.
    pub(crate) fn signature(&mut self, op: OpIx, attrs: &[AttrId], operands: &[Ty]) -> Signature {
        let def: &'static OpDef = self.ops.def(op);
        let values: SmallVec<[Attr<'_>; 4]> = attrs
            .iter()
            .map(|&attr| self.attrs.get(attr).as_attr())
            .collect();
        self.scratch.signature(def, attrs, &values, operands)
    }
}
