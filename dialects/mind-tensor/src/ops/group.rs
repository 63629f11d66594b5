//! Groups of ops that run as one.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult, eval_block};
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferManyResult;
use mind_ir::{BlockId, ops};

ops! {
    /// The ops of a body, to run as one kernel; `kind` names the shape of the group for readers.
    ///
    /// Shapes: the body has one argument per operand, of its type; the results are what it yields.
    /// Order: as the ops of the body one after the other, each rounding where it stands.
    /// Errors: those of the body's ops.
    /// Source: this compiler; core's `Fused`.
    Group = "tensor.group" {
        variadic: (inputs: Any),
        attrs: { kind: Str },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverOperands],
        names: {},
        infer_many: infer_group,
        eval_many: eval_group,
    }
}

impl Group {
    /// The block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }
}

fn infer_group(op: Group, g: &Graph) -> InferManyResult {
    let Some(end) = g.terminator(op.body(g)) else {
        return Ok(Default::default());
    };
    let types = g.operands(end).iter().map(|&value| g.type_id(value));
    let types = types.map(|ty| ty.map_or(Inferred::Declared, Inferred::Known));
    Ok(types.collect())
}

fn eval_group(op: Group, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let mut no_inputs = |inner| Err(EvalError::NotEvaluable(cx.graph.def(inner).name));
    let results = eval_block(cx, op.body(cx.graph), operands, &mut no_inputs);
    results
        .map(|tensors| tensors.into_iter().collect())
        .map_err(|(_, error)| error)
}
