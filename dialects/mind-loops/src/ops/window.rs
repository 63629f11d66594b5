//! Two-dimensional convolutions with an epilogue.

use mind_core::ops::conv::{convolution, convolved_type};
use mind_ir::attr::Padding;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Inferred, Op};
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferManyResult, InferResult, VerifyError};
use mind_ir::{BlockId, ops};

use crate::extents::{extents, same_extents};
use crate::ops::block::check_rows;
use crate::ops::contract::{check_tiles, run_body, two_operands, yielded};
use crate::ops::nest::check_schedule;

ops! {
    /// The values that the body computes from each element of a convolution.
    ///
    /// Shapes: `[N, H, W, C]`, `[Kh, Kw, C, F]` and any number of `[N, Ho, Wo, F]`, as are the results; see
    /// `tensor.window`. The body is that of `loops.contract`, with `loops.taps` for the product.
    /// Schedule: `parallel` lists the dimensions of the result that threads share, any but the third, because one
    /// thread computes all positions of a line. `micro` is as for `loops.contract`; its rows are positions of a line
    /// and its vectors are filters. `lines` is the number of lines of the result that are computed together; 0 is
    /// chosen for the target. `at` is as for `loops.nest`.
    /// Order: one chain of fused multiply-adds over (kh, kw, c), a padded tap adding a product with +0.
    /// Errors: E2004 different dtypes, E2007 fewer than two operands, E3002, E3003 shapes, E3004 axis out of range,
    /// E3006 no output position or negative lines, E4006 lists of another length, E4009 channels differ, E4010 strides
    /// or padding, E4021 another op in the body, E4022 threads that share the positions of a line.
    /// Source: mind-spec v1.0 ir.md, `Conv2d`.
    Window = "loops.window" {
        variadic: (inputs: Any),
        attrs: {
            strides: Ints = &[1, 1], padding: Pad = Padding::Valid, parallel: Ints = &[], micro: Ints = &[],
            lines: Int = 0, at: Ints = &[],
        },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverElements],
        names: {},
        infer_many: infer_window,
        eval_many: eval_window,
    }

    /// The element of the enclosing `loops.window`'s convolution.
    ///
    /// Shapes: as the operands.
    /// Order: one chain of fused multiply-adds over (kh, kw, c).
    /// Errors: E2004 different dtypes.
    /// Source: this compiler.
    Taps = "loops.taps" {
        operands: (input: Num, filter: Num),
        attrs: {},
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_taps,
        eval: eval_taps,
    }
}

impl Window {
    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }
}

fn infer_window(op: Window, g: &Graph) -> InferManyResult {
    let &[input, filter, ref rest @ ..] = op.inputs(g) else {
        return Err(two_operands("window", op.inputs(g).len()));
    };
    extents(g, "window", input)?;
    extents(g, "window", filter)?;
    let (strides, padding) = (op.strides(g), op.padding(g));
    let convolved = convolved_type(g, "window", g.ty(input), g.ty(filter), strides, padding)?;
    let shape: Vec<i64> = match &convolved {
        Inferred::New(ty) => ty.shape.iter().filter_map(|dim| dim.fixed()).collect(),
        Inferred::Known(_) | Inferred::Declared => Vec::new(),
    };
    check_schedule(
        "window",
        g.results(op.0).len(),
        4,
        op.parallel(g),
        &[],
        op.at(g),
    )?;
    check_tiles("window", op.micro(g), &[])?;
    check_rows(op.lines(g))?;
    if op.parallel(g).contains(&2) {
        return Err(Box::new(VerifyError::Word {
            op: "window",
            attr: "parallel",
            found: format!("{:?}", op.parallel(g)),
            words: "dimensions 0, 1 and 3".to_owned(),
        }));
    }
    for &other in rest {
        same_extents("window", "inputs", &shape, &extents(g, "window", other)?)?;
    }
    yielded(g, "window", op.body(g), Taps::DEF, &shape)
}

fn infer_taps(op: Taps, g: &Graph) -> InferResult {
    Ok(g.ty(op.input(g)).to_owned().into())
}

fn eval_window(op: Window, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    run_body(op.0, cx, operands)
}

fn eval_taps(op: Taps, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    let around = g.parent(op.id()).and_then(|block| g.block_owner(block));
    let Some(window) = around.and_then(|owner| g.view::<Window>(owner)) else {
        return Err(EvalError::NotEvaluable(Taps::DEF.name));
    };
    convolution(
        cx,
        operands[0],
        operands[1],
        window.strides(g),
        window.padding(g),
    )
}
