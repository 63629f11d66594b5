//! Rules of inputs and constants, and rules that hold for every op.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::{constant::*, elementwise::*, index::*, input::*, reduce::*};
use mind_ir::attr::Literal;
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::{DType, QuantFormat};

use super::{Case, case};
use crate::module::examples;

/// Inputs and constants.
pub fn inputs_and_constants() -> Vec<Case> {
    static SIX: Literal<'_> = Literal {
        dtype: DType::I8,
        count: Some(6),
        bytes: &[0; 6],
    };
    static SPLAT: Literal<'_> = Literal {
        dtype: DType::I8,
        count: None,
        bytes: &[0],
    };
    let input = |ty| {
        case(
            Input::DEF,
            "",
            Input::attrs(mind_ir::Sym::new(0), false, None),
            ty,
        )
    };
    let stored = |param, code, expected| {
        let attrs = Input::attrs(mind_ir::Sym::new(0), param, code);
        case(Input::DEF, "", attrs, expected)
    };
    let (q4_0, q6_k) = (Some(QuantFormat::Q4_0), Some(QuantFormat::Q6K));
    let listed = |expected| case(ConstTensor::DEF, "", ConstTensor::attrs(&SIX), expected);
    let splat = |expected| case(ConstTensor::DEF, "", ConstTensor::attrs(&SPLAT), expected);
    vec![
        input("f32[2, B, ?]").declared("f32[2, B, ?]"),
        input("bool[]").declared("bool[]"),
        input("E4004"),
        input("f32[2, 0]").declared("f32[2, 0]"),
        input("E3006").declared("f32[-1]"),
        stored(true, q4_0, "f32[2, 64]").declared("f32[2, 64]"),
        stored(false, q4_0, "E4022").declared("f32[2, 64]"),
        stored(true, q4_0, "E4022").declared("f16[2, 64]"),
        stored(true, q4_0, "E4022").declared("f32[2, 33]"),
        stored(true, q6_k, "E4022").declared("f32[2, 64]"),
        listed("i8[2, 3]").declared("i8[2, 3]"),
        listed("E4005").declared("i8[2, 2]"),
        listed("E4005").declared("u8[2, 3]"),
        listed("E4005").declared("i8[B, 3]"),
        listed("E4004"),
        splat("i8[B, 3]").declared("i8[B, 3]"),
        splat("i8[]").declared("i8[]"),
        splat("E4005").declared("i8[?]"),
        splat("E4005").declared("i16[2]"),
        splat("i8[2, 0]").declared("i8[2, 0]"),
        splat("E3006").declared("i8[-2]"),
        case(
            ConstF32::DEF,
            "",
            ConstF32::attrs(f64::from(f32::MAX)),
            "f32[]",
        ),
        case(ConstF32::DEF, "", ConstF32::attrs(f64::NAN), "f32[]"),
        case(
            ConstF32::DEF,
            "",
            ConstF32::attrs(f64::NEG_INFINITY),
            "f32[]",
        ),
        case(ConstF32::DEF, "", ConstF32::attrs(1e39), "E4005"),
        case(ConstF64::DEF, "", ConstF64::attrs(1e39), "f64[]"),
    ]
}

/// Every op with one operand too many and, if it takes any, without operands.
pub fn arities() -> Vec<Case> {
    let wrong = examples().into_iter().flat_map(|example| {
        let counts = [0, example.def.operands.len() + 1];
        let wrong = counts
            .into_iter()
            .filter(|&count| !example.def.admits_operands(count));
        wrong.collect::<Vec<_>>().into_iter().map(move |count| {
            let operands = vec!["f32[2, 3]"; count].join("; ");
            case(example.def, &operands, example.attrs.clone(), "E2007")
        })
    });
    wrong.collect()
}

/// Ops that profile `core-v1` accepts and rejects.
pub fn profiles() -> Vec<Case> {
    let input = |ty| {
        case(
            Input::DEF,
            "",
            Input::attrs(mind_ir::Sym::new(0), false, None),
            ty,
        )
    };
    let gather = |axis, bounds, expected| {
        case(
            Gather::DEF,
            "f32[5, 3]; i32[4]",
            Gather::attrs(axis, bounds),
            expected,
        )
    };
    let mut cases = vec![
        input("f32[2, 3]").declared("f32[2, 3]").core_v1(),
        input("bool[2]").declared("bool[2]").core_v1(),
        input("E4004").declared("f16[2]").core_v1(),
        input("E4004").declared("f32[B]").core_v1(),
        input("E4004").declared("f32[?]").core_v1(),
        gather(0, Bounds::Strict, "f32[4, 3]").core_v1(),
        gather(1, Bounds::Strict, "E4012").core_v1(),
        gather(-2, Bounds::Strict, "E4012").core_v1(),
        gather(0, Bounds::FromEnd, "E4012").core_v1(),
        gather(0, Bounds::FromEnd, "f32[4, 3]"),
        case(Relu::DEF, "f32[2]", vec![], "f32[2]").core_v1(),
        case(Relu::DEF, "i32[2]", vec![], "E4012").core_v1(),
        case(Relu::DEF, "i32[2]", vec![], "i32[2]"),
    ];
    for example in examples()
        .into_iter()
        .filter(|example| !example.def.has(Trait::DeclaresType))
    {
        // Operands of types outside of the profile are separate errors.
        if example.operands.iter().any(|ty| ty.starts_with("u8")) {
            continue;
        }
        let expected = if example.def.has(Trait::Extended) {
            "E4012"
        } else {
            example.result
        };
        cases.push(
            case(
                example.def,
                &example.operands.join("; "),
                example.attrs,
                expected,
            )
            .core_v1(),
        );
    }
    cases
}

/// Declared types that agree or disagree with inferred ones.
pub fn declarations() -> Vec<Case> {
    let sum = |expected| case(Sum::DEF, "f32[2, B, ?]", Sum::attrs(&[0], false), expected);
    vec![
        sum("f32[B, ?]").declared("f32[B, ?]"),
        sum("f32[B, 7]").declared("f32[?, 7]"),
        sum("E2001").declared("f64[B, ?]"),
        sum("E2001").declared("f32[B]"),
        sum("E2001").declared("f32[C, ?]"),
        sum("E2001").declared("f32[3, ?]"),
    ]
}
