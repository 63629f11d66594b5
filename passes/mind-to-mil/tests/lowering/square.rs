//! Square shapes, which do not change if a transposition is missing, so that only the numbers show the error.

use mind_interp::{Extents, random_inputs};
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

use crate::module::{lowered, narrowed, near, read, results, text};

/// Ops of modules with the inputs `%0` and `%1`, both `[4, 4]`, the constants `%2` `[4, 4]`, `%3` `[4]` and `%4` `[4,
/// 1]`, and the output `%9`.
const MATRICES: &[&str] = &[
    "%9 = MatMul (%0, %2)",
    "%9 = MatMul (%2, %0)",
    "%5 = Transpose (%0)\n%9 = MatMul (%5, %2)",
    "%5 = Transpose (%2)\n%9 = MatMul (%0, %5)",
    "%5 = Transpose (%2)\n%9 = MatMul (%5, %0)",
    "%9 = MatMul (%0, %1)",
    "%5 = Transpose (%0)\n%9 = MatMul (%5, %1)",
    "%5 = Transpose (%1)\n%9 = MatMul (%0, %5)",
    "%5 = MatMul (%0, %2)\n%9 = Transpose (%5)",
    "%5 = MatMul (%0, %2)\n%9 = Add (%5, %3)",
    "%5 = MatMul (%0, %2)\n%9 = Add (%5, %4)",
    "%5 = MatMul (%2, %0)\n%9 = Add (%5, %4)",
    "%5 = MatMul (%0, %2)\n%6 = Relu (%5)\n%7 = MatMul (%6, %2)\n%9 = Add (%7, %0)",
    "%5 = MatMul (%0, %2)\n%9 = Softmax (%5)",
    "%5 = MatMul (%0, %2)\n%9 = Softmax (%5) {axis=0}",
    "%5 = MatMul (%0, %2)\n%9 = Sum (%5) {axes=[0], keepdims=true}",
    "%5 = MatMul (%0, %2)\n%9 = Mean (%5) {axes=[1], keepdims=true}",
    "%5 = MatMul (%0, %2)\n%9 = LayerNorm (%5)",
    "%5 = MatMul (%0, %2)\n%6 = Reshape (%5) {new_shape=[2, 8]}\n%7 = Transpose (%6)\n%9 = Reshape (%7) {new_shape=[4, 4]}",
];

/// As [`MATRICES`], with `%0` and `%1` of `[4, 4, 4]`.
const BATCHES: &[&str] = &[
    "%9 = MatMul (%0, %2)",
    "%9 = MatMul (%0, %1)",
    "%5 = Transpose (%0) {permutation=[1, 2, 0]}\n%9 = MatMul (%5, %2)",
    "%5 = Transpose (%0) {permutation=[2, 0, 1]}\n%9 = MatMul (%5, %2)",
    "%5 = Transpose (%0) {permutation=[2, 1, 0]}\n%9 = MatMul (%5, %1)",
    "%5 = Transpose (%1) {permutation=[0, 2, 1]}\n%9 = MatMul (%0, %5)",
    "%5 = MatMul (%0, %2)\n%6 = Transpose (%5) {permutation=[1, 0, 2]}\n%9 = MatMul (%6, %2)",
    "%5 = MatMul (%0, %2)\n%9 = Add (%5, %3)",
    "%5 = MatMul (%0, %2)\n%9 = Add (%5, %4)",
];

fn module(shape: &str, ops: &str) -> String {
    let numbers = |count: i32| -> String {
        let all = (0..count).map(|at| format!("{:.3}", f64::from(at * at % 11 - 4) / 8.0));
        all.collect::<Vec<_>>().join(", ")
    };
    format!(
        "%0 = Input {{name=x}} : tensor<f32{shape}>\n%1 = Input {{name=y}} : tensor<f32{shape}>\n\
         %2 = ConstTensor {{data=[{}], dtype=f32, shape=[4, 4]}}\n\
         %3 = ConstTensor {{data=[{}], dtype=f32, shape=[4]}}\n\
         %4 = ConstTensor {{data=[{}], dtype=f32, shape=[4, 1]}}\n{ops}\noutputs: %9\n",
        numbers(16),
        numbers(4),
        numbers(4)
    )
}

#[track_caller]
fn check(source: &str) {
    let g = read(source).unwrap_or_else(|why| panic!("{why}"));
    let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
    let expected = results(&g, &arrays).expect("a module that runs");
    for (float, error) in [(DType::F32, 1e-5), (DType::F16, 3e-2)] {
        for layout in [Layout::Keep, Layout::Ane, Layout::Auto] {
            let config = Config {
                float,
                layout,
                interface: Interface::Any,
                ..Config::default()
            };
            let low = lowered(&g, &config).unwrap_or_else(|why| panic!("{why:?}\n{source}"));
            let found = results(&low, &narrowed(&low, &arrays)).expect("a program that runs");
            for (expected, found) in expected.iter().zip(&found) {
                near(expected, found, error)
                    .unwrap_or_else(|why| panic!("{why}\n{source}\n{}", text(&low)));
            }
        }
    }
}

#[test]
fn square_matrices_are_not_taken_for_their_transposes() {
    for ops in MATRICES {
        check(&module("[4, 4]", ops));
    }
    for ops in BATCHES {
        check(&module("[4, 4, 4]", ops));
    }
}

#[test]
fn rows_enough_for_the_engines_layout_are_not_taken_for_columns() {
    let weights: Vec<String> = (0..32 * 32)
        .map(|at: i32| format!("{:.3}", f64::from(at * 7 % 31 - 15) / 64.0))
        .collect();
    for ops in [
        "%9 = MatMul (%0, %1)",
        "%2 = Transpose (%0)\n%9 = MatMul (%2, %1)",
        "%2 = MatMul (%0, %1)\n%3 = Relu (%2)\n%4 = Transpose (%3)\n%9 = MatMul (%4, %1)",
        "%2 = MatMul (%0, %1)\n%9 = Softmax (%2) {axis=0}",
    ] {
        check(&format!(
            "%0 = Input {{name=x}} : tensor<f32[32, 32]>\n\
             %1 = ConstTensor {{data=[{}], dtype=f32, shape=[32, 32]}}\n{ops}\noutputs: %9\n",
            weights.join(", ")
        ));
    }
}

#[test]
fn images_as_high_and_wide_as_they_are_deep_keep_their_dimensions() {
    for ops in [
        "%9 = Conv2d (%0, %1)",
        "%2 = Transpose (%0) {permutation=[0, 2, 1, 3]}\n%9 = Conv2d (%2, %1)",
        "%2 = Transpose (%0) {permutation=[0, 3, 1, 2]}\n%9 = Conv2d (%2, %1)",
        "%2 = Conv2d (%0, %1)\n%9 = Transpose (%2) {permutation=[0, 3, 1, 2]}",
        "%2 = Conv2d (%0, %1)\n%9 = Mean (%2) {axes=[1], keepdims=true}",
        "%2 = Transpose (%1) {permutation=[1, 0, 3, 2]}\n%9 = Conv2d (%0, %2)",
    ] {
        check(&format!(
            "%0 = Input {{name=x}} : tensor<f32[4, 4, 4, 4]>\n\
             %1 = Input {{name=w}} : tensor<f32[4, 4, 4, 4]>\n{ops}\noutputs: %9\n"
        ));
    }
}
