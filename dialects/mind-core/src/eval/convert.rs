//! Numbers in another float dtype.

use mind_ir::Sym;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::tensor::{FloatNum, Num, Tensor};
use mind_ir::types::{DType, TensorType, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_float;

/// The float dtype that `word` names; `None` for another word.
pub fn float_dtype(g: &Graph, word: Sym) -> Option<DType> {
    DType::parse(g.name(word)).filter(|dtype| dtype.is_float())
}

/// The type of `input` in the float dtype that the attribute `to` names.
///
/// # Errors
///
/// E4022 another word.
pub fn converted_type(g: &Graph, input: TypeView<'_>, to: Sym) -> InferResult {
    if let Some(dtype) = float_dtype(g, to) {
        return Ok(TensorType::new(dtype, input.shape.iter().copied()).into());
    }
    let floats = DType::ALL.iter().filter(|dtype| dtype.is_float());
    let words: Vec<&str> = floats.map(|dtype| dtype.name()).collect();
    Err(Box::new(VerifyError::Word {
        op: "convert",
        attr: "to",
        found: g.name(to).to_owned(),
        words: words.join(", "),
    }))
}

/// The elements of `input`, floats, rounded once to the float dtype `to`.
///
/// # Errors
///
/// E6004 a result too large.
pub fn converted(cx: &EvalCx<'_>, input: &Tensor, to: DType) -> Result<Tensor, EvalError> {
    cx.count(to, input.shape())?;
    with_float!(to, To => with_float!(input.dtype(), From => {
        let elements = input.elements::<From>().iter();
        let converted = elements.map(|x| <To as FloatNum>::from_f64(Num::to_f64(*x)));
        Ok(Tensor::of(input.shape().to_vec(), converted.collect::<Vec<To>>()))
    }, else unreachable!("verified operands are floats")), else unreachable!("a verified dtype is a float"))
}

/// The row of an op that converts between float dtypes, for dialects below core.
#[macro_export]
macro_rules! convert_op {
    ($name:literal) => {
        mind_ir::ops! {
            /// The elements in the float dtype `to`, rounded once to nearest even.
            ///
            /// Shapes: as the operand.
            /// Errors: E2005 not a float, E4022 `to` is no float dtype.
            /// Source: this compiler, for kernels that keep what they accumulate in.
            Convert = $name {
                operands: (input: Float),
                attrs: { to: Str },
                traits: [Pure, Extended],
                names: {},
                infer: |op, g| $crate::eval::convert::converted_type(g, g.ty(op.input(g)), op.to(g)),
                eval: |op, cx, operands| {
                    let to = op.dtype(cx.graph).expect("a verified dtype is a float");
                    $crate::eval::convert::converted(cx, operands[0], to)
                },
                fold: |op, g| {
                    let input = op.input(g);
                    let is_same = op.dtype(g) == Some(g.ty(input).dtype);
                    is_same.then_some(mind_ir::opdef::Folded::Value(input))
                },
            }
        }

        impl Convert {
            /// The dtype of the result; `None` for a word that verification refuses.
            pub fn dtype(self, g: &mind_ir::Graph) -> Option<mind_ir::types::DType> {
                $crate::eval::convert::float_dtype(g, self.to(g))
            }
        }
    };
}
