//! Ops without a kernel.

use mind_core::group;
use mind_ir::graph::Graph;
use mind_ir::verify::InferManyResult;
use mind_ir::{BlockId, OpId, ops};

use crate::ops::nest::check_schedule;

ops! {
    /// Ops without a kernel: a program runs their `eval` between its kernels.
    ///
    /// These are core's `sort` and `top_k`, because their order depends on comparisons; `nonzero`, `unique` and
    /// `non_max_suppression`, which have data-dependent shapes; `scatter_elements` and `scatter_nd`, which write at
    /// computed offsets; `grid_sample`; a `block_matmul` whose blocks are neither a weight nor a constant; an
    /// `argmax_window` of more than 64 taps; a `resize` whose scales are computed or whose filter has more than 32
    /// taps; and ops whose extents or index lists are too large to be written out. As C most of them are loops, see
    /// docs/formats/c.md.
    ///
    /// Shapes: the body has one argument per operand, of its type; the results are the values it yields.
    /// Schedule: `at` is as for `loops.nest`. Operands are contiguous.
    /// Order: as the ops of the body one after the other.
    /// Errors: E4006 lists of another length; those of the body's ops.
    /// Source: this compiler.
    Evaluate = "loops.evaluate" {
        variadic: (inputs: Any),
        attrs: { at: Ints = &[] },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverOperands],
        names: {},
        infer_many: infer_evaluate,
        eval_many: |op, cx, operands| group::run(op.0, cx, operands),
    }
}

impl Evaluate {
    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }

    /// Returns the control flow op in the body, if there is one; its regions are compiled as separate programs.
    pub fn control(self, g: &Graph) -> Option<OpId> {
        let inner = g.ops(self.body(g)).next()?;
        g.def(inner).arguments.is_some().then_some(inner)
    }
}

fn infer_evaluate(op: Evaluate, g: &Graph) -> InferManyResult {
    check_schedule("evaluate", g.results(op.0).len(), 0, &[], &[], op.at(g))?;
    group::yielded_types(op.0, g)
}
