//! Group ops, which run their body on their operands: `core.fused` and the groups of the dialects below core.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult, eval_block};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Inferred, OpDef, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::{BlockId, OpId};

/// Returns the types of the values that the body of `op` yields.
///
/// # Errors
///
/// None; the signature is that of a shape rule.
pub fn yielded_types(op: OpId, g: &Graph) -> InferManyResult {
    let Some(end) = g.terminator(g.block(g.regions(op)[0])) else {
        return Ok(Default::default());
    };
    let types = g.operands(end).iter().map(|&value| g.type_id(value));
    let types = types.map(|ty| ty.map_or(Inferred::Declared, Inferred::Known));
    Ok(types.collect())
}

/// Evaluates the body of `op` and returns the values that it yields.
///
/// # Errors
///
/// Those of the ops in the body.
pub fn run(op: OpId, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let g = cx.graph;
    let mut no_inputs = |inner| Err(EvalError::NotEvaluable(g.def(inner).name));
    let results = eval_block(cx, g.block(g.regions(op)[0]), operands, &mut no_inputs);
    results
        .map(|tensors| tensors.into_iter().collect())
        .map_err(EvalError::inside)
}

/// Checks that the body of `op` contains only constants, elementwise ops and the ops in `own`, and that all results are
/// scalars.
///
/// # Errors
///
/// E4021 another op, E3002 a result that is not a scalar.
pub fn check_scalars(
    g: &Graph,
    op: &'static str,
    body: BlockId,
    own: &[&'static OpDef],
    allowed: &'static str,
) -> Result<(), VerifyError> {
    for inner in g.ops(body) {
        let def = g.def(inner);
        if def.has(Trait::Terminator) {
            continue;
        }
        let is_scalar = def.has(Trait::Elementwise) || def.has(Trait::Constant);
        if !is_scalar && !own.iter().any(|own| std::ptr::eq(*own, def)) {
            let found = def.name;
            return Err(VerifyError::Body { op, found, allowed });
        }
        let mut results = g.results(inner).into_iter();
        if let Some(value) = results.find(|&v| g.type_id(v).is_some() && g.ty(v).rank() > 0) {
            return Err(VerifyError::Rank {
                op: def.short_name(),
                operand: "a result in a body of scalar ops",
                expected: "0".to_owned(),
                found: g.ty(value).rank(),
            });
        }
    }
    Ok(())
}

/// Declares a group op in the dialect of the caller.
#[macro_export]
macro_rules! group_op {
    ($Op:ident = $name:literal, names: $names:tt) => {
        mind_ir::ops! {
            /// A group of ops that runs as one kernel; `kind` names the shape of the group for readers.
            ///
            /// Shapes: the body has one argument per operand, of its type; the results are the values it yields.
            /// Order: that of the body's ops in sequence, each with its own rounding.
            /// Errors: those of the body's ops.
            /// Source: this compiler.
            $Op = $name {
                variadic: (inputs: Any),
                attrs: { kind: Str },
                results: Many,
                regions: 1,
                traits: [Pure, Extended, BodyOverOperands],
                names: $names,
                infer_many: |op, g| $crate::group::yielded_types(op.0, g),
                eval_many: |op, cx, operands| $crate::group::run(op.0, cx, operands),
            }
        }

        impl $Op {
            /// Returns the block of the body.
            pub fn body(self, g: &mind_ir::Graph) -> mind_ir::BlockId {
                g.block(g.regions(self.0)[0])
            }
        }
    };
}
