//! Bitcasts between dtypes.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::verify::{InferResult, VerifyError};

/// Returns how many elements of the narrower dtype have the size of one element of the wider dtype.
fn ratio(from: DType, to: DType) -> usize {
    from.size().max(to.size()) / from.size().min(to.size())
}

/// Infers the type of `input` bitcast to `to`.
///
/// # Errors
///
/// E2005 `to` is `bool`, E3002 no last dimension to merge into wider elements, E3003 the extent of the last dimension
/// is not the ratio of the sizes.
pub fn bitcast_type(g: &Graph, input: TypeView<'_>, to: DType) -> InferResult {
    if to == DType::Bool && input.dtype != DType::Bool {
        return Err(Box::new(VerifyError::DType {
            op: "bitcast",
            operand: "dtype",
            found: to,
            supported: "a numeric dtype, because most bytes are not valid as `bool`; use `cast` or `compare`",
        }));
    }
    let mut shape: Shape = input.shape.iter().copied().collect();
    let ratio = ratio(input.dtype, to) as i64;
    if input.dtype.size() > to.size() {
        crate::axes::check_rank("bitcast", shape.len() + 1)?;
        shape.push(Dim::Fixed(ratio));
    } else if input.dtype.size() < to.size() {
        let Some(last) = shape.pop() else {
            return Err(Box::new(VerifyError::Rank {
                op: "bitcast",
                operand: "input",
                expected: "1 or more".to_owned(),
                found: 0,
            }));
        };
        let dimension = format!("the last extent and the {} bytes of {to}", to.size());
        let help = "the last dimension has the elements of one wider element";
        crate::extent::agree(g, "bitcast", dimension, Dim::Fixed(ratio), last, help)?;
    }
    Ok(TypeView {
        dtype: to,
        shape: &shape,
    }
    .to_owned()
    .into())
}

/// Reinterprets the bits of `input` as elements of `to`. Where one element becomes several, the least significant comes
/// first.
///
/// # Errors
///
/// The last extent is not the ratio of the sizes, E6004 too large.
pub fn bitcast(cx: &EvalCx<'_>, input: &Tensor, to: DType) -> Result<Tensor, EvalError> {
    let (from, ratio) = (input.dtype(), ratio(input.dtype(), to));
    let mut shape = input.shape().to_vec();
    if from.size() > to.size() {
        shape.push(ratio);
    } else if from.size() < to.size() && shape.pop() != Some(ratio) {
        let found = input.shape();
        let text =
            format!("the last extent of {found:?} is not {ratio}, as many {from} as {to} has");
        return Err(EvalError::Shape(text));
    }
    cx.count(to, &shape)?;
    let bytes = input.buffer().to_bytes();
    Ok(Tensor::new(shape, Buffer::from_bytes(to, &bytes)))
}
