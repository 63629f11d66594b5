//! Numbers in another float dtype.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::tensor::{FloatNum, Num, Tensor};
use mind_ir::types::{DType, TensorType};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::{ops, with_float};

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
        infer: infer_convert,
        eval: eval_convert,
        fold: fold_convert,
    }
}

impl Convert {
    /// The dtype of the result; none for a word that verification refuses.
    pub fn dtype(self, g: &Graph) -> Option<DType> {
        DType::parse(g.name(self.to(g))).filter(|dtype| dtype.is_float())
    }
}

/// Whether every number of `from` is one of `to`.
pub fn holds(from: DType, to: DType) -> bool {
    match (from, to) {
        (from, to) if from == to => true,
        (DType::F16 | DType::BF16, DType::F32 | DType::F64) => true,
        (DType::F32, DType::F64) => true,
        _ => false,
    }
}

fn infer_convert(op: Convert, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    match op.dtype(g) {
        Some(dtype) => Ok(TensorType::new(dtype, input.shape.iter().copied()).into()),
        None => {
            let floats = DType::ALL.iter().filter(|dtype| dtype.is_float());
            let words: Vec<&str> = floats.map(|dtype| dtype.name()).collect();
            Err(Box::new(VerifyError::Word {
                op: "convert",
                attr: "to",
                found: g.name(op.to(g)).to_owned(),
                words: words.join(", "),
            }))
        }
    }
}

fn fold_convert(op: Convert, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    (op.dtype(g) == Some(g.ty(input).dtype)).then_some(Folded::Value(input))
}

fn eval_convert(op: Convert, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let input = operands[0];
    let to = op.dtype(cx.graph).expect("a verified dtype is a float");
    cx.count(to, input.shape())?;
    with_float!(to, To => with_float!(input.dtype(), From => {
        let elements = input.elements::<From>().iter();
        let converted = elements.map(|x| <To as FloatNum>::from_f64(Num::to_f64(*x)));
        Ok(Tensor::of(input.shape().to_vec(), converted.collect::<Vec<To>>()))
    }, else unreachable!("verified operands are floats")), else unreachable!("a verified dtype is a float"))
}
