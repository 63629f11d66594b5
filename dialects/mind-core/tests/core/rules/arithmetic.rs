//! Shape rules of arithmetic ops.

use mind_core::ops::argmax::*;
use mind_core::ops::{
    OPS, compare::*, contract::*, conv::*, convert::*, cumulative::*, elementwise::*, normalize::*,
    reduce::*,
};
use mind_ir::attr::{Attr, Padding};
use mind_ir::opdef::{Op, OperandClass};
use mind_ir::types::DType;

use super::{Case, case};
use crate::module::any_attrs;

/// Checks the dtypes that each op accepts, and that all operands except conditions must have the same dtype.
pub fn elementwise() -> Vec<Case> {
    let mut cases = Vec::new();
    for def in OPS {
        let Some(function) = def.scalar else { continue };
        // The types are assigned in order to the operands that are not conditions.
        let mut check = |types: &[&str], expected: &str| {
            let mut types = types.iter().cycle();
            let operands = def.operands.iter().map(|operand| match operand.class {
                OperandClass::Bool => "bool[]",
                _ => types.next().expect("an endless list"),
            });
            let operands = operands.collect::<Vec<_>>().join("; ");
            cases.push(case(def, &operands, any_attrs(def), expected));
        };
        for &dtype in DType::ALL {
            for shape in ["[2, B]", "[]", "[?]"] {
                let expected = match function.domain().admits(dtype) {
                    true => format!("{}{shape}", function.result(dtype)),
                    false => "E2005".to_owned(),
                };
                check(&[&format!("{dtype}{shape}")], &expected);
            }
        }
        if function.arity() > 1 {
            let mut dtypes = [DType::I8, DType::F16].into_iter();
            let own = dtypes.find(|&dtype| function.domain().admits(dtype));
            let own = own.expect("it takes one of them");
            let result = function.result(own);
            let pair = |lhs: &str, rhs: &str| [format!("{own}{lhs}"), format!("{own}{rhs}")];
            check(&["f32[2]", "f64[2]"], "E2004");
            check(&["i32[2]", "bool[2]"], "E2004");
            check(
                &pair("[2, 1]", "[3]").each_ref().map(String::as_str),
                &format!("{result}[2, 3]"),
            );
            check(&pair("[2]", "[3]").each_ref().map(String::as_str), "E3001");
        }
    }
    let cast = |to, expected: &str| case(Cast::DEF, "f16[2, B, ?]", Cast::attrs(to), expected);
    cases.extend([
        cast(DType::Bool, "bool[2, B, ?]"),
        cast(DType::F16, "f16[2, B, ?]"),
        cast(DType::U64, "u64[2, B, ?]"),
        case(Select::DEF, "i8[2]; f32[2]; f32[2]", vec![], "E2005"),
        case(Select::DEF, "bool[3]; f32[2]; f32[2]", vec![], "E3001"),
        case(
            Select::DEF,
            "bool[4, 1, 1]; f32[3, 1]; f32[2]",
            vec![],
            "f32[4, 3, 2]",
        ),
    ]);
    cases
}

/// Every pair of extents, in both orders.
pub fn broadcasts() -> Vec<Case> {
    let pairs = [
        ("f32[]; f32[2, 3]", "f32[2, 3]"),
        ("f32[8, 1, 6]; f32[7, 1]", "f32[8, 7, 6]"),
        ("f32[B]; f32[B]", "f32[B]"),
        ("f32[B]; f32[1]", "f32[B]"),
        ("f32[B]; f32[C]", "E3001"),
        ("f32[B]; f32[6]", "E3001"),
        ("f32[?]; f32[1]", "f32[?]"),
        ("f32[?]; f32[6]", "f32[6]"),
        ("f32[?]; f32[B]", "f32[?]"),
        ("f32[?]; f32[?]", "f32[?]"),
        ("f32[8, 6]; f32[8, 7]", "E3001"),
    ];
    let flipped = |text: &str| {
        text.split("; ")
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("; ")
    };
    let both = |(operands, expected): (&str, _)| {
        [
            case(Add::DEF, operands, vec![], expected),
            case(Add::DEF, &flipped(operands), vec![], expected),
        ]
    };
    pairs.into_iter().flat_map(both).collect()
}

/// Sum, mean and max.
pub fn reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    type Attrs = fn(&'static [i64], bool) -> Vec<Attr<'static>>;
    let ops: [(_, Attrs); 5] = [
        (Sum::DEF, Sum::attrs),
        (Mean::DEF, Mean::attrs),
        (Max::DEF, Max::attrs),
        (Min::DEF, Min::attrs),
        (Prod::DEF, Prod::attrs),
    ];
    for (def, attrs) in ops {
        let mut row = |axes, keepdims, operand: &str, expected| {
            cases.push(case(def, operand, attrs(axes, keepdims), expected));
        };
        row(&[1], false, "f32[3, 4, 5]", "f32[3, 5]");
        row(&[1], true, "f32[3, 4, 5]", "f32[3, 1, 5]");
        row(&[], false, "f32[3, 4, 5]", "f32[]");
        row(&[], true, "f32[3, 4, 5]", "f32[]");
        row(&[-1, 0], false, "u16[3, B, ?]", "u16[B]");
        row(&[2, 0], true, "i64[3, B, ?]", "i64[1, B, 1]");
        row(&[], false, "f32[]", "f32[]");
        row(&[0], false, "f32[]", "E3004");
        row(&[3], false, "f32[3, 4, 5]", "E3004");
        row(&[-4], false, "f32[3, 4, 5]", "E3004");
        row(&[1, 1], false, "f32[3, 4, 5]", "E3005");
        row(&[0, -3], false, "f32[3, 4, 5]", "E3005");
        row(&[1, 1, 9], false, "f32[3, 4, 5]", "E3004");
        let truths = if def.operands[0].class.admits(DType::Bool) {
            "bool[]"
        } else {
            "E2005"
        };
        row(&[0], false, "bool[3]", truths);
    }
    cases
}

/// Argmax and argmin.
pub fn places() -> Vec<Case> {
    let mut cases = Vec::new();
    type Attrs = fn(i64, bool, bool) -> Vec<Attr<'static>>;
    let ops: [(_, Attrs); 2] = [(ArgMax::DEF, ArgMax::attrs), (ArgMin::DEF, ArgMin::attrs)];
    for (def, attrs) in ops {
        let mut row = |axis, keepdims, operand: &str, expected| {
            cases.push(case(def, operand, attrs(axis, keepdims, false), expected));
        };
        row(1, false, "f32[3, 4, B]", "i64[3, B]");
        row(-1, true, "u8[3, ?]", "i64[3, 1]");
        row(0, false, "f32[?]", "i64[]");
        row(1, false, "f32[0, 2]", "i64[0]");
        row(0, false, "f32[0, 2]", "E3003");
        row(0, false, "f32[]", "E3004");
        row(2, false, "f32[3, 4]", "E3004");
        row(0, false, "bool[3]", "E2005");
    }
    cases
}

/// Bitcast.
pub fn bits() -> Vec<Case> {
    let to = |operand: &str, dtype, expected| {
        case(Bitcast::DEF, operand, Bitcast::attrs(dtype), expected)
    };
    const DEEP: &str = concat!(
        "f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ",
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"
    );
    vec![
        to("f32[2, B]", DType::I32, "i32[2, B]"),
        to("f32[?]", DType::U8, "u8[?, 4]"),
        to("bool[]", DType::I8, "i8[]"),
        to("bool[2]", DType::Bool, "bool[2]"),
        to("u8[B, 8]", DType::F64, "f64[B]"),
        to("f16[?]", DType::F32, "f32[]"),
        to("f16[0, 2]", DType::F32, "f32[0]"),
        to("u8[2]", DType::Bool, "E2005"),
        to("u8[]", DType::U16, "E3002"),
        to(DEEP, DType::U8, "E3002"),
        to("u8[3]", DType::U16, "E3003"),
        to("u8[B]", DType::U16, "E3003"),
    ]
}

/// Cumulative.
pub fn prefixes() -> Vec<Case> {
    let row = |operand: &str, axis, expected| {
        let attrs = Cumulative::attrs(axis, Accumulation::Sum, false, false);
        case(Cumulative::DEF, operand, attrs, expected)
    };
    vec![
        row("f32[3, B]", 0, "f32[3, B]"),
        row("u8[?]", -1, "u8[?]"),
        row("f32[0, 2]", 0, "f32[0, 2]"),
        row("f32[]", 0, "E3004"),
        row("f32[3, 4]", 2, "E3004"),
        row("bool[3]", 0, "E2005"),
    ]
}

/// Dot, and matmul of single matrices.
pub fn contractions() -> Vec<Case> {
    let dot = |operands: &str, expected| case(Dot::DEF, operands, vec![], expected);
    let matmul = |operands: &str, expected| case(MatMul::DEF, operands, vec![], expected);
    vec![
        dot("f32[4]; f32[4]", "f32[]"),
        dot("i8[2, 4]; i8[4]", "i8[2]"),
        dot("f32[4]; f32[4, 2]", "f32[2]"),
        dot("f32[B, 4]; f32[4, ?]", "f32[B, ?]"),
        dot("f32[B]; f32[?]", "f32[]"),
        dot("f32[4]; f64[4]", "E2004"),
        dot("bool[4]; bool[4]", "E2005"),
        dot("f32[]; f32[4]", "E3002"),
        dot("f32[4]; f32[2, 4, 4]", "E3002"),
        dot("f32[4]; f32[5]", "E3003"),
        dot("f32[B]; f32[1]", "E3003"),
        dot("f32[B]; f32[C]", "E3003"),
        matmul("f32[2, 3]; f32[3, 4]", "f32[2, 4]"),
        matmul("u8[B, ?]; u8[3, C]", "u8[B, C]"),
        matmul("f32[2, ?]; f32[?, 4]", "f32[2, 4]"),
        matmul("f32[2, B]; f32[B, 4]", "f32[2, 4]"),
        matmul("f32[2, 3]; f64[3, 4]", "E2004"),
        matmul("bool[2, 3]; bool[3, 4]", "E2005"),
        matmul("f32[3]; f32[3, 4]", "E3002"),
        matmul("f32[2, 3]; f32[3]", "E3002"),
        matmul("f32[2, 3]; f32[4, 2]", "E3003"),
        matmul("f32[2, B]; f32[C, 4]", "E3003"),
        matmul("f32[2, B]; f32[3, 4]", "E3003"),
        matmul("f32[2, 1]; f32[3, 4]", "E3003"),
    ]
}

/// Stacks of matrices.
pub fn batches() -> Vec<Case> {
    let matmul = |operands: &str, expected| case(MatMul::DEF, operands, vec![], expected);
    vec![
        matmul("f32[5, 2, 3]; f32[3, 4]", "f32[5, 2, 4]"),
        matmul("f32[7, 1, 2, 3]; f32[5, 3, 4]", "f32[7, 5, 2, 4]"),
        matmul("f32[B, 2, 3]; f32[1, 3, 4]", "f32[B, 2, 4]"),
        matmul("f32[B, 2, 3]; f32[B, 3, 4]", "f32[B, 2, 4]"),
        matmul("f32[?, 2, 3]; f32[5, 3, 4]", "f32[5, 2, 4]"),
        matmul("f32[?, 2, 3]; f32[B, 3, 4]", "f32[?, 2, 4]"),
        matmul("f32[5, 2, 3]; f32[6, 3, 4]", "E3001"),
        matmul("f32[B, 2, 3]; f32[C, 3, 4]", "E3001"),
        matmul("f32[B, 2, 3]; f32[6, 3, 4]", "E3001"),
    ]
}

/// Conv2d.
pub fn convolutions() -> Vec<Case> {
    let conv = |operands: &str, strides, padding, expected| {
        case(
            Conv2d::DEF,
            operands,
            Conv2d::attrs(strides, padding),
            expected,
        )
    };
    let (valid, same) = (Padding::Valid, Padding::Same);
    vec![
        conv(
            "f32[2, 5, 6, 3]; f32[3, 2, 3, 8]",
            &[1, 1],
            valid,
            "f32[2, 3, 5, 8]",
        ),
        conv(
            "i8[2, 5, 6, 3]; i8[3, 2, 3, 8]",
            &[2, 3],
            valid,
            "i8[2, 2, 2, 8]",
        ),
        conv(
            "f32[2, 5, 6, 3]; f32[3, 2, 3, 8]",
            &[1, 1],
            same,
            "f32[2, 5, 6, 8]",
        ),
        conv(
            "f32[2, 5, 6, 3]; f32[3, 2, 3, 8]",
            &[2, 4],
            same,
            "f32[2, 3, 2, 8]",
        ),
        conv(
            "f32[2, 5, 6, 3]; f32[3, 2, 3, 8]",
            &[1, 1],
            Padding::Custom(&[1, 2, 0, 3]),
            "f32[2, 6, 8, 8]",
        ),
        conv(
            "f32[B, 5, 5, 3]; f32[3, 3, 3, C]",
            &[1, 1],
            valid,
            "f32[B, 3, 3, C]",
        ),
        conv(
            "f32[1, B, 5, 3]; f32[3, 3, 3, 8]",
            &[1, 1],
            valid,
            "f32[1, ?, 3, 8]",
        ),
        conv(
            "f32[1, B, 5, 3]; f32[3, 3, 3, 8]",
            &[1, 1],
            same,
            "f32[1, B, 5, 8]",
        ),
        conv(
            "f32[1, B, 5, 3]; f32[3, 3, 3, 8]",
            &[2, 1],
            same,
            "f32[1, ?, 5, 8]",
        ),
        conv(
            "f32[1, 5, 5, ?]; f32[3, 3, 3, 8]",
            &[1, 1],
            valid,
            "f32[1, 3, 3, 8]",
        ),
        conv(
            "f32[1, 5, 5, B]; f32[3, 3, B, 8]",
            &[1, 1],
            valid,
            "f32[1, 3, 3, 8]",
        ),
        conv("f32[1, 5, 5, 3]; f64[3, 3, 3, 8]", &[1, 1], valid, "E2004"),
        conv(
            "bool[1, 5, 5, 3]; bool[3, 3, 3, 8]",
            &[1, 1],
            valid,
            "E2005",
        ),
        conv("f32[5, 5, 3]; f32[3, 3, 3, 8]", &[1, 1], valid, "E3002"),
        conv("f32[1, 5, 5, 3]; f32[3, 3, 8]", &[1, 1], valid, "E3002"),
        conv("f32[1, 1, 5, 3]; f32[3, 3, 3, 8]", &[1, 1], valid, "E3006"),
        conv(
            "f32[1, 2, 5, 3]; f32[3, 3, 3, 8]",
            &[1, 1],
            valid,
            "f32[1, 0, 3, 8]",
        ),
        conv(
            "f32[0, 5, 2, 0]; f32[3, 3, 0, 0]",
            &[1, 9],
            valid,
            "f32[0, 3, 0, 0]",
        ),
        conv(
            "f32[1, 5, 5, 3]; f32[3, 3, 3, 8]",
            &[1, 1],
            Padding::Custom(&[i64::MAX, 8, 0, 0]),
            "E3006",
        ),
        conv("f32[1, 5, 5, 3]; f32[3, 3, 4, 8]", &[1, 1], valid, "E4009"),
        conv("f32[1, 5, 5, B]; f32[3, 3, C, 8]", &[1, 1], valid, "E4009"),
        conv("f32[1, 5, 5, B]; f32[3, 3, 1, 8]", &[1, 1], valid, "E4009"),
        conv("f32[1, 5, 5, 3]; f32[3, 3, 3, 8]", &[1], valid, "E4010"),
        conv("f32[1, 5, 5, 3]; f32[3, 3, 3, 8]", &[1, 0], valid, "E4010"),
        conv("f32[1, 5, 5, 3]; f32[3, 3, 3, 8]", &[-1, 1], valid, "E4010"),
        conv(
            "f32[1, 5, 5, 3]; f32[3, 3, 3, 8]",
            &[1, 1],
            Padding::Custom(&[0, -1, 0, 0]),
            "E4010",
        ),
    ]
}

/// Softmax and layer normalisation.
pub fn normalisations() -> Vec<Case> {
    let softmax =
        |operand: &str, axis, expected| case(Softmax::DEF, operand, Softmax::attrs(axis), expected);
    let layernorm = |operand: &str, expected| case(LayerNorm::DEF, operand, vec![], expected);
    vec![
        softmax("f16[2, B]", -1, "f16[2, B]"),
        softmax("f32[2, ?]", 0, "f32[2, ?]"),
        softmax("i32[2]", -1, "E2005"),
        softmax("bool[2]", -1, "E2005"),
        softmax("f32[2]", 1, "E3004"),
        softmax("f32[2]", -2, "E3004"),
        softmax("f32[]", -1, "E3004"),
        layernorm("bf16[2, B]", "bf16[2, B]"),
        layernorm("i32[2]", "E2005"),
        layernorm("f32[]", "E3002"),
    ]
}
