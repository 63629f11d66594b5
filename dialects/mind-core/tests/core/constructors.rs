//! The constructors that `ops!` generates for each op.

use mind_core::ops::contract::MatMul;
use mind_core::ops::conv::Conv2d;
use mind_core::ops::join::Concat;
use mind_core::ops::reduce::Sum;
use mind_core::ops::shape::Reshape;
use mind_core::{constant, ops};
use mind_ir::attr::Padding;
use mind_ir::builder::Builder;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::{Graph, ValueId};

/// Runs `build` on an empty module, with a function that creates a value of a shape.
fn with_builder(
    build: impl FnOnce(&mut Builder<'_>, &dyn Fn(&mut Builder<'_>, &[usize]) -> ValueId),
) {
    let mut g = Graph::new();
    let zeros = |b: &mut Builder<'_>, shape: &[usize]| {
        let count = shape.iter().product();
        constant(b, &Tensor::of::<f32>(shape.to_vec(), vec![0.0; count]))
    };
    build(&mut Builder::at_end(&mut g), &zeros);
}

fn shape(b: &Builder<'_>, value: ValueId) -> Vec<i64> {
    b.graph.ty(value).static_shape().expect("known extents")
}

#[test]
fn operands_are_arguments_and_attributes_have_their_defaults() {
    with_builder(|b, zeros| {
        let (lhs, rhs) = (zeros(b, &[2, 3]), zeros(b, &[3, 5]));
        let product = MatMul::build(b, lhs, rhs).expect("the extents agree");
        assert_eq!(shape(b, product), [2, 5]);
        let sum = Sum::build(b, product).expect("a sum over all axes");
        assert_eq!(shape(b, sum), [] as [i64; 0]);
    });
}

#[test]
fn attributes_are_set_by_name() {
    with_builder(|b, zeros| {
        let x = zeros(b, &[2, 3]);
        let sum = Sum::with()
            .axes(&[1])
            .keepdims(true)
            .build(b, x)
            .expect("an axis of 2");
        assert_eq!(shape(b, sum), [2, 1]);
        let (images, filter) = (zeros(b, &[1, 8, 8, 3]), zeros(b, &[3, 3, 3, 4]));
        let conv = Conv2d::with().strides(&[2, 2]).padding(Padding::Same);
        let conv = conv.build(b, images, filter).expect("the channels agree");
        assert_eq!(shape(b, conv), [1, 4, 4, 4]);
    });
}

#[test]
fn attributes_without_a_default_come_first() {
    with_builder(|b, zeros| {
        let x = zeros(b, &[2, 3]);
        let flat = Reshape::with(&[Dim::Fixed(6)])
            .build(b, x)
            .expect("six elements");
        assert_eq!(shape(b, flat), [6]);
        let pair = Concat::with(0).build(b, &[x, x, x]).expect("equal parts");
        assert_eq!(shape(b, pair), [6, 3]);
    });
}

#[test]
fn a_broken_shape_rule_is_an_error_and_leaves_no_op() {
    with_builder(|b, zeros| {
        let x = zeros(b, &[2, 3]);
        let before = b.graph.ops(b.graph.body()).count();
        let error = MatMul::build(b, x, x).expect_err("3 is not 2");
        assert_eq!(error.code().map(|code| code.0), Some(3003), "{error}");
        assert_eq!(b.graph.ops(b.graph.body()).count(), before);
    });
}

#[test]
fn an_attribute_that_is_not_set_is_the_default_of_the_table() {
    with_builder(|b, zeros| {
        let x = zeros(b, &[2, 3]);
        let sum = Sum::with()
            .keepdims(true)
            .build(b, x)
            .expect("a sum over all axes");
        let op = b.graph.defining_op(sum).expect("a result");
        let axes = ops::reduce::Sum::from_id(op).axes(b.graph);
        assert!(axes.is_empty());
    });
}
