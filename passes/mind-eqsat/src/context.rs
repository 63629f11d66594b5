//! What a run works with.

use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;

use crate::cost::CostModel;
use crate::fast_math::FastMath;
use crate::limits::Limits;
use crate::ruleset::RuleSet;

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
    /// The op that holds a fused group: any number of operands, one attribute naming the group, one
    /// region whose block has an argument per operand.
    pub fused: &'static OpDef,
}
