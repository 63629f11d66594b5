//! The inputs of a run.

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

/// The inputs of a run, other than the module.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The rules; their op table numbers the ops of the registry.
    pub rules: &'a RuleSet,
    /// The fast-math classes whose rules may be applied. Exact rules always may.
    pub classes: FastMath,
    /// The costs of ops.
    pub cost: &'a CostModel,
    /// The limits of the search.
    pub limits: Limits,
    /// Creates a constant with the contents of a tensor.
    pub constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    /// Creates a splat constant of a type from its element, a tensor of rank 0.
    pub splat: fn(&mut Builder<'_>, TypeView<'_>, &Tensor) -> ValueId,
    /// The op that holds a fused group. It has any number of operands, one attribute that names the group, and one
    /// region whose block has an argument per operand.
    pub fused: &'static OpDef,
    /// Brings operands and attributes into canonical form. Called after each round that changed something, because
    /// rewritten ops may not be canonical; the next round then sees the module as another run would.
    pub canonical: fn(&mut Graph),
}

impl Context<'_> {
    /// Creates `constant` without expanding splats, and returns its value.
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
