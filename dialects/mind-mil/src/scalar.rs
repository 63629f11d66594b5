//! MIL ops of the scalar functions.

use mind_ir::scalar::ScalarFn;

use crate::ops::{activation, binary, unary};
use crate::row::MilOp;

/// The ops that apply a scalar function to the argument `x`, or to `x` and `y`, and take no other argument.
/// Evaluation, import and lowering read this table.
static ROWS: &[(ScalarFn, &MilOp)] = &[
    (ScalarFn::Add, &binary::ADD),
    (ScalarFn::Sub, &binary::SUB),
    (ScalarFn::Mul, &binary::MUL),
    (ScalarFn::Div, &binary::REAL_DIV),
    (ScalarFn::Mod, &binary::MOD),
    (ScalarFn::Maximum, &binary::MAXIMUM),
    (ScalarFn::Minimum, &binary::MINIMUM),
    (ScalarFn::Abs, &unary::ABS),
    (ScalarFn::Relu, &activation::RELU),
    (ScalarFn::Exp, &unary::EXP),
    (ScalarFn::Sqrt, &unary::SQRT),
    (ScalarFn::Erf, &unary::ERF),
    (ScalarFn::Tanh, &unary::TANH),
    (ScalarFn::Sigmoid, &activation::SIGMOID),
    (ScalarFn::Sign, &unary::SIGN),
    (ScalarFn::Floor, &unary::FLOOR),
    (ScalarFn::Ceil, &unary::CEIL),
    (ScalarFn::Round, &unary::ROUND),
    (ScalarFn::Exp2, &unary::EXP2),
    (ScalarFn::Sinh, &unary::SINH),
    (ScalarFn::Cosh, &unary::COSH),
    (ScalarFn::Sin, &unary::SIN),
    (ScalarFn::Cos, &unary::COS),
    (ScalarFn::Tan, &unary::TAN),
    (ScalarFn::Asin, &unary::ASIN),
    (ScalarFn::Acos, &unary::ACOS),
    (ScalarFn::Atan, &unary::ATAN),
    (ScalarFn::Atanh, &unary::ATANH),
    (ScalarFn::Equal, &binary::EQUAL),
    (ScalarFn::NotEqual, &binary::NOT_EQUAL),
    (ScalarFn::Less, &binary::LESS),
    (ScalarFn::LessEqual, &binary::LESS_EQUAL),
    (ScalarFn::Greater, &binary::GREATER),
    (ScalarFn::GreaterEqual, &binary::GREATER_EQUAL),
    (ScalarFn::And, &binary::LOGICAL_AND),
    (ScalarFn::Or, &binary::LOGICAL_OR),
    (ScalarFn::Xor, &binary::LOGICAL_XOR),
    (ScalarFn::Not, &unary::LOGICAL_NOT),
];

/// Returns the op that applies `function`; `None` if it has a separate lowering.
pub fn op_of(function: ScalarFn) -> Option<&'static MilOp> {
    let mut rows = ROWS.iter();
    rows.find(|(own, _)| *own == function).map(|&(_, row)| row)
}

/// Returns the function that the op with this name applies.
pub fn function_of(name: &str) -> Option<ScalarFn> {
    let mut rows = ROWS.iter();
    rows.find(|(_, row)| row.name == name)
        .map(|&(function, _)| function)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions without a row, with the reason.
    const EXCUSED: &[(ScalarFn, &str)] = &[
        (ScalarFn::Neg, "MIL has no negation: it is `mul` by -1"),
        (
            ScalarFn::Log,
            "`log` takes an epsilon, which is not 0 by default",
        ),
        (ScalarFn::Gelu, "`gelu` takes a mode"),
        (
            ScalarFn::Pow,
            "`pow` with a known exponent is imported as products and roots",
        ),
        (
            ScalarFn::Remainder,
            "MIL has no remainder that truncates: it is the sign times the `mod` of the magnitudes",
        ),
        (ScalarFn::Atan2, "MIL has no angle of a point"),
        (ScalarFn::Fma, "MIL rounds a product before it adds"),
        (
            ScalarFn::Trunc,
            "MIL has no such rounding: it is the sign times the `floor` of the magnitude",
        ),
        (
            ScalarFn::Rsqrt,
            "`rsqrt` takes an epsilon, which is not 0 by default",
        ),
        (ScalarFn::Expm1, "MIL has no `e^x - 1`: it is `exp` less 1"),
        (
            ScalarFn::Log2,
            "MIL has no such logarithm: it is `log` times a number",
        ),
        (
            ScalarFn::Log1p,
            "MIL has no `ln(1 + x)`: it is `log` with an epsilon of 1",
        ),
        (ScalarFn::Asinh, "MIL has no inverse of `sinh`"),
        (ScalarFn::Acosh, "MIL has no inverse of `cosh`"),
        (ScalarFn::Select, "`select` names its arguments otherwise"),
        (ScalarFn::ShiftLeft, "MIL has no shifts"),
        (ScalarFn::ShiftRight, "MIL has no shifts"),
    ];

    #[test]
    fn every_scalar_function_has_an_op_or_a_reason() {
        for &function in ScalarFn::ALL {
            let mut excused = EXCUSED.iter();
            let reason = excused.find(|(own, _)| *own == function);
            let is_excused = reason.is_some_and(|(_, reason)| !reason.is_empty());
            assert_ne!(op_of(function).is_some(), is_excused, "{function:?}");
        }
        for (function, row) in ROWS {
            let params = &["x", "y"][..function.arity()];
            assert_eq!(row.params.as_slice(), params, "{function:?}");
            assert_eq!(function_of(row.name), Some(*function));
        }
    }
}
