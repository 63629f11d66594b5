//! The subject for matching in a module.

use std::cell::OnceCell;

use mind_ir::attr::Attr;
use mind_ir::opdef::Trait;
use mind_ir::types::TypeView;
use mind_ir::{Graph, OpId, ValueId};

use crate::attr_value::AttrValue;
use crate::constant::Constant;
use crate::constant::constant_of;
use crate::matching::subject::{Knowledge, Subject};
use crate::op_table::{OpIx, OpTable};
use mind_ir::scalar::Facts;

/// Maximum size, in bytes, of a constant that is evaluated. The limit is low because constants are evaluated again for
/// each op that may match.
const CONSTANT_LIMIT: u64 = 4096;

/// Number of ops above a value through which facts are derived.
const FACT_DEPTH: usize = 4;

/// A module, with a cache of its evaluated constants.
pub(crate) struct InModule<'g> {
    g: &'g Graph,
    ops: &'g OpTable,
    constants: Constants,
}

/// The evaluated constants: a linked list that can grow through shared references.
#[derive(Default)]
struct Constants(OnceCell<Box<(ValueId, Option<Constant>, Constants)>>);

impl<'g> InModule<'g> {
    /// Returns the subject for a module whose ops are in this table.
    pub(crate) fn new(g: &'g Graph, ops: &'g OpTable) -> InModule<'g> {
        InModule {
            g,
            ops,
            constants: Constants::default(),
        }
    }
}

impl<'g> Subject for InModule<'g> {
    type Value = ValueId;
    /// The op, and the index of the attribute in its definition.
    type Attr = (OpId, usize);
    type Op = OpId;

    fn number(value: ValueId) -> usize {
        value.index()
    }

    fn canonical(&self, value: ValueId) -> ValueId {
        value
    }

    fn op(&self, value: ValueId, op: OpIx, nth: usize) -> Option<OpId> {
        let defining = self.g.defining_op(value).filter(|_| nth == 0)?;
        let is_op = std::ptr::eq(self.g.def(defining), self.ops.def(op));
        let is_result =
            || !self.ops.is_projection(op) || result_value(self.g, self.ops, op, defining) == value;
        (is_op && is_result()).then_some(defining)
    }

    fn operands(&self, op: OpId) -> &[ValueId] {
        self.g.operands(op)
    }

    fn op_attr(&self, op: OpId, index: usize) -> (OpId, usize) {
        (op, index)
    }

    fn attr(&self, (op, index): (OpId, usize)) -> Option<AttrValue> {
        AttrValue::of(self.g.attr(op, index))
    }

    fn same_attr(&self, a: (OpId, usize), b: (OpId, usize)) -> bool {
        self.g.attr(a.0, a.1) == self.g.attr(b.0, b.1)
    }

    fn attr_is(&self, (op, index): (OpId, usize), value: &AttrValue) -> bool {
        let attr: Attr<'_> = self.g.attr(op, index);
        attr == value.as_attr()
    }

    fn ty(&self, value: ValueId) -> TypeView<'_> {
        self.g.ty(value)
    }
}

impl Knowledge for InModule<'_> {
    fn facts(&self, value: usize) -> Facts {
        self.facts_of(ValueId::new(value), FACT_DEPTH)
    }

    fn constant(&self, value: usize) -> Option<&Constant> {
        let value = ValueId::new(value);
        let op = self.g.defining_op(value)?;
        if !self.g.def(op).has(Trait::Constant) {
            return None;
        }
        let mut list = &self.constants;
        loop {
            let (own, constant, rest) = &**list.0.get_or_init(|| {
                let ty = self.g.type_id(value);
                let constant = ty.and_then(|ty| constant_of(self.g, op, ty, CONSTANT_LIMIT));
                Box::new((value, constant, Constants::default()))
            });
            if *own == value {
                return constant.as_ref();
            }
            list = rest;
        }
    }

    fn uses(&self, value: usize) -> u32 {
        self.g.uses(ValueId::new(value)).count() as u32
    }
}

/// Returns the value of `op` that a pattern with the root `kind` matches.
pub(crate) fn result_value(g: &Graph, ops: &OpTable, kind: OpIx, op: OpId) -> ValueId {
    g.results(op).get(ops.result(kind))
}

impl InModule<'_> {
    fn facts_of(&self, value: ValueId, depth: usize) -> Facts {
        let dtype = self.g.ty(value).dtype;
        let own = Facts::of_dtype(dtype);
        if let Some(constant) = self.constant(value.index()) {
            return own.union(Facts::of_tensor(&constant.data));
        }
        let scalar = self.g.defining_op(value).and_then(|op| {
            let function = self.g.def(op).scalar?;
            Some((function, self.g.operands(op)))
        });
        let Some((function, operands)) = scalar.filter(|_| depth > 0 && dtype.is_float()) else {
            return own;
        };
        let facts = operands.iter();
        let facts: Vec<Facts> = facts
            .map(|&operand| self.facts_of(operand, depth - 1))
            .collect();
        let same = operands.len() == 2 && operands[0] == operands[1];
        own.union(function.facts(&facts, same))
    }
}
