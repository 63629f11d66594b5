//! Results that exceed the memory limit.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::constant::ConstTensor;
use mind_core::ops::contract::MatMul;
use mind_core::ops::conv::Conv2d;
use mind_core::ops::elementwise::Add;
use mind_core::ops::index::Gather;
use mind_core::ops::join::Concat;
use mind_core::ops::reduce::Sum;
use mind_core::ops::runtime_shape::DynamicIota;
use mind_ir::attr::{Attr, Literal, Padding};
use mind_ir::eval::{DimEnv, EvalCx, EvalError};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim};

use crate::elements::{marked, of};
use crate::module::{build, empty, examples, input, ty};
use crate::run::{RUN, Setup};

#[test]
fn every_op_asks_before_it_allocates() {
    let small = [
        "core.const_i64",
        "core.const_f32",
        "core.const_f64",
        // Its operand holds extents, which are zeros here.
        "core.dynamic_iota",
    ];
    for example in examples()
        .iter()
        .filter(|example| !small.contains(&example.def.name))
    {
        let name = example.def.name;
        let mut g = empty();
        let (mut values, mut tensors) = (Vec::new(), Vec::new());
        for text in example.operands {
            let ty = ty(&mut g, text);
            let view = g.types().get(ty);
            let shape = view.static_shape().expect("examples have known extents");
            let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
            let count = shape.iter().product();
            tensors.push(Tensor::new(shape, Buffer::zeros(view.dtype, count)));
            values.push(input(&mut g, ty));
        }
        let result = ty(&mut g, example.result);
        let op = build(&mut g).create_typed(example.def, &values, &example.attrs, &[result]);
        let (dims, operands) = (DimEnv::default(), tensors.iter().collect::<Vec<_>>());
        let eval = |tensor_limit| {
            let cx = EvalCx {
                tensor_limit,
                ..EvalCx::run(&g, &dims)
            };
            example.def.eval.expect("a meaning")(op, &cx, &operands)
        };
        assert!(
            matches!(eval(3), Err(EvalError::TooLarge { .. })),
            "{name}: {:?}",
            eval(3)
        );
        assert!(eval(EvalCx::TENSOR_LIMIT).is_ok(), "{name}");
    }
}

#[track_caller]
fn too_large(def: &'static OpDef, attrs: &[Attr<'_>], operands: &[&Tensor], shape: &[usize]) {
    match RUN.eval(def, attrs, operands) {
        Err(EvalError::TooLarge { shape: found, .. }) => assert_eq!(found, shape, "{}", def.name),
        other => panic!("{}: {other:?}", def.name),
    }
}

#[test]
fn results_that_no_memory_holds() {
    let (long, tall) = (
        marked(DType::U8, &[1 << 20]),
        marked(DType::U8, &[1 << 20, 1]),
    );
    too_large(Add::DEF, &[], &[&tall, &long], &[1 << 20, 1 << 20]);
    let wide = long.clone().with_shape(vec![1, 1 << 20]);
    too_large(MatMul::DEF, &[], &[&tall, &wide], &[1 << 20, 1 << 20]);
    let (shape, extents) = ([Dim::Dynamic; 2], of(&[2], &[1i64 << 20, 1 << 20]));
    let attrs = DynamicIota::attrs(DType::U8, &shape, 0);
    too_large(DynamicIota::DEF, &attrs, &[&extents], &[1 << 20, 1 << 20]);
    let indices = of(&[1 << 18], &vec![0i64; 1 << 18]);
    too_large(
        Gather::DEF,
        &Gather::attrs(1, Bounds::Strict),
        &[&tall, &indices],
        &[1 << 20, 1 << 18],
    );
    let (x, w) = (
        marked(DType::F32, &[1, 1, 1, 1]),
        marked(DType::F32, &[1, 1, 1, 1]),
    );
    let pads = [1 << 40, 0, 1 << 40, 0];
    let attrs = Conv2d::attrs(&[1, 1], Padding::Custom(&pads));
    too_large(
        Conv2d::DEF,
        &attrs,
        &[&x, &w],
        &[1, (1 << 40) + 1, (1 << 40) + 1, 1],
    );
    let empty = marked(DType::F32, &[0, 1 << 40]);
    too_large(Sum::DEF, &Sum::attrs(&[0], false), &[&empty], &[1 << 40]);
}

#[test]
fn huge_constants_do_not_abort() {
    let splat = Literal {
        dtype: DType::I8,
        count: None,
        bytes: &[1],
    };
    for text in [
        "i8[1099511627776, 1099511627776]",
        "i8[9223372036854775807, 2, 2]",
        "i8[5000000000]",
    ] {
        let mut g = empty();
        let ty = ty(&mut g, text);
        let op = build(&mut g).create_typed(ConstTensor::DEF, &[], &[Attr::Literal(&splat)], &[ty]);
        let dims = DimEnv::default();
        let result = ConstTensor::DEF.eval.expect("a meaning")(op, &EvalCx::run(&g, &dims), &[]);
        assert!(matches!(result, Err(EvalError::TooLarge { .. })), "{text}");
    }
}

/// The product of the other extents of an empty tensor may overflow, which every op must handle.
#[test]
fn empty_tensors_with_huge_extents() {
    use mind_core::ops::{index::Slice, join::Split, reduce::Max, reduce::Mean, shape::Transpose};
    const HUGE: usize = 1 << 40;
    let x = Tensor::of(vec![HUGE, HUGE, 0], Vec::<f32>::new());
    let shape = |def, attrs: &[Attr<'_>], operands: &[&Tensor]| {
        RUN.get(def, attrs, operands).shape().to_vec()
    };
    assert_eq!(
        shape(Transpose::DEF, &Transpose::attrs(&[]), &[&x]),
        [0, HUGE, HUGE]
    );
    assert_eq!(shape(Sum::DEF, &Sum::attrs(&[0, 1], false), &[&x]), [0]);
    assert_eq!(shape(Mean::DEF, &Mean::attrs(&[0, 1], false), &[&x]), [0]);
    assert!(shape(Max::DEF, &Max::attrs(&[], false), &[&x]).is_empty());
    let slice = Slice::attrs(&[1, 1, 0], &[9, 9, 0], &[2, 2, 1]);
    assert_eq!(shape(Slice::DEF, &slice, &[&x]), [4, 4, 0]);
    assert_eq!(
        shape(Split::DEF, &Split::attrs(1, 2, 1), &[&x]),
        [HUGE, HUGE / 2, 0]
    );
    assert_eq!(
        shape(Concat::DEF, &Concat::attrs(0), &[&x, &x]),
        [2 * HUGE, HUGE, 0]
    );
    assert_eq!(shape(Add::DEF, &[], &[&x, &x]), [HUGE, HUGE, 0]);
    assert_eq!(
        shape(Add::DEF, &[], &[&x, &of(&[1], &[1.0f32])]),
        [HUGE, HUGE, 0]
    );
    let (stack, columns) = (
        x.clone().with_shape(vec![0, HUGE, HUGE]),
        x.with_shape(vec![HUGE, 0]),
    );
    assert_eq!(shape(MatMul::DEF, &[], &[&stack, &columns]), [0, HUGE, 0]);
    let (image, filter) = (
        Tensor::of(vec![1, HUGE, HUGE, 0], Vec::<f32>::new()),
        Tensor::of(vec![HUGE, HUGE, 0, 2], Vec::<f32>::new()),
    );
    let attrs = Conv2d::attrs(&[1, 1], Padding::Valid);
    assert_eq!(shape(Conv2d::DEF, &attrs, &[&image, &filter]), [1, 1, 1, 2]);
    let widest = Tensor::of(vec![0, i64::MAX as usize], Vec::<f32>::new());
    let open = Setup { open: true, ..RUN };
    let text = open.mismatch(Concat::DEF, &Concat::attrs(1), &[&widest, &widest]);
    assert!(text.contains("too large an extent"), "{text}");
}
