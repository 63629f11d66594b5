//! What is known of every element of a value.

use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{FloatNum, Num, Tensor};
use mind_ir::types::{DType, DTypeClass};
use mind_ir::{with_float, with_num};

/// A set of facts, each true of every element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Facts(u8);

impl Facts {
    /// Every fact with its name in rule files.
    pub(crate) const NAMES: [(&'static str, Facts); 4] = [
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

    /// `self` where `condition` holds.
    const fn when(self, condition: bool) -> Facts {
        if condition { self } else { Facts::NONE }
    }

    /// What a dtype alone says.
    pub(crate) fn of_dtype(dtype: DType) -> Facts {
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
    pub(crate) fn of_tensor(tensor: &Tensor) -> Facts {
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

    /// What holds for the result of a scalar function, from what holds for its operands; `same` says
    /// that two operands are one value. Only floats are looked at: integers wrap.
    pub(crate) fn of_scalar(function: ScalarFn, operands: &[Facts], same: bool) -> Facts {
        let x = operands.first().copied().unwrap_or_default();
        let y = operands.get(1).copied().unwrap_or_default();
        let positive = Facts::NONNEG.union(Facts::NO_NEG_ZERO);
        let kept = |facts: Facts| x.intersection(facts);
        let both = |facts: Facts| Facts::has(x, facts) && Facts::has(y, facts);
        let either = |facts: Facts| Facts::has(x, facts) || Facts::has(y, facts);
        match function {
            ScalarFn::Relu => positive.union(Facts::NEVER_NAN).union(kept(Facts::FINITE)),
            ScalarFn::Abs => positive.union(kept(Facts::NEVER_NAN.union(Facts::FINITE))),
            ScalarFn::Exp => positive.union(kept(Facts::NEVER_NAN)),
            ScalarFn::Sigmoid => {
                let known = x.has(Facts::NEVER_NAN);
                positive.union(Facts::NEVER_NAN.union(Facts::FINITE).when(known))
            }
            ScalarFn::Sqrt => Facts::NONNEG
                .union(kept(Facts::NO_NEG_ZERO))
                .union(kept(Facts::NEVER_NAN).when(x.has(Facts::NONNEG)))
                .union(kept(Facts::FINITE).when(x.has(Facts::NONNEG))),
            ScalarFn::Neg => kept(Facts::NEVER_NAN.union(Facts::FINITE)),
            ScalarFn::Erf | ScalarFn::Tanh => Facts::NEVER_NAN
                .union(Facts::FINITE)
                .when(x.has(Facts::NEVER_NAN)),
            ScalarFn::Log | ScalarFn::Gelu => Facts::NONE,
            ScalarFn::Add => Facts::NO_NEG_ZERO
                .when(either(Facts::NO_NEG_ZERO))
                .union(Facts::NONNEG.when(both(Facts::NONNEG)))
                .union(
                    Facts::NEVER_NAN
                        .when(both(Facts::FINITE) || both(Facts::NONNEG.union(Facts::NEVER_NAN))),
                ),
            ScalarFn::Sub => Facts::NEVER_NAN.when(both(Facts::FINITE)),
            ScalarFn::Mul => positive
                .when(same || both(positive))
                .union(Facts::NEVER_NAN.when(both(Facts::FINITE)))
                .union(kept(Facts::NEVER_NAN).when(same)),
            ScalarFn::Div => Facts::NONE,
            ScalarFn::Maximum => Facts::NONNEG
                .when(either(Facts::NONNEG))
                .union(Facts::NO_NEG_ZERO.when(either(positive) || both(Facts::NO_NEG_ZERO)))
                .union(
                    x.intersection(y)
                        .intersection(Facts::NEVER_NAN.union(Facts::FINITE)),
                ),
            ScalarFn::Minimum => x.intersection(y),
        }
    }
}
