//! Constants created by passes.

use mind_ir::ValueId;
use mind_ir::attr::Literal;
use mind_ir::builder::Builder;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};

use crate::element::Element;
use crate::structure::Const;

/// Creates a constant with the elements of `tensor`; the printer chooses its name.
pub fn constant(b: &mut Builder<'_>, tensor: &Tensor) -> ValueId {
    let bytes = tensor.buffer().to_bytes();
    let literal = Literal {
        dtype: tensor.dtype(),
        count: Some(tensor.count()),
        bytes: &bytes,
    };
    let shape: Vec<i64> = tensor.shape().iter().map(|&extent| extent as i64).collect();
    create(b, &literal, Element::of(tensor.dtype()), "", &shape)
}

/// Creates a constant word; the printer chooses its name.
pub fn word(b: &mut Builder<'_>, word: &str) -> ValueId {
    let literal = Literal {
        dtype: DType::U8,
        count: None,
        bytes: &[0],
    };
    create(b, &literal, Element::String, word, &[])
}

fn create(
    b: &mut Builder<'_>,
    literal: &Literal<'_>,
    element: Element,
    word: &str,
    shape: &[i64],
) -> ValueId {
    let g = &mut *b.graph;
    let [element, word, none] = [element.name(), word, ""].map(|word| g.intern(word));
    let dims = shape.iter().copied().map(Dim::Fixed);
    let ty = g.intern_type(TensorType::new(literal.dtype, dims).view());
    let attrs = Const::attrs(literal, element, word, none, 0, none, none, false);
    let op = b.create_typed(Const::DEF, &[], &attrs, &[ty]);
    b.graph.result(op)
}
