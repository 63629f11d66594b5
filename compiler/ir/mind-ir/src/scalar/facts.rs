//! Facts that hold for every element of a value.

use half::{bf16, f16};

use crate::tensor::{Buffer, Num, Tensor};
use crate::types::{DType, DTypeClass};
use crate::with_num;

/// A set of facts, each of which holds for every element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Facts(u8);

impl Facts {
    /// Every fact and its name in rule files.
    pub const NAMES: [(&'static str, Facts); 4] = [
        ("never_nan", Facts::NEVER_NAN),
        ("finite", Facts::FINITE),
        ("nonneg", Facts::NONNEG),
        ("no_neg_zero", Facts::NO_NEG_ZERO),
    ];

    /// No element is NaN.
    pub const NEVER_NAN: Facts = Facts(1);
    /// No element is NaN or infinite.
    pub const FINITE: Facts = Facts(1 << 1);
    /// No element is less than zero. -0 and NaN are allowed.
    pub const NONNEG: Facts = Facts(1 << 2);
    /// No element is -0.
    pub const NO_NEG_ZERO: Facts = Facts(1 << 3);
    /// The empty set: nothing is known.
    pub const NONE: Facts = Facts(0);

    /// Whether all of `wanted` hold.
    pub const fn has(self, wanted: Facts) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Returns the union, for two sets of facts about the same value.
    pub const fn union(self, other: Facts) -> Facts {
        Facts(self.0 | other.0)
    }

    /// Returns the intersection, for elements that are taken from either of two values.
    pub const fn intersection(self, other: Facts) -> Facts {
        Facts(self.0 & other.0)
    }

    /// Returns `self` if `condition` holds, else the empty set.
    pub const fn when(self, condition: bool) -> Facts {
        if condition { self } else { Facts::NONE }
    }

    /// Returns the facts that hold for every value of a dtype.
    pub fn of_dtype(dtype: DType) -> Facts {
        let integer = Facts::NEVER_NAN
            .union(Facts::FINITE)
            .union(Facts::NO_NEG_ZERO);
        match dtype.class() {
            DTypeClass::Float => Facts::NONE,
            DTypeClass::Signed => integer,
            DTypeClass::Unsigned | DTypeClass::Bool => integer.union(Facts::NONNEG),
        }
    }

    /// Returns the facts that hold for the elements of `tensor`.
    pub fn of_tensor(tensor: &Tensor) -> Facts {
        fn int<T: Num>(tensor: &Tensor) -> Facts {
            let all = tensor
                .elements::<T>()
                .iter()
                .all(|&element| element >= T::ZERO);
            Facts::NONNEG.when(all)
        }
        let own = match tensor.buffer() {
            Buffer::F16(elements) => of_f16(elements),
            Buffer::BF16(elements) => of_bf16(elements),
            Buffer::F32(elements) => of_f32(elements),
            Buffer::F64(elements) => of_f64(elements),
            _ => with_num!(tensor.dtype(), T => int::<T>(tensor), else Facts::NONE),
        };
        own.union(Facts::of_dtype(tensor.dtype()))
    }
}

/// Computes the facts about floats from their bits, read as signed integers. The sign of each difference and mask tells
/// whether an element breaks a fact, so that one branch-free pass, which is vectorised, finds all facts.
macro_rules! of_float {
    ($name:ident, $float:ty, $bits:ty) => {
        fn $name(elements: &[$float]) -> Facts {
            const INFINITY: $bits = <$float>::INFINITY.to_bits() as $bits;
            let (mut nan, mut special, mut below, mut neg_zero): ($bits, $bits, $bits, $bits) =
                (0, 0, 0, 0);
            for element in elements {
                let bits = element.to_bits() as $bits;
                let magnitude = bits & <$bits>::MAX;
                let is_nan = INFINITY - magnitude;
                let is_zero = magnitude - 1;
                nan |= is_nan;
                special |= is_nan - 1;
                below |= bits & !is_zero & !is_nan;
                neg_zero |= bits & is_zero;
            }
            Facts::NEVER_NAN
                .when(nan >= 0)
                .union(Facts::FINITE.when(special >= 0))
                .union(Facts::NONNEG.when(below >= 0))
                .union(Facts::NO_NEG_ZERO.when(neg_zero >= 0))
        }
    };
}

of_float!(of_f16, f16, i16);
of_float!(of_bf16, bf16, i16);
of_float!(of_f32, f32, i32);
of_float!(of_f64, f64, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::FloatNum;
    use crate::with_float;

    /// Returns the facts about a number, by definition.
    fn of_number(x: f64) -> Facts {
        Facts::NEVER_NAN
            .when(!x.is_nan())
            .union(Facts::FINITE.when(x.is_finite()))
            .union(Facts::NONNEG.when(x.is_nan() || x >= 0.0))
            .union(Facts::NO_NEG_ZERO.when(x != 0.0 || x.is_sign_positive()))
    }

    #[test]
    fn facts_of_floats_hold_for_each_element() {
        fn check<T: FloatNum>() {
            let numbers = [
                0.0,
                -0.0,
                1.5,
                -1.5,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                -f64::NAN,
                6e-8,
                -6e-8,
            ];
            for first in numbers {
                for second in numbers {
                    let elements = vec![T::from_f64(first), T::from_f64(second)];
                    let tensor = Tensor::of(vec![2], elements);
                    let expected = of_number(first).intersection(of_number(second));
                    assert_eq!(Facts::of_tensor(&tensor), expected, "{first} {second}");
                }
            }
        }
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            with_float!(dtype, T => check::<T>(), else ());
        }
    }
}
