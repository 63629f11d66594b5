//! Normalisation along an axis.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::ops;
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes;
use crate::eval::normalize::{eval_layernorm, eval_softmax};

ops! {
    /// `e / sum(e)` along `axis`, with `e = exp(input - max(input))`.
    ///
    /// Shapes: as the operand.
    /// Order: as `Max`, `Sub`, `Exp`, `Sum` and `Div` one after the other.
    /// Errors: E2005 not a float, E3004 axis out of range.
    /// Source: mic@2 `s`.
    Softmax = "core.softmax" {
        operands: (input: Float),
        attrs: { axis "ax": Int = -1 },
        traits: [Pure, Extended],
        names: { core: "Softmax", mic1: "softmax", mic2: "s" },
        infer: infer_softmax,
        eval: eval_softmax,
    }

    /// `d / sqrt(mean(d * d) + 1e-5)` along the last axis, with `d = input - mean(input)`.
    ///
    /// Shapes: as the operand.
    /// Order: as `Mean`, `Sub`, `Mul`, `Mean`, `Add`, `Sqrt` and `Div` one after the other.
    /// Errors: E2005 not a float, E3002 rank 0.
    /// Source: mic@2 `ln`.
    LayerNorm = "core.layernorm" {
        operands: (input: Float),
        traits: [Pure, Extended],
        names: { core: "LayerNorm", mic1: "layernorm", mic2: "ln" },
        infer: infer_layernorm,
        eval: eval_layernorm,
    }
}

fn infer_softmax(op: Softmax, g: &Graph) -> InferResult {
    axes::resolve("softmax", op.axis(g), g.ty(op.input(g)).rank())?;
    same_as(g, op.input(g))
}

fn infer_layernorm(op: LayerNorm, g: &Graph) -> InferResult {
    if g.ty(op.input(g)).rank() == 0 {
        let (op, operand, expected) = ("layernorm", "input", "1 or more".to_owned());
        return Err(Box::new(VerifyError::Rank {
            op,
            operand,
            expected,
            found: 0,
        }));
    }
    same_as(g, op.input(g))
}

fn same_as(g: &Graph, value: ValueId) -> InferResult {
    Ok(Inferred::Known(
        g.type_id(value).expect("operands have types"),
    ))
}
