//! What a run works with.

use mind_ir::builder::Builder;
use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::types::TypeView;
use mind_ir::{Graph, ValueId};

use crate::cost::CostModel;
use crate::egraph::store::Store;
use crate::limits::Limits;
use mind_rules::Constant;
use mind_rules::FastMath;
use mind_rules::RuleSet;

/// What a run works with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The rules, and with them the op table.
    pub rules: &'a RuleSet,
    /// The classes of rules that may act beyond the exact one.
    pub classes: FastMath,
    /// What ops cost.
    pub cost: &'a CostModel,
    /// How far the search goes.
    pub limits: Limits,
    /// Creates a constant with the contents of a tensor.
    pub constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    /// Creates a constant of a type with one element, of rank 0, at every position.
    pub splat: fn(&mut Builder<'_>, TypeView<'_>, &Tensor) -> ValueId,
    /// The op that holds a fused group: any number of operands, one attribute naming the group, one
    /// region whose block has an argument per operand.
    pub fused: &'static OpDef,
    /// Brings operands and attributes into canonical form, which rewriting may have left: called after each round that
    /// changed something, so that the next round finds what another run would.
    pub canonical: fn(&mut Graph),
}

impl Context<'_> {
    /// Creates `constant`; one element everywhere is not written out.
    pub(crate) fn make_constant(
        &self,
        builder: &mut Builder<'_>,
        store: &Store<'_>,
        constant: &Constant,
    ) -> ValueId {
        if constant.splat {
            (self.splat)(builder, store.ty(constant.ty), &constant.data)
        } else {
            (self.constant)(builder, &constant.data)
        }
    }
}
