//! Softmax and layer normalisation.

use mind_core::ops::elementwise::{Add, Div, Exp, Mul, Sqrt, Sub};
use mind_core::ops::normalize::{LayerNorm, Softmax};
use mind_core::ops::reduce::{Max, Mean, Sum};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::rust_types::{BF16, F16};
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::with_float;

use crate::elements::{assert_same, of, sample};
use crate::run::RUN;

fn elementwise(def: &'static OpDef, operands: &[&Tensor]) -> Tensor {
    RUN.get(def, &[], operands)
}

/// Computes a softmax with the ops that define it.
fn written_softmax(x: &Tensor, axis: i64) -> Tensor {
    let e = RUN.get(Max::DEF, &Max::attrs(&[axis], true), &[x]);
    let e = elementwise(Exp::DEF, &[&elementwise(Sub::DEF, &[x, &e])]);
    let total = RUN.get(Sum::DEF, &Sum::attrs(&[axis], true), &[&e]);
    elementwise(Div::DEF, &[&e, &total])
}

/// Computes a layer normalisation with the ops that define it.
fn written_layernorm<T: FloatNum>(x: &Tensor) -> Tensor {
    let mean = |x: &Tensor| RUN.get(Mean::DEF, &Mean::attrs(&[-1], true), &[x]);
    let d = elementwise(Sub::DEF, &[x, &mean(x)]);
    let variance = mean(&elementwise(Mul::DEF, &[&d, &d]));
    let epsilon = Tensor::scalar(T::from_f64(1e-5));
    let scale = elementwise(Sqrt::DEF, &[&elementwise(Add::DEF, &[&variance, &epsilon])]);
    elementwise(Div::DEF, &[&d, &scale])
}

#[test]
fn softmax_is_the_graph_of_its_ops_bit_for_bit() {
    for &dtype in DType::ALL {
        with_float!(dtype, T => {
            for (shape, axis) in [(&[3, 70][..], -1), (&[3, 5, 2], 1), (&[4, 3], 0), (&[1], 0), (&[2, 0], 1), (&[0, 2], 1)] {
                let x = sample::<T>(shape, 3);
                let found = RUN.get(Softmax::DEF, &Softmax::attrs(axis), &[&x]);
                assert_same(&found, &written_softmax(&x, axis), &format!("{dtype} {shape:?} {axis}"));
            }
        }, else {});
    }
}

#[test]
fn layernorm_is_the_graph_of_its_ops_bit_for_bit() {
    for &dtype in DType::ALL {
        with_float!(dtype, T => {
            for shape in [&[3, 70][..], &[2, 3, 5], &[4], &[1], &[2, 0]] {
                let x = sample::<T>(shape, 3);
                let found = RUN.get(LayerNorm::DEF, &[], &[&x]);
                assert_same(&found, &written_layernorm::<T>(&x), &format!("{dtype} {shape:?}"));
            }
        }, else {});
    }
}

#[test]
fn softmax_of_known_values() {
    let softmax = |x: &Tensor| RUN.get(Softmax::DEF, &Softmax::attrs(-1), &[x]);
    let equal = of(&[2, 4], &[7.0f32; 8]);
    assert_same(
        &softmax(&equal),
        &of(&[2, 4], &[0.25f32; 8]),
        "equal elements share",
    );
    let masked = of(&[2], &[f32::NEG_INFINITY, 3.0]);
    assert_same(
        &softmax(&masked),
        &of(&[2], &[0.0f32, 1.0]),
        "a masked element gets nothing",
    );
    let none = of(&[2], &[f32::NEG_INFINITY; 2]);
    assert_same(&softmax(&none), &of(&[2], &[f32::NAN; 2]), "-inf - -inf");
    let nan = of(&[2], &[f32::NAN, 3.0]);
    assert_same(&softmax(&nan), &of(&[2], &[f32::NAN; 2]), "NaN spreads");
    let large = of(&[2], &[f32::MAX, f32::MAX]);
    assert_same(
        &softmax(&large),
        &of(&[2], &[0.5f32; 2]),
        "the largest is taken off first",
    );
}

#[test]
fn layernorm_of_known_values() {
    let norm = |x: &Tensor| RUN.get(LayerNorm::DEF, &[], &[x]);
    let constant = of(&[2, 3], &[4.0f32; 6]);
    assert_same(&norm(&constant), &of(&[2, 3], &[0.0f32; 6]), "no variance");
    let (low, high) = (-1.0f64, 1.0);
    let expected = 1.0 / (1.0f64 + 1e-5).sqrt();
    assert_same(
        &norm(&of(&[2], &[low, high])),
        &of(&[2], &[-expected, expected]),
        "unit variance",
    );
}

#[test]
fn epsilon_is_rounded_to_the_dtype() {
    assert_eq!(
        F16::from_f64(1e-5).to_bits(),
        168,
        "168 * 2^-24, the nearest"
    );
    assert_eq!(BF16::from_f64(1e-5).to_bits(), 0x3728);
    let norm = RUN.get(
        LayerNorm::DEF,
        &[],
        &[&of(&[2], &[F16::from_f32(-0.001), F16::from_f32(0.001)])],
    );
    let half = |x: f32| F16::from_f32(x);
    let d = half(0.001);
    let variance = half(d.to_f32() * d.to_f32());
    let scale = half(
        half(variance.to_f32() + half(1e-5).to_f32())
            .to_f32()
            .sqrt(),
    );
    let high = half(d.to_f32() / scale.to_f32());
    assert_same(&norm, &of(&[2], &[-high, high]), "every step rounds to f16");
}
