//! Elementwise arithmetic.

use mind_core::eval::strided;
use mind_core::extent::agree;
use mind_core::group::{self, check_scalars};
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::tensor::Tensor;
use mind_ir::types::Shape;
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::{BlockId, ops};

ops! {
    /// The values that the body computes from the elements at each position.
    ///
    /// Shapes: all operands have the same shape, which is also that of the results. The body has one scalar argument
    /// per operand, of its dtype, and yields one scalar per result; it holds constants and core's elementwise ops.
    /// Order: that of the body's ops in sequence, each with its own rounding.
    /// Errors: E3002 ranks differ, or a body op that is not a scalar, E3003 extents differ, E4021 another op in the
    /// body; those of the body's ops.
    /// Source: this compiler, after MLIR's `linalg.map`.
    Map = "tensor.map" {
        variadic: (inputs: Any),
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverElements],
        names: {},
        infer_many: infer_map,
        eval_many: eval_map,
    }
}

impl Map {
    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }
}

fn infer_map(op: Map, g: &Graph) -> InferManyResult {
    let shape = common_shape(op, g)?;
    let body = op.body(g);
    let allowed = "constants and elementwise ops";
    check_scalars(g, "map", body, &[], allowed)?;
    let Some(end) = g.terminator(body) else {
        return Ok(Default::default());
    };
    let types = g.operands(end).iter().map(|&value| match g.type_id(value) {
        Some(_) => g.ty(value).with_shape(shape.iter().copied()).into(),
        None => Inferred::Declared,
    });
    Ok(types.collect())
}

/// Returns the common shape of all operands.
fn common_shape(op: Map, g: &Graph) -> Result<Shape, VerifyError> {
    let first = g.ty(op.inputs(g)[0]);
    let mut shape: Shape = first.shape.iter().copied().collect();
    for &input in &op.inputs(g)[1..] {
        let other = g.ty(input);
        if other.rank() != first.rank() {
            return Err(VerifyError::Rank {
                op: "map",
                operand: "inputs",
                expected: first.rank().to_string(),
                found: other.rank(),
            });
        }
        for (at, &dim) in other.shape.iter().enumerate() {
            let name = format!("extents at dimension {at}");
            let help = "inputs have one shape: broadcast them beforehand";
            shape[at] = agree(g, "map", name, shape[at], dim, help)?;
        }
    }
    Ok(shape)
}

/// Runs the body once on whole tensors. The result is the same as that of one run per position, because all ops of the
/// body are elementwise.
fn eval_map(op: Map, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let shape = operands[0].shape();
    if let Some(other) = operands.iter().find(|other| other.shape() != shape) {
        let text = format!(
            "the operands of `map` must have one shape: {shape:?} and {:?}",
            other.shape()
        );
        return Err(EvalError::Shape(text));
    }
    let yielded = group::run(op.0, cx, operands)?;
    let results = yielded.into_iter().map(|tensor| filled(cx, tensor, shape));
    results.collect()
}

/// Broadcasts `tensor` to `shape`, because a value that depends only on constants has rank 0 in the body.
fn filled(cx: &EvalCx<'_>, tensor: Tensor, shape: &[usize]) -> Result<Tensor, EvalError> {
    if tensor.shape() == shape {
        return Ok(tensor);
    }
    let axes: Vec<strided::Axis> = shape.iter().map(|&extent| (extent, 0)).collect();
    strided::copy(cx, &tensor, 0, &axes)
}
