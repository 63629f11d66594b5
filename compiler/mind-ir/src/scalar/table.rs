//! The table of scalar functions.

use super::bits::{Bits, Int};
use super::eval::{
    choose, compare, divide, map, map_float, map_wrapping, modulo, one, power, remainder, three,
    try_zip, two, undefined, zip, zip_float, zip_wrapping, zip3,
};
use super::facts::Facts;
use super::math;
use crate::eval::{EvalCx, EvalError};
use crate::opdef::OperandClass;
use crate::tensor::{Num, Tensor};
use crate::types::DType;
use crate::{with_bits, with_float, with_int, with_num};

/// The facts about the operands of a scalar function.
#[derive(Clone, Copy)]
struct Known {
    x: Facts,
    /// Empty without a second operand.
    y: Facts,
    /// Empty without a third operand.
    z: Facts,
    same: bool,
}

impl Known {
    fn both(self, facts: Facts) -> bool {
        self.x.has(facts) && self.y.has(facts)
    }

    fn either(self, facts: Facts) -> bool {
        self.x.has(facts) || self.y.has(facts)
    }

    /// Returns those of `facts` that hold for `x`.
    fn inherited(self, facts: Facts) -> Facts {
        self.x.intersection(facts)
    }
}

macro_rules! scalar_fns {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            arity: $arity:literal,
            domain: $domain:ident,
            $(result: $result:ident,)?
            cost: $cost:literal,
            rounds: $rounds:literal,
            total: $total:literal,
            $(eval: $form:ident($($eval:tt)*),)?
            $(steps: $module:ident($f32:ident, $f64:ident),)?
            $(steps_of_two: $pair:ident,)?
            facts: $facts:expr,
        }
    )*) => {
        /// A function of one to three scalars of the same dtype. The result has that dtype or is `bool`. The first
        /// operand of [`Select`](ScalarFn::Select) is `bool`; its dtype is that of the other operands.
        ///
        /// Floats follow IEEE 754; `f16` and `bf16` compute in `f32` and round once. Integers wrap. docs/numerics.md
        /// specifies each function exactly.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ScalarFn {
            $($(#[$doc])* $name,)*
        }

        impl ScalarFn {
            /// All functions, in the order of the table.
            pub const ALL: &'static [ScalarFn] = &[$(ScalarFn::$name),*];

            /// Returns the number of operands.
            pub const fn arity(self) -> usize {
                match self { $(ScalarFn::$name => $arity,)* }
            }

            /// Returns the dtypes that the function is defined on.
            pub const fn domain(self) -> OperandClass {
                match self { $(ScalarFn::$name => OperandClass::$domain,)* }
            }

            /// Returns the dtype of the result on operands of `dtype`.
            pub const fn result(self, dtype: DType) -> DType {
                match self { $(ScalarFn::$name => scalar_fns!(@result dtype $($result)?),)* }
            }

            /// Returns the cost on `f32` vectors, in additions. For a function made of [`Steps`](math::Steps) it is at
            /// least the number of vector operations, except for those that only few elements need.
            pub const fn cost(self) -> usize {
                match self { $(ScalarFn::$name => $cost,)* }
            }

            /// Returns whether a float result may be rounded. If not, it is an operand, a negated operand, an operand
            /// rounded to an integer, 1, a zero or a NaN.
            pub const fn rounds(self) -> bool {
                match self { $(ScalarFn::$name => $rounds,)* }
            }

            /// Returns whether the function is total. A partial function fails only for some integers.
            pub const fn is_total(self) -> bool {
                match self { $(ScalarFn::$name => $total,)* }
            }

            /// Returns the facts about the result that follow from the facts about the operands. They hold only for
            /// floats, because integers wrap. `same` tells that two operands are the same value.
            pub fn facts(self, operands: &[Facts], same: bool) -> Facts {
                let facts: fn(Known) -> Facts = match self { $(ScalarFn::$name => $facts,)* };
                facts(Known {
                    x: operands.first().copied().unwrap_or_default(),
                    y: operands.get(1).copied().unwrap_or_default(),
                    z: operands.get(2).copied().unwrap_or_default(),
                    same,
                })
            }

            /// Emits the [`Steps`](math::Steps) of the function on floats; returns `None` if it is not made of steps.
            ///
            /// # Panics
            ///
            /// If there are too few operands.
            #[inline]
            pub fn steps<S: math::Steps>(self, s: &mut S, operands: &[S::Value]) -> Option<S::Value> {
                match self {
                    $(ScalarFn::$name => scalar_fns!(@steps s, operands $(, one $module)? $(, two $pair)?),)*
                }
            }

            /// Applies the function at every position of the broadcast shape of `operands`.
            ///
            /// # Errors
            ///
            /// If the shapes do not broadcast, the result is too large, an integer division is undefined, or an integer
            /// overflows and the context refuses that.
            ///
            /// # Panics
            ///
            /// If the function is not defined on the dtype of the operands, or their number is wrong.
            pub fn eval(self, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
                let dtype = operands[operands.len() - 1].dtype();
                match self {
                    $(ScalarFn::$name => scalar_fns!(
                        @eval cx, dtype, operands, $($form($($eval)*))? $(float(math::$f32, math::$f64))?
                    ),)*
                }
            }
        }
    };
    (@result $dtype:ident) => { $dtype };
    (@result $dtype:ident $result:ident) => { DType::$result };
    (@steps $s:ident, $operands:ident) => { None };
    (@steps $s:ident, $operands:ident, one $module:ident) => {
        Some(math::$module::$module($s, $operands[0]))
    };
    (@steps $s:ident, $operands:ident, two $module:ident) => {
        Some(math::$module::$module($s, $operands[0], $operands[1]))
    };
    // A unary function that wraps on integers, and the exact function.
    (@eval $cx:ident, $dtype:ident, $operands:ident, wrapping1($f:ident, $exact:ident)) => {
        with_num!($dtype, T => map_wrapping::<T>($cx, one($operands), Num::$f, i128::$exact), else undefined($dtype))
    };
    (@eval $cx:ident, $dtype:ident, $operands:ident, wrapping2($f:ident, $exact:ident)) => {
        with_num!($dtype, T => zip_wrapping::<T>($cx, two($operands), Num::$f, i128::$exact), else undefined($dtype))
    };
    // A function whose result is always representable.
    (@eval $cx:ident, $dtype:ident, $operands:ident, exact1($f:ident)) => {
        with_num!($dtype, T => map($cx, one($operands), <T as Num>::$f as fn(T) -> T), else undefined($dtype))
    };
    (@eval $cx:ident, $dtype:ident, $operands:ident, exact2($f:ident)) => {
        with_num!($dtype, T => zip($cx, two($operands), <T as Num>::$f as fn(T, T) -> T), else undefined($dtype))
    };
    // A function that returns an error if it is undefined.
    (@eval $cx:ident, $dtype:ident, $operands:ident, partial2($f:ident)) => {
        with_num!($dtype, T => try_zip::<T>($cx, two($operands), &$f), else undefined($dtype))
    };
    // A comparison.
    (@eval $cx:ident, $dtype:ident, $operands:ident, compare($f:path)) => {
        with_num!($dtype, T => compare::<T>($cx, two($operands), $f), else compare::<bool>($cx, two($operands), $f))
    };
    // The selection between two values.
    (@eval $cx:ident, $dtype:ident, $operands:ident, choice()) => {
        with_num!($dtype, T => choose::<T>($cx, $operands), else choose::<bool>($cx, $operands))
    };
    // A bitwise function.
    (@eval $cx:ident, $dtype:ident, $operands:ident, bits1($f:ident)) => {
        with_bits!($dtype, T => map($cx, one($operands), <T as Bits>::$f as fn(T) -> T), else undefined($dtype))
    };
    (@eval $cx:ident, $dtype:ident, $operands:ident, bits2($f:ident)) => {
        with_bits!($dtype, T => zip($cx, two($operands), <T as Bits>::$f as fn(T, T) -> T), else undefined($dtype))
    };
    // A function of integers.
    (@eval $cx:ident, $dtype:ident, $operands:ident, integers2($f:ident)) => {
        with_int!($dtype, T => zip($cx, two($operands), <T as Int>::$f as fn(T, T) -> T), else undefined($dtype))
    };
    // The power, which wraps on integers and is undefined for some.
    (@eval $cx:ident, $dtype:ident, $operands:ident, powers()) => {
        with_num!($dtype, T => try_zip::<T>($cx, two($operands), &|x, y| power($cx, x, y)), else undefined($dtype))
    };
    // A function of three floats.
    (@eval $cx:ident, $dtype:ident, $operands:ident, rounded3($f:ident)) => {
        with_float!($dtype, T => zip3::<T>($cx, three($operands), Num::$f), else undefined($dtype))
    };
    // A unary or binary function of floats, given for `f32` and for `f64`.
    (@eval $cx:ident, $dtype:ident, $operands:ident, float($f32:expr, $f64:expr)) => {
        map_float($cx, one($operands), $f32, $f64)
    };
    (@eval $cx:ident, $dtype:ident, $operands:ident, float2($f32:expr, $f64:expr)) => {
        zip_float($cx, two($operands), $f32, $f64)
    };
}

/// The facts about booleans and integers.
const DISCRETE: Facts = NUMBER.union(Facts::NO_NEG_ZERO);
const POSITIVE: Facts = Facts::NONNEG.union(Facts::NO_NEG_ZERO);
const NUMBER: Facts = Facts::NEVER_NAN.union(Facts::FINITE);

scalar_fns! {
    /// x + y.
    Add {
        arity: 2, domain: Num, cost: 1, rounds: true, total: true,
        eval: wrapping2(add, checked_add),
        facts: |k| Facts::NO_NEG_ZERO
            .when(k.either(Facts::NO_NEG_ZERO))
            .union(Facts::NONNEG.when(k.both(Facts::NONNEG)))
            .union(Facts::NEVER_NAN
                .when(k.both(Facts::FINITE) || k.both(Facts::NONNEG.union(Facts::NEVER_NAN)))),
    }
    /// x - y.
    Sub {
        arity: 2, domain: Num, cost: 1, rounds: true, total: true,
        eval: wrapping2(sub, checked_sub),
        facts: |k| Facts::NEVER_NAN.when(k.both(Facts::FINITE)),
    }
    /// x * y.
    Mul {
        arity: 2, domain: Num, cost: 1, rounds: true, total: true,
        eval: wrapping2(mul, checked_mul),
        facts: |k| POSITIVE
            .when(k.same || k.both(POSITIVE))
            .union(Facts::NEVER_NAN.when(k.both(Facts::FINITE)))
            .union(k.inherited(Facts::NEVER_NAN).when(k.same)),
    }
    /// x / y; integers truncate toward zero.
    Div {
        arity: 2, domain: Num, cost: 10, rounds: true, total: false,
        eval: partial2(divide),
        facts: |_| Facts::NONE,
    }
    /// The larger; NaN if either is NaN. +0 is larger than -0.
    Maximum {
        arity: 2, domain: Num, cost: 4, rounds: false, total: true,
        eval: exact2(maximum),
        facts: |k| Facts::NONNEG
            .when(k.either(Facts::NONNEG))
            .union(Facts::NO_NEG_ZERO.when(k.either(POSITIVE) || k.both(Facts::NO_NEG_ZERO)))
            .union(k.x.intersection(k.y).intersection(NUMBER)),
    }
    /// The smaller; NaN if either is NaN. -0 is smaller than +0.
    Minimum {
        arity: 2, domain: Num, cost: 4, rounds: false, total: true,
        eval: exact2(minimum),
        facts: |k| k.x.intersection(k.y),
    }
    /// -x.
    Neg {
        arity: 1, domain: Signed, cost: 1, rounds: false, total: true,
        eval: wrapping1(neg, checked_neg),
        facts: |k| k.inherited(NUMBER),
    }
    /// |x|.
    Abs {
        arity: 1, domain: Num, cost: 1, rounds: false, total: true,
        eval: wrapping1(abs, checked_abs),
        facts: |k| POSITIVE.union(k.inherited(NUMBER)),
    }
    /// x > 0 ? x : 0, so NaN gives 0.
    Relu {
        arity: 1, domain: Num, cost: 1, rounds: false, total: true,
        eval: exact1(relu),
        facts: |k| POSITIVE.union(Facts::NEVER_NAN).union(k.inherited(Facts::FINITE)),
    }
    /// e^x.
    Exp {
        arity: 1, domain: Float, cost: 16, rounds: true, total: true,
        steps: exp(exp_f32, exp_f64),
        facts: |k| POSITIVE.union(k.inherited(Facts::NEVER_NAN)),
    }
    /// ln x.
    Log {
        arity: 1, domain: Float, cost: 24, rounds: true, total: true,
        steps: log(log_f32, log_f64),
        facts: |_| Facts::NONE,
    }
    /// The square root, correctly rounded.
    Sqrt {
        arity: 1, domain: Float, cost: 10, rounds: true, total: true,
        eval: float(f32::sqrt, f64::sqrt),
        facts: |k| Facts::NONNEG
            .union(k.inherited(Facts::NO_NEG_ZERO))
            .union(k.inherited(NUMBER).when(k.x.has(Facts::NONNEG))),
    }
    /// The error function.
    Erf {
        arity: 1, domain: Float, cost: 40, rounds: true, total: true,
        steps: erf(erf_f32, erf_f64),
        facts: |k| NUMBER.when(k.x.has(Facts::NEVER_NAN)),
    }
    /// The hyperbolic tangent.
    Tanh {
        arity: 1, domain: Float, cost: 24, rounds: true, total: true,
        steps: tanh(tanh_f32, tanh_f64),
        facts: |k| NUMBER.when(k.x.has(Facts::NEVER_NAN)),
    }
    /// 1 / (1 + e^-x).
    Sigmoid {
        arity: 1, domain: Float, cost: 24, rounds: true, total: true,
        steps: sigmoid(sigmoid_f32, sigmoid_f64),
        facts: |k| POSITIVE.union(NUMBER.when(k.x.has(Facts::NEVER_NAN))),
    }
    /// x (1 + erf(x / sqrt 2)) / 2.
    Gelu {
        arity: 1, domain: Float, cost: 40, rounds: true, total: true,
        steps: gelu(gelu_f32, gelu_f64),
        facts: |_| Facts::NONE,
    }
    /// x = y; -0 equals +0, and NaN is not equal to anything.
    Equal {
        arity: 2, domain: Any, result: Bool, cost: 1, rounds: false, total: true,
        eval: compare(PartialEq::eq),
        facts: |_| POSITIVE.union(DISCRETE),
    }
    /// x ≠ y; true if either is NaN.
    NotEqual {
        arity: 2, domain: Any, result: Bool, cost: 1, rounds: false, total: true,
        eval: compare(PartialEq::ne),
        facts: |_| POSITIVE.union(DISCRETE),
    }
    /// x < y.
    Less {
        arity: 2, domain: Any, result: Bool, cost: 1, rounds: false, total: true,
        eval: compare(PartialOrd::lt),
        facts: |_| POSITIVE.union(DISCRETE),
    }
    /// x ≤ y.
    LessEqual {
        arity: 2, domain: Any, result: Bool, cost: 1, rounds: false, total: true,
        eval: compare(PartialOrd::le),
        facts: |_| POSITIVE.union(DISCRETE),
    }
    /// x > y.
    Greater {
        arity: 2, domain: Any, result: Bool, cost: 1, rounds: false, total: true,
        eval: compare(PartialOrd::gt),
        facts: |_| POSITIVE.union(DISCRETE),
    }
    /// x ≥ y.
    GreaterEqual {
        arity: 2, domain: Any, result: Bool, cost: 1, rounds: false, total: true,
        eval: compare(PartialOrd::ge),
        facts: |_| POSITIVE.union(DISCRETE),
    }
    /// y if x, else z.
    Select {
        arity: 3, domain: Any, cost: 1, rounds: false, total: true,
        eval: choice(),
        facts: |k| k.y.intersection(k.z),
    }
    /// Bitwise and; logical and of booleans.
    And {
        arity: 2, domain: Bits, cost: 1, rounds: false, total: true,
        eval: bits2(and),
        facts: |_| DISCRETE,
    }
    /// Bitwise or; logical or of booleans.
    Or {
        arity: 2, domain: Bits, cost: 1, rounds: false, total: true,
        eval: bits2(or),
        facts: |_| DISCRETE,
    }
    /// Bitwise exclusive or; logical exclusive or of booleans.
    Xor {
        arity: 2, domain: Bits, cost: 1, rounds: false, total: true,
        eval: bits2(xor),
        facts: |_| DISCRETE,
    }
    /// Bitwise complement; logical negation of a boolean.
    Not {
        arity: 1, domain: Bits, cost: 1, rounds: false, total: true,
        eval: bits1(not),
        facts: |_| DISCRETE,
    }
    /// x · 2^y modulo 2^width; 0 unless y is in 0..width.
    ShiftLeft {
        arity: 2, domain: Integer, cost: 24, rounds: false, total: true,
        eval: integers2(shift_left),
        facts: |_| DISCRETE,
    }
    /// ⌊x / 2^y⌋; if y is not in 0..width, 0, or -1 if x is negative.
    ShiftRight {
        arity: 2, domain: Integer, cost: 24, rounds: false, total: true,
        eval: integers2(shift_right),
        facts: |_| DISCRETE,
    }
    /// 2^x.
    Exp2 {
        arity: 1, domain: Float, cost: 18, rounds: true, total: true,
        steps: exp2(exp2_f32, exp2_f64),
        facts: |k| POSITIVE.union(k.inherited(Facts::NEVER_NAN)),
    }
    /// e^x - 1.
    Expm1 {
        arity: 1, domain: Float, cost: 28, rounds: true, total: true,
        steps: expm1(expm1_f32, expm1_f64),
        facts: |k| k.inherited(Facts::NEVER_NAN.union(Facts::NONNEG).union(Facts::NO_NEG_ZERO)),
    }
    /// log2 x.
    Log2 {
        arity: 1, domain: Float, cost: 35, rounds: true, total: true,
        steps: log2(log2_f32, log2_f64),
        facts: |_| Facts::NONE,
    }
    /// ln(1 + x).
    Log1p {
        arity: 1, domain: Float, cost: 47, rounds: true, total: true,
        steps: log1p(log1p_f32, log1p_f64),
        facts: |k| k.inherited(Facts::NONNEG.union(Facts::NO_NEG_ZERO)).union(k.inherited(NUMBER).when(k.x.has(Facts::NONNEG))),
    }
    /// The hyperbolic sine.
    Sinh {
        arity: 1, domain: Float, cost: 62, rounds: true, total: true,
        steps: sinh(sinh_f32, sinh_f64),
        facts: |k| k.inherited(Facts::NEVER_NAN.union(Facts::NONNEG).union(Facts::NO_NEG_ZERO)),
    }
    /// The hyperbolic cosine.
    Cosh {
        arity: 1, domain: Float, cost: 55, rounds: true, total: true,
        steps: cosh(cosh_f32, cosh_f64),
        facts: |k| POSITIVE.union(k.inherited(Facts::NEVER_NAN)),
    }
    /// The sine.
    Sin {
        arity: 1, domain: Float, cost: 51, rounds: true, total: true,
        steps: sin(sin_f32, sin_f64),
        facts: |k| k.inherited(Facts::NO_NEG_ZERO).union(NUMBER.when(k.x.has(Facts::FINITE))),
    }
    /// The cosine.
    Cos {
        arity: 1, domain: Float, cost: 51, rounds: true, total: true,
        steps: cos(cos_f32, cos_f64),
        facts: |k| Facts::NO_NEG_ZERO.union(NUMBER.when(k.x.has(Facts::FINITE))),
    }
    /// The tangent.
    Tan {
        arity: 1, domain: Float, cost: 74, rounds: true, total: true,
        steps: tan(tan_f32, tan_f64),
        facts: |k| k.inherited(Facts::NO_NEG_ZERO).union(Facts::NEVER_NAN.when(k.x.has(Facts::FINITE))),
    }
    /// The arc sine.
    Asin {
        arity: 1, domain: Float, cost: 32, rounds: true, total: true,
        steps: asin(asin_f32, asin_f64),
        facts: |k| k.inherited(Facts::NONNEG.union(Facts::NO_NEG_ZERO)),
    }
    /// The arc cosine.
    Acos {
        arity: 1, domain: Float, cost: 35, rounds: true, total: true,
        steps: acos(acos_f32, acos_f64),
        facts: |_| POSITIVE,
    }
    /// The arc tangent.
    Atan {
        arity: 1, domain: Float, cost: 42, rounds: true, total: true,
        steps: atan(atan_f32, atan_f64),
        facts: |k| k.inherited(Facts::NONNEG.union(Facts::NO_NEG_ZERO)).union(NUMBER.when(k.x.has(Facts::NEVER_NAN))),
    }
    /// The inverse hyperbolic sine.
    Asinh {
        arity: 1, domain: Float, cost: 86, rounds: true, total: true,
        steps: asinh(asinh_f32, asinh_f64),
        facts: |k| k.inherited(NUMBER.union(Facts::NONNEG).union(Facts::NO_NEG_ZERO)),
    }
    /// The inverse hyperbolic cosine.
    Acosh {
        arity: 1, domain: Float, cost: 76, rounds: true, total: true,
        steps: acosh(acosh_f32, acosh_f64),
        facts: |_| POSITIVE,
    }
    /// The inverse hyperbolic tangent.
    Atanh {
        arity: 1, domain: Float, cost: 66, rounds: true, total: true,
        steps: atanh(atanh_f32, atanh_f64),
        facts: |k| k.inherited(Facts::NONNEG.union(Facts::NO_NEG_ZERO)),
    }
    /// -1 below zero, 1 above; zeros and NaN are unchanged.
    Sign {
        arity: 1, domain: Num, cost: 4, rounds: false, total: true,
        eval: exact1(sign),
        facts: |k| k.inherited(Facts::NEVER_NAN.union(Facts::NONNEG).union(Facts::NO_NEG_ZERO)).union(Facts::FINITE.when(k.x.has(Facts::NEVER_NAN))),
    }
    /// x rounded down to an integer.
    Floor {
        arity: 1, domain: Float, cost: 1, rounds: false, total: true,
        eval: float(f32::floor, f64::floor),
        facts: |k| k.inherited(NUMBER.union(Facts::NONNEG).union(Facts::NO_NEG_ZERO)),
    }
    /// x rounded up to an integer.
    Ceil {
        arity: 1, domain: Float, cost: 1, rounds: false, total: true,
        eval: float(f32::ceil, f64::ceil),
        facts: |k| k.inherited(NUMBER.union(Facts::NONNEG)).union(k.inherited(Facts::NO_NEG_ZERO).when(k.x.has(Facts::NONNEG))),
    }
    /// x rounded toward zero to an integer.
    Trunc {
        arity: 1, domain: Float, cost: 1, rounds: false, total: true,
        eval: float(f32::trunc, f64::trunc),
        facts: |k| k.inherited(NUMBER.union(Facts::NONNEG)).union(k.inherited(Facts::NO_NEG_ZERO).when(k.x.has(Facts::NONNEG))),
    }
    /// x rounded to the nearest integer, ties to even.
    Round {
        arity: 1, domain: Float, cost: 1, rounds: false, total: true,
        eval: float(f32::round_ties_even, f64::round_ties_even),
        facts: |k| k.inherited(NUMBER.union(Facts::NONNEG)).union(k.inherited(Facts::NO_NEG_ZERO).when(k.x.has(Facts::NONNEG))),
    }
    /// 1 / sqrt x, where the root and the quotient are each rounded.
    Rsqrt {
        arity: 1, domain: Float, cost: 20, rounds: true, total: true,
        eval: float(|x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt()),
        facts: |k| Facts::NEVER_NAN.when(k.x.has(Facts::NONNEG.union(Facts::NEVER_NAN))),
    }
    /// The angle of the point with height x and width y.
    Atan2 {
        arity: 2, domain: Float, cost: 90, rounds: true, total: true,
        eval: float2(math::atan2_f32, math::atan2_f64),
        steps_of_two: atan2,
        facts: |k| k.inherited(Facts::NONNEG).union(NUMBER.when(k.both(Facts::NEVER_NAN))),
    }
    /// The remainder of x / y, rounded down; it has the sign of y.
    Mod {
        arity: 2, domain: Num, cost: 37, rounds: true, total: false,
        eval: partial2(modulo),
        steps_of_two: modulo,
        facts: |_| Facts::NONE,
    }
    /// The remainder of x / y, truncated; it has the sign of x.
    Remainder {
        arity: 2, domain: Num, cost: 25, rounds: true, total: false,
        eval: partial2(remainder),
        steps_of_two: remainder,
        facts: |k| k.inherited(Facts::NONNEG),
    }
    /// x y + z, rounded once.
    Fma {
        arity: 3, domain: Float, cost: 1, rounds: true, total: true,
        eval: rounded3(fma),
        facts: |_| Facts::NONE,
    }
    /// x^y; integers wrap, and negative exponents truncate toward zero.
    Pow {
        arity: 2, domain: Num, cost: 115, rounds: true, total: false,
        eval: powers(),
        steps_of_two: pow,
        facts: |_| Facts::NONE,
    }
}
