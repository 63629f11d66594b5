//! Bitcasts between dtypes.

use mind_core::eval::bits::{bitcast, bitcast_type};
use mind_ir::ops;

ops! {
    /// The bits of `input` as elements of `dtype`.
    ///
    /// Shapes: as core's `Bitcast`.
    /// Errors: E2005 `dtype` is `bool`, E3002 rank 0, E3003 the last extent is not the ratio of the sizes.
    /// Source: this compiler.
    Bitcast = "tensor.bitcast" {
        operands: (input: Any),
        attrs: { dtype: ElementType },
        traits: [Pure, Extended],
        names: {},
        infer: |op, g| bitcast_type(g, g.ty(op.input(g)), op.dtype(g)),
        eval: |op, cx, operands| bitcast(cx, operands[0], op.dtype(cx.graph)),
    }
}
