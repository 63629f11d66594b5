//! The predicates of rule files, closed.

use mind_ir::tensor::{FloatNum, Num, Tensor};
use mind_ir::types::{DType, DTypeClass, Dim};
use mind_ir::{with_float, with_num};

use super::functions::{normalized_axes, permutation};
use super::kind::Param;
use super::scope::Argument;
use crate::egraph::facts::Facts;
use crate::egraph::payload::AttrValue;

/// A predicate of rule files. Pure and total: none where it cannot be told.
pub(crate) struct Predicate {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) eval: fn(&[Argument<'_>]) -> Option<bool>,
}

impl std::fmt::Debug for Predicate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every predicate.
///
/// - `same_shape`, `static_shape`, `broadcasts_to`: of shapes; a `?` equals nothing.
/// - `is_float`, `is_int`, `is_signed`, `is_bool`: of dtypes.
/// - `is_const(?x)`; `is_splat(?x)` or `is_splat(?x, v)`: one element everywhere, with the bits of `v`;
///   `is_power_of_two(?x)`: a splat of 2^k, the reciprocal of which the dtype has too.
/// - `one_use(?x)`: one operand of the input program reads it, or none.
/// - `never_nan`, `finite`, `nonneg`, `no_neg_zero`: facts that the analysis proved.
/// - `divides(a, b)`: `b` is a multiple of `a`.
/// - `keeps_dims(?r, ?x, axes)`: the shape of `?r` is that of `?x` with 1 at `axes`.
/// - `swaps_last_two(p, ?x)`: over `?x`, `p` exchanges the last two axes and nothing else.
pub(crate) static PREDICATES: &[Predicate] = &[
    row("same_shape", &[Param::Shaped, Param::Shaped], |a| {
        Some(surely_same(a[0].shape()?, a[1].shape()?))
    }),
    row("static_shape", &[Param::Shaped], |a| {
        Some(a[0].shape()?.iter().all(|dim| dim.fixed().is_some()))
    }),
    row("broadcasts_to", &[Param::Shaped, Param::Shaped], |a| {
        Some(broadcasts_to(a[0].shape()?, a[1].shape()?))
    }),
    row("is_float", &[Param::Typed], |a| {
        Some(a[0].dtype()?.is_float())
    }),
    row("is_int", &[Param::Typed], |a| Some(a[0].dtype()?.is_int())),
    row("is_signed", &[Param::Typed], |a| {
        Some(matches!(
            a[0].dtype()?.class(),
            DTypeClass::Float | DTypeClass::Signed
        ))
    }),
    row("is_bool", &[Param::Typed], |a| {
        Some(a[0].dtype()? == DType::Bool)
    }),
    row("is_const", &[Param::Value], |a| {
        Some(a[0].value()?.constant.is_some())
    }),
    row("is_splat", &[Param::Value, Param::OptionalNumber], |a| {
        is_splat(&a[0], a.get(1))
    }),
    row("is_power_of_two", &[Param::Value], |a| {
        let constant = a[0].value()?.constant.filter(|constant| constant.splat);
        Some(constant.is_some_and(|constant| is_power_of_two(&constant.data)))
    }),
    row("one_use", &[Param::Value], |a| {
        Some(a[0].value()?.uses <= 1)
    }),
    row("never_nan", &[Param::Value], |a| {
        has(&a[0], Facts::NEVER_NAN)
    }),
    row("finite", &[Param::Value], |a| has(&a[0], Facts::FINITE)),
    row("nonneg", &[Param::Value], |a| has(&a[0], Facts::NONNEG)),
    row("no_neg_zero", &[Param::Value], |a| {
        has(&a[0], Facts::NO_NEG_ZERO)
    }),
    row("divides", &[Param::Int, Param::Int], |a| {
        Some(a[1].int()?.checked_rem(a[0].int()?)? == 0)
    }),
    row(
        "keeps_dims",
        &[Param::Value, Param::Value, Param::Ints],
        |a| {
            let (result, input) = (a[0].shape()?, a[1].shape()?);
            let axes = normalized_axes(a[2].ints()?, input)?;
            let mut kept = input.to_vec();
            axes.iter()
                .for_each(|&axis| kept[axis as usize] = Dim::Fixed(1));
            Some(surely_same(result, &kept))
        },
    ),
    row("swaps_last_two", &[Param::Ints, Param::Value], |a| {
        let shape = a[1].shape()?;
        let rank = shape.len() as i64;
        let mut swapped: Vec<i64> = (0..rank).collect();
        if rank < 2 {
            return Some(false);
        }
        swapped.swap(shape.len() - 1, shape.len() - 2);
        Some(permutation(a[0].ints()?, shape) == swapped)
    }),
];

const fn row(
    name: &'static str,
    params: &'static [Param],
    eval: fn(&[Argument<'_>]) -> Option<bool>,
) -> Predicate {
    Predicate { name, params, eval }
}

fn has(argument: &Argument<'_>, facts: Facts) -> Option<bool> {
    Some(argument.value()?.data.facts.has(facts))
}

fn surely_same(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.surely_equals(*b))
}

/// Whether `from` repeated gives exactly `to`.
fn broadcasts_to(from: &[Dim], to: &[Dim]) -> bool {
    let Some(missing) = to.len().checked_sub(from.len()) else {
        return false;
    };
    from.iter()
        .zip(&to[missing..])
        .all(|(from, to)| *from == Dim::Fixed(1) || from.surely_equals(*to))
}

fn is_splat(value: &Argument<'_>, wanted: Option<&Argument<'_>>) -> Option<bool> {
    let Some(constant) = value.value()?.constant.filter(|constant| constant.splat) else {
        return Some(false);
    };
    let Some(wanted) = wanted else {
        return Some(true);
    };
    let Argument::Attr(wanted) = wanted else {
        return None;
    };
    Some(element_equals(&constant.data, wanted))
}

/// Whether the one element of `data` has the bits of `wanted` in its dtype.
fn element_equals(data: &Tensor, wanted: &AttrValue) -> bool {
    fn float<T: FloatNum>(data: &Tensor, wanted: f64) -> bool {
        data.elements::<T>()[0].to_f64().to_bits() == wanted.to_bits()
    }
    fn int<T: Num>(data: &Tensor, wanted: &AttrValue) -> bool {
        let AttrValue::Int(wanted) = wanted else {
            return false;
        };
        data.elements::<T>()[0].to_i128() == Some(i128::from(*wanted))
    }
    let number = match wanted {
        AttrValue::Int(value) => *value as f64,
        AttrValue::Float(bits) => f64::from_bits(*bits),
        _ => return false,
    };
    with_float!(data.dtype(), T => float::<T>(data, number), else
        with_num!(data.dtype(), T => int::<T>(data, wanted), else false))
}

/// Whether the one element is 2^k or -2^k, normal, and so is its reciprocal.
fn is_power_of_two(data: &Tensor) -> bool {
    fn float<T: FloatNum>(data: &Tensor) -> bool {
        let value = data.elements::<T>()[0].to_f64();
        let mantissa = value.to_bits() & ((1 << 52) - 1);
        let reciprocal = T::from_f64(1.0 / value).to_f64();
        let smallest = match T::DTYPE {
            DType::F16 => f64::from(half_min_positive()),
            DType::F64 => f64::MIN_POSITIVE,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        let normal = |x: f64| x.is_finite() && x.abs() >= smallest;
        value.is_normal() && mantissa == 0 && normal(value) && normal(reciprocal)
    }
    with_float!(data.dtype(), T => float::<T>(data), else false)
}

/// The smallest normal binary16.
const fn half_min_positive() -> f32 {
    6.103_515_6e-5
}
