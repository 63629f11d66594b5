//! Shape rules of products with paired dimensions and of quantisation.

use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::convolution::SumType;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_ir::opdef::Op;
use mind_ir::types::{DType, QuantFormat};

use super::{Case, case};

/// Paired dimensions, and the accumulator dtype.
pub fn pairs() -> Vec<Case> {
    use SumType::{F32, F64, I32, I64, Same};
    // Batch and contracted dimensions of `lhs`, then those of `rhs`.
    let dot = |operands: &str, lists: [&'static [i64]; 4], dtype, expected| {
        let [lhs_batch, lhs_contract, rhs_batch, rhs_contract] = lists;
        let attrs = DotGeneral::attrs(lhs_batch, rhs_batch, lhs_contract, rhs_contract, dtype);
        case(DotGeneral::DEF, operands, attrs, expected)
    };
    const MATRIX: [&[i64]; 4] = [&[], &[1], &[], &[0]];
    const STACK: [&[i64]; 4] = [&[0], &[2], &[0], &[1]];
    const OUTER: [&[i64]; 4] = [&[], &[], &[], &[]];
    let sixteen = "f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
    vec![
        dot("f32[2, 3]; f32[3, 4]", MATRIX, Same, "f32[2, 4]"),
        dot("f32[5, 2, 3]; f32[5, 3, 4]", STACK, Same, "f32[5, 2, 4]"),
        dot("f32[2]; f32[B]", OUTER, Same, "f32[2, B]"),
        dot("i64[]; i64[]", OUTER, Same, "i64[]"),
        dot(
            "f32[2, 3, 4]; f32[4, 5, 3]",
            [&[], &[1, 2], &[], &[2, 0]],
            Same,
            "f32[2, 5]",
        ),
        dot(
            "f32[2, B, 4]; f32[4, B]",
            [&[-2], &[-1], &[-1], &[-2]],
            Same,
            "f32[B, 2]",
        ),
        dot("f32[2, B]; f32[B, C]", MATRIX, Same, "f32[2, C]"),
        dot("f32[?, 2, 3]; f32[5, 3, ?]", STACK, Same, "f32[5, 2, ?]"),
        dot("f32[0, 3]; f32[3, 4]", MATRIX, Same, "f32[0, 4]"),
        dot("f32[2, 0]; f32[0, 4]", MATRIX, Same, "f32[2, 4]"),
        dot("u8[2, 3]; i8[3, 4]", MATRIX, I32, "i32[2, 4]"),
        dot("i16[2, 3]; i16[3, 4]", MATRIX, I64, "i64[2, 4]"),
        dot("bf16[2, 3]; bf16[3, 4]", MATRIX, F32, "f32[2, 4]"),
        dot("f32[2, 3]; f32[3, 4]", MATRIX, F64, "f64[2, 4]"),
        dot("f32[2, 3]; f32[3, 4]", MATRIX, F32, "f32[2, 4]"),
        dot("f32[2, 3]; f64[3, 4]", MATRIX, Same, "E2004"),
        dot("u8[2, 3]; i8[3, 4]", MATRIX, Same, "E2004"),
        dot("u8[2, 3]; i16[3, 4]", MATRIX, I32, "E2004"),
        dot("f16[2, 3]; bf16[3, 4]", MATRIX, F32, "E2004"),
        dot("i32[2, 3]; i32[3, 4]", MATRIX, I64, "E2005"),
        dot("f64[2, 3]; f64[3, 4]", MATRIX, F32, "E2005"),
        dot("i8[2, 3]; i8[3, 4]", MATRIX, F32, "E2005"),
        dot("bool[2, 3]; bool[3, 4]", MATRIX, Same, "E2005"),
        dot(&format!("{sixteen}; {sixteen}"), OUTER, Same, "E3002"),
        dot("f32[2, 3]; f32[4, 3]", MATRIX, Same, "E3003"),
        dot("f32[2, B]; f32[C, 3]", MATRIX, Same, "E3003"),
        dot("f32[5, 2, 3]; f32[4, 3, 4]", STACK, Same, "E3003"),
        dot("f32[2, 3]; f32[3, 4]", [&[], &[1], &[], &[]], Same, "E3003"),
        dot("f32[2, 3]; f32[2, 4]", [&[0], &[], &[], &[]], Same, "E3003"),
        dot(
            "f32[2, 3]; f32[3, 4]",
            [&[], &[2], &[], &[0]],
            Same,
            "E3004",
        ),
        dot(
            "f32[2, 2]; f32[2, 2]",
            [&[1], &[-1], &[0], &[1]],
            Same,
            "E3005",
        ),
    ]
}

/// Products with block-quantised matrices.
pub fn blocks() -> Vec<Case> {
    let product = |operands: &str, format, expected| {
        case(
            BlockMatMul::DEF,
            operands,
            BlockMatMul::attrs(format),
            expected,
        )
    };
    let (bytes, nibbles) = (Some(QuantFormat::Q8_0), Some(QuantFormat::Q4K));
    vec![
        product("i8[2, 64]; f32[2, 2]; u8[3, 68]", bytes, "f32[2, 3]"),
        product(
            "i8[B, 5, 256]; f32[B, 5, 8]; u8[?, 144]",
            nibbles,
            "f32[B, 5, ?]",
        ),
        product("i8[0]; f32[0]; u8[2, 0]", bytes, "f32[2]"),
        product("u8[2, 64]; f32[2, 2]; u8[3, 68]", bytes, "E2005"),
        product("i8[2, 64]; f16[2, 2]; u8[3, 68]", bytes, "E2005"),
        product("i8[2, 64]; f32[2, 2]; i8[3, 68]", bytes, "E2005"),
        product("i8[]; f32[]; u8[3, 68]", bytes, "E3002"),
        product("i8[2, 64]; f32[2]; u8[3, 68]", bytes, "E3002"),
        product("i8[2, 64]; f32[2, 2]; u8[68]", bytes, "E3002"),
        product("i8[2, B]; f32[2, 2]; u8[3, 68]", bytes, "E3003"),
        product("i8[2, 64]; f32[2, 2]; u8[3, 36]", nibbles, "E3003"),
        product("i8[2, 64]; f32[2, 3]; u8[3, 68]", bytes, "E3003"),
        product("i8[2, 64]; f32[2, 2]; u8[3, 67]", bytes, "E3003"),
        product("i8[2, 64]; f32[4, 2]; u8[3, 68]", bytes, "E3003"),
        product("i8[2, 64]; f32[2, 2]; u8[3, 68]", None, "E4022"),
    ]
}

/// Scales of tensors, slices and blocks.
pub fn scales() -> Vec<Case> {
    let quantize = |operands: &str, dtype, axis, expected| {
        case(
            Quantize::DEF,
            operands,
            Quantize::attrs(dtype, axis),
            expected,
        )
    };
    let dequantize = |operands: &str, axis, expected| {
        case(Dequantize::DEF, operands, Dequantize::attrs(axis), expected)
    };
    vec![
        quantize("f32[2, 3]; f32[]", DType::I8, -1, "i8[2, 3]"),
        quantize("f16[B, ?]; f32[]; u8[]", DType::U8, -1, "u8[B, ?]"),
        quantize("f32[]; f32[]", DType::I16, -1, "i16[]"),
        quantize("f32[2, 3]; f32[2]; i32[2]", DType::I32, 0, "i32[2, 3]"),
        quantize("f32[2, B]; f32[B]", DType::U16, 1, "u16[2, B]"),
        quantize("f32[2, 7]; f32[1, 3]", DType::U32, -1, "u32[2, 7]"),
        quantize("f32[7]; f32[3]", DType::I8, -1, "i8[7]"),
        quantize("f32[0, 3]; f32[1, 3]", DType::I8, -1, "i8[0, 3]"),
        quantize("f32[0, 3]; f32[0, 1]", DType::I8, -1, "i8[0, 3]"),
        quantize("f32[2, B]; f32[2, 4]", DType::I8, -1, "i8[2, B]"),
        quantize("f32[3]; f32[]; u8[]", DType::I8, -1, "E2004"),
        quantize("i32[3]; f32[]", DType::I8, -1, "E2005"),
        quantize("f32[3]; i32[]", DType::I8, -1, "E2005"),
        quantize("f32[3]; f32[]", DType::I64, -1, "E2005"),
        quantize("f32[3]; f32[]", DType::F16, -1, "E2005"),
        quantize("f32[3]; f32[]", DType::Bool, -1, "E2005"),
        quantize("f32[3]; f32[]; f32[]", DType::I8, -1, "E2005"),
        quantize("f32[2, 3, 4]; f32[3, 4]", DType::I8, -1, "E3002"),
        quantize("f32[]; f32[1]", DType::I8, -1, "E3002"),
        quantize("f32[2, 3]; f32[3]; i8[]", DType::I8, -1, "E3002"),
        quantize("f32[2, 3]; f32[2]", DType::I8, 1, "E3003"),
        quantize("f32[2, 3]; f32[2, 4]", DType::I8, 1, "E3003"),
        quantize("f32[2, 3]; f32[2, 0]", DType::I8, 1, "E3003"),
        quantize("f32[2, 3]; f32[3]; i8[2]", DType::I8, 1, "E3003"),
        quantize("f32[2, 3]; f32[]", DType::I8, 2, "E3004"),
        quantize("f32[]; f32[]", DType::I8, 1, "E3004"),
        dequantize("i8[2, 3]; f32[]", -1, "f32[2, 3]"),
        dequantize("u8[B, ?]; f16[]; u8[]", -1, "f16[B, ?]"),
        dequantize("i32[2, 3]; f64[2]; i32[2]", 0, "f64[2, 3]"),
        dequantize("u16[2, 7]; bf16[2, 3]", -1, "bf16[2, 7]"),
        dequantize("i8[3]; f32[]; u8[]", -1, "E2004"),
        dequantize("f32[3]; f32[]", -1, "E2005"),
        dequantize("i64[3]; f32[]", -1, "E2005"),
        dequantize("i8[3]; i8[]", -1, "E2005"),
        dequantize("i8[2, 3, 4]; f32[3, 4]", -1, "E3002"),
        dequantize("i8[2, 3]; f32[3]; i8[]", -1, "E3002"),
        dequantize("i8[2, 3]; f32[4]", -1, "E3003"),
        dequantize("i8[2, 3]; f32[3]", 2, "E3004"),
    ]
}

/// Cholesky and triangular_solve.
pub fn systems() -> Vec<Case> {
    let factor =
        |operand: &str, expected| case(Cholesky::DEF, operand, Cholesky::attrs(true), expected);
    let solve = |operands: &str, is_left, expected| {
        let attrs = TriangularSolve::attrs(true, is_left, false, false);
        case(TriangularSolve::DEF, operands, attrs, expected)
    };
    vec![
        factor("f32[3, 3]", "f32[3, 3]"),
        factor("f16[B, C, C]", "f16[B, C, C]"),
        factor("bf16[?, 2]", "bf16[2, 2]"),
        factor("f64[0, 0]", "f64[0, 0]"),
        factor("f64[2, 0, 1, 1]", "f64[2, 0, 1, 1]"),
        factor("i32[3, 3]", "E2005"),
        factor("f32[]", "E3002"),
        factor("f32[3]", "E3002"),
        factor("f32[2, 3]", "E3003"),
        factor("f32[B, C]", "E3003"),
        solve("f32[3, 3]; f32[3, 2]", true, "f32[3, 2]"),
        solve("f64[3, 3]; f64[2, 3]", false, "f64[2, 3]"),
        solve("f16[B, C, C]; f16[B, ?, 2]", true, "f16[B, C, 2]"),
        solve("f32[?, 3, 3]; f32[4, 3, 0]", true, "f32[4, 3, 0]"),
        solve("f32[0, 0]; f32[0, 5]", true, "f32[0, 5]"),
        solve("f32[3, 3]; f64[3, 2]", true, "E2004"),
        solve("u8[3, 3]; u8[3, 2]", true, "E2005"),
        solve("f32[3]; f32[3]", true, "E3002"),
        solve("f32[3, 3]; f32[3]", true, "E3002"),
        solve("f32[3, 3]; f32[2, 3, 3]", true, "E3002"),
        solve("f32[3, 4]; f32[3, 2]", true, "E3003"),
        solve("f32[3, 3]; f32[2, 3]", true, "E3003"),
        solve("f32[3, 3]; f32[3, 2]", false, "E3003"),
        solve("f32[2, 3, 3]; f32[1, 3, 3]", true, "E3003"),
    ]
}
