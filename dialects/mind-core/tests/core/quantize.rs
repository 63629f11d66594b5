//! Quantisation and dequantisation.

use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::tensor::rust_types::{BF16, F16};
use mind_ir::types::DType;

use crate::elements::{assert_same, of};
use crate::run::{OPEN, RUN};

#[track_caller]
fn quantized(dtype: DType, axis: i64, operands: &[&Tensor], expected: &Tensor) {
    let attrs = Quantize::attrs(dtype, axis);
    assert_same(
        &RUN.get(Quantize::DEF, &attrs, operands),
        expected,
        "quantize",
    );
    assert_same(&OPEN.get(Quantize::DEF, &attrs, operands), expected, "open");
}

#[track_caller]
fn dequantized(axis: i64, operands: &[&Tensor], expected: &Tensor) {
    let attrs = Dequantize::attrs(axis);
    assert_same(
        &RUN.get(Dequantize::DEF, &attrs, operands),
        expected,
        "dequantize",
    );
    assert_same(
        &OPEN.get(Dequantize::DEF, &attrs, operands),
        expected,
        "open",
    );
}

#[test]
fn quotients_round_to_even_and_are_cut() {
    let x = [
        0.25f32,
        0.75,
        -0.25,
        -0.75,
        1.25,
        63.5,
        64.0,
        -64.25,
        -1e30,
        f32::NAN,
        -0.0,
    ];
    let (x, scale) = (of(&[11], &x), of(&[], &[0.5f32]));
    quantized(
        DType::I8,
        -1,
        &[&x, &scale],
        &of(&[11], &[0i8, 2, 0, -2, 2, 127, 127, -128, -128, 0, 0]),
    );
    quantized(
        DType::U8,
        -1,
        &[&x, &scale, &of(&[], &[3u8])],
        &of(&[11], &[3u8, 5, 3, 1, 5, 130, 131, 0, 0, 3, 3]),
    );
    let ends = of(&[4], &[f32::INFINITY, f32::NEG_INFINITY, 3e9, -3e9]);
    let one = of(&[], &[1.0f32]);
    quantized(
        DType::I32,
        -1,
        &[&ends, &one, &of(&[], &[-5i32])],
        &of(&[4], &[i32::MAX, i32::MIN, i32::MAX, i32::MIN]),
    );
    quantized(
        DType::U32,
        -1,
        &[&ends, &one, &of(&[], &[5u32])],
        &of(&[4], &[u32::MAX, 0, 3_000_000_005, 0]),
    );
    let zero = of(&[], &[0.0f32]);
    let signs = of(&[3], &[1.0f32, -1.0, 0.0]);
    quantized(
        DType::I16,
        -1,
        &[&signs, &zero],
        &of(&[3], &[i16::MAX, i16::MIN, 0]),
    );
}

#[test]
fn the_quotient_has_the_dtype_of_the_scale() {
    let scale = of(&[], &[F16::from_f32(3.0)]);
    // 7.5 / 3 is 2.5 in every dtype; in f16, 1000.5 is exact and a third of it is 333.5.
    let x = of(&[2], &[7.5f32, 1000.5]);
    quantized(DType::I16, -1, &[&x, &scale], &of(&[2], &[2i16, 334]));
    let wide = of(&[], &[3.0f32]);
    quantized(DType::I16, -1, &[&x, &wide], &of(&[2], &[2i16, 334]));
    let x = of(&[1], &[1000.4f32]);
    quantized(DType::I16, -1, &[&x, &scale], &of(&[1], &[334i16]));
    quantized(DType::I16, -1, &[&x, &wide], &of(&[1], &[333i16]));
}

#[test]
fn scales_are_for_slices_and_blocks() {
    let x = of(
        &[2, 5],
        &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
    );
    quantized(
        DType::I8,
        0,
        &[&x, &of(&[2], &[1.0f32, 0.5]), &of(&[2], &[0i8, -20])],
        &of(&[2, 5], &[1i8, 2, 3, 4, 5, -8, -6, -4, -2, 0]),
    );
    // Blocks of two elements: five elements have three blocks.
    let scale = of(&[1, 3], &[1.0f32, 0.5, 0.25]);
    let blocks = of(&[2, 5], &[1i8, 2, 6, 8, 20, 6, 7, 16, 18, 40]);
    quantized(DType::I8, -1, &[&x, &scale], &blocks);
    dequantized(-1, &[&blocks, &scale], &x);
    // Five elements in four blocks of two, so that the last block is empty.
    let scale = of(&[1, 4], &[1.0f32, 0.5, 0.25, f32::NAN]);
    dequantized(-1, &[&blocks, &scale], &x);
}

#[test]
fn differences_are_exact_and_round_once() {
    let x = of(&[3], &[i32::MIN, 0, i32::MAX]);
    let (scale, zero) = (of(&[], &[1.0f64]), of(&[], &[i32::MAX]));
    let expected = of(&[3], &[-4294967295.0f64, -2147483647.0, 0.0]);
    dequantized(-1, &[&x, &scale, &zero], &expected);
    let x = of(&[2], &[u8::MAX, 0]);
    let (scale, zero) = (of(&[], &[BF16::from_f32(0.5)]), of(&[], &[2u8]));
    let expected = of(&[2], &[BF16::from_f32(126.5), BF16::from_f32(-1.0)]);
    dequantized(-1, &[&x, &scale, &zero], &expected);
    // 257 is not representable in bf16: it is rounded to 256 before the product.
    let x = of(&[1], &[257i16]);
    let scale = of(&[], &[BF16::from_f32(3.0)]);
    dequantized(-1, &[&x, &scale], &of(&[1], &[BF16::from_f32(768.0)]));
    let none = of::<i8>(&[0, 2], &[]);
    dequantized(
        1,
        &[&none, &of(&[2], &[1.0f32, 2.0])],
        &of::<f32>(&[0, 2], &[]),
    );
}

#[test]
fn extents_that_only_running_could_tell() {
    let (x, scale) = (of(&[2, 3], &[1.0f32; 6]), of(&[2], &[1.0f32; 2]));
    let text = OPEN.mismatch(Quantize::DEF, &Quantize::attrs(DType::I8, 1), &[&x, &scale]);
    assert!(text.contains("do not fit"), "{text}");
    let (x, scale) = (of(&[2, 3], &[1i8; 6]), of(&[3, 1], &[1.0f32; 3]));
    let text = OPEN.mismatch(Dequantize::DEF, &Dequantize::attrs(1), &[&x, &scale]);
    assert!(text.contains("do not fit"), "{text}");
    let zero = of(&[3], &[0i8; 3]);
    let scale = of(&[2], &[1.0f32; 2]);
    let text = OPEN.mismatch(Dequantize::DEF, &Dequantize::attrs(0), &[&x, &scale, &zero]);
    assert!(text.contains("zero points of shape [3]"), "{text}");
}
