//! Facts about every element of a value.

use crate::tensor::{FloatNum, Num, Tensor};
use crate::types::{DType, DTypeClass};
use crate::{with_float, with_num};

/// A set of facts, each true of every element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Facts(u8);

impl Facts {
    /// Every fact with its name in rule files.
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
    /// No element is below zero; -0 and NaN are not.
    pub const NONNEG: Facts = Facts(1 << 2);
    /// No element is -0.
    pub const NO_NEG_ZERO: Facts = Facts(1 << 3);
    /// Nothing is known.
    pub const NONE: Facts = Facts(0);

    /// Whether all of `wanted` hold.
    pub const fn has(self, wanted: Facts) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// The facts of both: what is known of one value in two ways.
    pub const fn union(self, other: Facts) -> Facts {
        Facts(self.0 | other.0)
    }

    /// The facts that both have: what is known of elements taken from either.
    pub const fn intersection(self, other: Facts) -> Facts {
        Facts(self.0 & other.0)
    }

    /// `self` if `condition` holds, else no fact.
    pub const fn when(self, condition: bool) -> Facts {
        if condition { self } else { Facts::NONE }
    }

    /// What a dtype alone says.
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

    /// What holds for every element of `tensor`.
    pub fn of_tensor(tensor: &Tensor) -> Facts {
        fn float<T: FloatNum>(tensor: &Tensor) -> Facts {
            let all = |holds: fn(f64) -> bool| {
                tensor
                    .elements::<T>()
                    .iter()
                    .all(|element| holds(element.to_f64()))
            };
            Facts::NEVER_NAN
                .when(all(|x| !x.is_nan()))
                .union(Facts::FINITE.when(all(f64::is_finite)))
                .union(Facts::NONNEG.when(all(|x| x.is_nan() || x >= 0.0)))
                .union(Facts::NO_NEG_ZERO.when(all(|x| x != 0.0 || x.is_sign_positive())))
        }
        fn int<T: Num>(tensor: &Tensor) -> Facts {
            let all = tensor
                .elements::<T>()
                .iter()
                .all(|&element| element >= T::ZERO);
            Facts::NONNEG.when(all)
        }
        let own = with_float!(tensor.dtype(), T => float::<T>(tensor), else
            with_num!(tensor.dtype(), T => int::<T>(tensor), else Facts::NONE));
        own.union(Facts::of_dtype(tensor.dtype()))
    }
}
