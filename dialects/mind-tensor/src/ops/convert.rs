//! Numbers in another float dtype.

use mind_core::eval::convert::{converted, converted_type, float_dtype};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, FloatFormat};

ops! {
    /// The elements in the float dtype `to`, rounded once to nearest even.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float, E4022 `to` is no float dtype.
    /// Source: this compiler, for kernels that keep what they accumulate in.
    Convert = "tensor.convert" {
        operands: (input: Float),
        attrs: { to: Str },
        traits: [Pure, Extended],
        names: {},
        infer: |op, g| converted_type(g, g.ty(op.input(g)), op.to(g)),
        eval: eval_convert,
        fold: fold_convert,
    }
}

impl Convert {
    /// The dtype of the result; `None` for a word that verification refuses.
    pub fn dtype(self, g: &Graph) -> Option<DType> {
        float_dtype(g, self.to(g))
    }
}

/// Whether every number of `from` is one of `to`.
pub fn holds(from: DType, to: DType) -> bool {
    let formats = from.float_format().zip(to.float_format());
    let fits = |(from, to): (FloatFormat, FloatFormat)| {
        from.mantissa <= to.mantissa && from.exponent <= to.exponent
    };
    from == to || formats.is_some_and(fits)
}

fn fold_convert(op: Convert, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    (op.dtype(g) == Some(g.ty(input).dtype)).then_some(Folded::Value(input))
}

fn eval_convert(op: Convert, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let to = op.dtype(cx.graph).expect("a verified dtype is a float");
    converted(cx, operands[0], to)
}
