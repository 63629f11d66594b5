//! Constants.

use mind_core::constant;
use mind_core::ops::constant::{ConstF32, ConstF64, ConstI64, ConstTensor};
use mind_ir::attr::{Attr, Literal};
use mind_ir::eval::{DimEnv, EvalCx, EvalError};
use mind_ir::opdef::Op;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::{Graph, OpId, Sym};

use crate::elements::{assert_same, marked, of};
use crate::module::{build, empty, ty};
use crate::run::RUN;

fn literal(g: &mut Graph, text: &str, literal: &Literal<'_>) -> OpId {
    let ty = ty(g, text);
    build(g).create_typed(ConstTensor::DEF, &[], &[Attr::Literal(literal)], &[ty])
}

fn eval(g: &Graph, op: OpId, dims: &DimEnv) -> Result<Tensor, EvalError> {
    let results = g.def(op).eval.expect("a meaning")(op, &EvalCx::run(g, dims), &[])?;
    Ok(results[0].clone())
}

#[test]
fn scalars() {
    assert_same(
        &RUN.get(ConstI64::DEF, &ConstI64::attrs(-7), &[]),
        &of(&[], &[-7i64]),
        "i64",
    );
    assert_same(
        &RUN.get(ConstF32::DEF, &ConstF32::attrs(0.1), &[]),
        &of(&[], &[0.1f32]),
        "f32",
    );
    assert_same(
        &RUN.get(ConstF64::DEF, &ConstF64::attrs(-0.0), &[]),
        &of(&[], &[-0.0f64]),
        "f64",
    );
    let inf = RUN.get(ConstF32::DEF, &ConstF32::attrs(f64::INFINITY), &[]);
    assert_same(
        &inf,
        &of(&[], &[f32::INFINITY]),
        "an infinity that was written",
    );
}

#[test]
fn listed_and_repeated_elements_of_every_dtype() {
    for &dtype in DType::ALL {
        let (mut g, x) = (empty(), marked(dtype, &[2, 3]));
        let bytes = x.buffer().to_bytes();
        let listed = Literal {
            dtype,
            count: Some(6),
            bytes: &bytes,
        };
        let op = literal(&mut g, &format!("{dtype}[2, 3]"), &listed);
        assert_same(
            &eval(&g, op, &DimEnv::default()).expect("a value"),
            &x,
            dtype.name(),
        );
        let splat = Literal {
            dtype,
            count: None,
            bytes: &bytes[dtype.size()..2 * dtype.size()],
        };
        let op = literal(&mut g, &format!("{dtype}[2, 2]"), &splat);
        let element = Buffer::from_bytes(dtype, splat.bytes);
        let expected = Tensor::new(vec![2, 2], element.splat(4));
        assert_same(
            &eval(&g, op, &DimEnv::default()).expect("a value"),
            &expected,
            dtype.name(),
        );
    }
}

#[test]
fn a_repeated_element_fills_symbolic_extents() {
    let mut g = empty();
    let bytes = 1.5f32.to_ne_bytes();
    let splat = Literal {
        dtype: DType::F32,
        count: None,
        bytes: &bytes,
    };
    let op = literal(&mut g, "f32[B, 2]", &splat);
    let unbound = eval(&g, op, &DimEnv::default()).unwrap_err();
    assert_eq!(unbound, EvalError::UnboundDim("B".to_owned()));
    for b in [3, 0] {
        let mut dims = DimEnv::default();
        dims.bind(Sym::new(0), b).expect("bound once");
        let filled = eval(&g, op, &dims).expect("a value");
        assert_same(&filled, &of(&[b, 2], &vec![1.5f32; b * 2]), "B rows");
    }
}

#[test]
fn a_tensor_survives_as_a_constant() {
    let splat = |dtype| Tensor::new(vec![4, 2], marked(dtype, &[2]).buffer().splat(8));
    for &dtype in DType::ALL {
        for tensor in [
            marked(dtype, &[]),
            marked(dtype, &[2, 3]),
            splat(dtype),
            marked(dtype, &[1]),
        ] {
            let mut g = empty();
            let value = constant(&mut build(&mut g), &tensor);
            let op = g.defining_op(value).expect("a constant is an op");
            let read = eval(&g, op, &DimEnv::default()).expect("a value");
            assert_same(&read, &tensor, &format!("{dtype} {:?}", tensor.shape()));
        }
    }
}
