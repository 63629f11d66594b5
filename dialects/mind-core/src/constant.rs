//! Conversion between tensors and constant ops.

use mind_ir::attr::{Attr, Literal};
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{Dim, TensorType, TypeView};
use mind_ir::{Ty, ValueId};

use crate::ops::constant::{ConstF32, ConstF64, ConstI64, ConstTensor};

/// Creates a constant with the contents of `tensor`. The result is a scalar op where the dtype has one, a splat if all
/// elements have the same bits, and otherwise a dense constant.
pub fn constant(b: &mut Builder<'_>, tensor: &Tensor) -> ValueId {
    let scalar = match (tensor.rank(), tensor.buffer()) {
        (0, Buffer::I64(elements)) => Some((ConstI64::DEF, Attr::Int(elements[0]))),
        (0, Buffer::F32(elements)) => Some((ConstF32::DEF, Attr::float(f64::from(elements[0])))),
        (0, Buffer::F64(elements)) => Some((ConstF64::DEF, Attr::float(elements[0]))),
        _ => None,
    };
    let shape = tensor
        .shape()
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64));
    let ty = b
        .graph
        .intern_type(TensorType::new(tensor.dtype(), shape).view());
    let op = match scalar {
        Some((def, value)) => b.create_typed(def, &[], &[value], &[ty]),
        None => {
            let bytes = tensor.buffer().as_bytes();
            let size = tensor.dtype().size();
            let splat = bytes.len() > size && bytes.chunks(size).all(|x| x == &bytes[..size]);
            let (count, bytes) = if splat {
                (None, &bytes[..size])
            } else {
                b.graph.share_elements(tensor.buffer());
                (Some(tensor.count()), bytes)
            };
            let literal = Literal {
                dtype: tensor.dtype(),
                count,
                bytes,
            };
            return literal_constant(b, &literal, ty);
        }
    };
    b.graph.result(op)
}

/// Creates a splat constant of type `ty` from the rank 0 tensor `element`, without writing out the elements.
pub fn splat(b: &mut Builder<'_>, ty: TypeView<'_>, element: &Tensor) -> ValueId {
    if let Some(count @ 0..=1) = ty.count() {
        let extents = ty.static_shape().unwrap_or_default();
        let shape = extents.iter().map(|&extent| extent as usize).collect();
        let elements = element.buffer().splat(count as usize);
        return constant(b, &Tensor::new(shape, elements));
    }
    let literal = Literal {
        dtype: ty.dtype,
        count: None,
        bytes: element.buffer().as_bytes(),
    };
    let ty = b.graph.intern_type(ty);
    literal_constant(b, &literal, ty)
}

/// Creates the constant of type `ty` that a literal describes.
pub fn literal_constant(b: &mut Builder<'_>, literal: &Literal<'_>, ty: Ty) -> ValueId {
    let op = b.create_typed(ConstTensor::DEF, &[], &[Attr::Literal(literal)], &[ty]);
    b.graph.result(op)
}

/// Returns the element of `value` as a scalar if `value` is a splat or scalar constant. Dense constants are not
/// searched for equal elements, because that would cost time in their size.
pub fn scalar_of(g: &Graph, value: ValueId) -> Option<Tensor> {
    let op = g.defining_op(value)?;
    if let Some(constant) = g.view::<ConstI64>(op) {
        return Some(Tensor::scalar(constant.value(g)));
    }
    if let Some(constant) = g.view::<ConstF32>(op) {
        return Some(Tensor::scalar(constant.value(g) as f32));
    }
    if let Some(constant) = g.view::<ConstF64>(op) {
        return Some(Tensor::scalar(constant.value(g)));
    }
    let data = g.view::<ConstTensor>(op)?.data(g);
    let single = data.is_splat() || data.count == Some(1);
    let first = data.bytes.get(..data.dtype.size()).filter(|_| single)?;
    Some(Tensor::new(
        Vec::new(),
        Buffer::from_bytes(data.dtype, first),
    ))
}

/// Returns the elements of `value`, if it is a constant.
pub fn elements_of(g: &Graph, value: ValueId) -> Option<Tensor> {
    let shape = g.ty(value).static_shape()?;
    let shape: Vec<usize> = shape.into_iter().map(|extent| extent as usize).collect();
    if let Some(scalar) = scalar_of(g, value) {
        let count = shape.iter().product();
        return Some(Tensor::new(shape, scalar.buffer().splat(count)));
    }
    let data = g.view::<ConstTensor>(g.defining_op(value)?)?.data(g);
    Some(Tensor::new(shape, g.literal_elements(data)))
}
