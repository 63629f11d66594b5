//! Bitcasts between dtypes.

use mind_core::eval::bits::{bitcast, bitcast_type};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::verify::InferResult;

use crate::extents::extents;
use crate::ops::nest::check_schedule;

ops! {
    /// The bits of `input` as elements of `dtype`.
    ///
    /// Shapes: as core's `Bitcast`.
    /// Schedule: `at` is as for `loops.nest`. The bytes are copied.
    /// Errors: E2005 `dtype` is `bool`, E3002 rank 0, E3003 the last extent is not the ratio of the sizes, E4006 not
    /// one offset.
    /// Source: this compiler.
    Bitcast = "loops.bitcast" {
        operands: (input: Any),
        attrs: { dtype: ElementType, at: Ints = &[] },
        traits: [Pure, Extended],
        names: {},
        infer: infer_bitcast,
        eval: |op, cx, operands| bitcast(cx, operands[0], op.dtype(cx.graph)),
    }
}

fn infer_bitcast(op: Bitcast, g: &Graph) -> InferResult {
    let input = op.input(g);
    extents(g, "bitcast", input)?;
    check_schedule("bitcast", 1, 0, &[], &[], op.at(g))?;
    bitcast_type(g, g.ty(input), op.dtype(g))
}
