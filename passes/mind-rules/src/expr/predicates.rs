//! The built-in predicates of rule files.

use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, DTypeClass, Dim};

use super::contents::{self, element_equals, is_power_of_two};
use super::extremes;
use super::functions::progression;
use super::kind::Param;
use super::lists;
use super::scope::Argument;
use super::shapes::{self, normalized_axes, permutation};
use mind_ir::scalar::Facts;

/// A predicate of rule files. Predicates are pure and total: they return `None` if the answer is not known.
pub struct Predicate {
    pub name: &'static str,
    pub params: &'static [Param],
    pub eval: fn(&[Argument<'_>]) -> Option<bool>,
    /// The number of leading arguments that must be constants for the predicate to hold.
    pub constants: usize,
}

impl std::fmt::Debug for Predicate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every built-in predicate.
///
/// - `same_shape`, `static_shape`, `broadcasts_to`: of shapes; a `?` extent equals nothing; `same_batch(?a, ?b)`: equal
///   ranks, and equal extents except for the last two.
/// - `is_float`, `is_int`, `is_signed`, `is_bool`: of dtypes.
/// - `is_const(?x)`; `is_splat(?x)` or `is_splat(?x, v)`: all elements are equal, with the bits of `v`;
///   `is_power_of_two(?x)`: a splat of ±2^k whose reciprocal is normal too; `all_positive(?c)`: every element of the
///   constant is positive and finite; `scales_exactly(?c, ?d)`: two splats, where a multiplication by `?c` and then by
///   `?d` rounds like one by their product; `is_identity(?c)`: an identity matrix.
/// - `all_ones(?c)`: a splat with every bit set; of `bool`, true; `is_one_bit(?c)`: a splat of an integer 2^k;
///   `is_lowest(?c)`, `is_highest(?c)`: a splat of the least or the greatest value of the dtype, for example -inf, the
///   largest integer or true.
/// - `is_narrow`: `f16` or `bf16`; `is_short`: integers of 8 or 16 bits; `widens_to(a, b)`: `b` is another dtype that
///   represents every number of `a`, and both are floats, both are integers, or `a` is `bool`; `fits_in(a, b)`: `b`
///   represents every number of `a`.
/// - `is_range(?i, n)`: a constant, ascending arithmetic progression of integers in `0..n`; `in_bounds(?i, n)`:
///   constant integers in `0..n`, in any order.
/// - `ascends(list)`: strictly ascending; `is_run(list)`: consecutive integers; `equal_but(a, b, i)`: equal lists
///   except for entry `i`.
/// - `all_nonneg(list)`: no entry is negative; `moves_ones(p, list)`: `p` moves only entries of 1.
/// - `keeps_order(p, ?x)`: `p` moves only axes of `?x` of extent 1.
/// - `is_line(?x)`: at most one extent is not 1.
/// - `one_use(?x)`: at most one operand of the input program reads it.
/// - `never_nan`, `finite`, `nonneg`, `no_neg_zero`: facts that the analysis has proved.
/// - `divides(a, b)`: `b` is a multiple of `a`.
/// - `keeps_dims(?r, ?x, axes)`: the shape of `?r` is that of `?x` with extents of 1 at `axes`.
/// - `swaps_last_two(p, ?x)`: `p` exchanges the last two axes of `?x` and keeps the others.
pub static PREDICATES: &[Predicate] = &[
    row("same_shape", &[Param::Shaped, Param::Shaped], |a| {
        Some(surely_same(a[0].shape()?, a[1].shape()?))
    }),
    row("static_shape", &[Param::Shaped], |a| {
        Some(a[0].shape()?.iter().all(|dim| dim.fixed().is_some()))
    }),
    row("broadcasts_to", &[Param::Shaped, Param::Shaped], |a| {
        Some(broadcasts_to(a[0].shape()?, a[1].shape()?))
    }),
    row("same_batch", &[Param::Shaped, Param::Shaped], |a| {
        let (a, b) = (a[0].shape()?, a[1].shape()?);
        let batch = |shape: &'_ [Dim]| shape.len().checked_sub(2);
        let agree = a.len() == b.len() && batch(a).is_some_and(|n| surely_same(&a[..n], &b[..n]));
        Some(agree)
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
    row("widens_to", &[Param::Typed, Param::Typed], |a| {
        Some(a[0].dtype()?.widens_to(a[1].dtype()?))
    }),
    row("fits_in", &[Param::Typed, Param::Typed], |a| {
        Some(fits_in(a[0].dtype()?, a[1].dtype()?))
    }),
    row("is_bool", &[Param::Typed], |a| {
        Some(a[0].dtype()? == DType::Bool)
    }),
    of_constants(
        1,
        row("is_const", &[Param::Value], |a| {
            Some(a[0].value()?.constant().is_some())
        }),
    ),
    of_constants(
        1,
        row("is_splat", &[Param::Value, Param::OptionalNumber], |a| {
            is_splat(&a[0], a.get(1))
        }),
    ),
    of_constants(
        1,
        row("is_power_of_two", &[Param::Value], |a| {
            splat_is(&a[0], is_power_of_two)
        }),
    ),
    of_constants(
        1,
        row("all_ones", &[Param::Value], |a| {
            splat_is(&a[0], extremes::all_ones)
        }),
    ),
    of_constants(
        1,
        row("is_one_bit", &[Param::Value], |a| {
            splat_is(&a[0], contents::is_one_bit)
        }),
    ),
    of_constants(
        1,
        row("is_lowest", &[Param::Value], |a| {
            splat_is(&a[0], extremes::is_lowest)
        }),
    ),
    of_constants(
        1,
        row("is_highest", &[Param::Value], |a| {
            splat_is(&a[0], extremes::is_highest)
        }),
    ),
    of_constants(
        1,
        row("all_positive", &[Param::Value], |a| {
            let constant = a[0].value()?.constant();
            Some(constant.is_some_and(|constant| contents::all_positive(&constant.data)))
        }),
    ),
    of_constants(
        2,
        row("scales_exactly", &[Param::Value, Param::Value], |a| {
            let splat = |a: &Argument<'_>| {
                let constant = a.value()?.constant().filter(|constant| constant.splat)?;
                Some(constant.data.clone())
            };
            let pair = splat(&a[0]).zip(splat(&a[1]));
            Some(pair.is_some_and(|(first, then)| contents::scales_exactly(&first, &then)))
        }),
    ),
    of_constants(
        1,
        row("is_identity", &[Param::Value], |a| {
            Some(a[0].value()?.constant().is_some_and(contents::is_identity))
        }),
    ),
    row("is_narrow", &[Param::Typed], |a| {
        Some(matches!(a[0].dtype()?, DType::F16 | DType::BF16))
    }),
    row("is_short", &[Param::Typed], |a| {
        let dtype = a[0].dtype()?;
        Some(dtype.is_int() && dtype.size() <= 2)
    }),
    of_constants(
        1,
        row("is_range", &[Param::Value, Param::Int], |a| {
            let extent = a[1].int()?;
            Some(progression(&a[0]).is_some_and(|range| range.last < extent))
        }),
    ),
    of_constants(
        1,
        row("in_bounds", &[Param::Value, Param::Int], |a| {
            let integers = a[0].value()?.constant().and_then(contents::integers);
            let bounds = 0..a[1].int()?;
            Some(integers.is_some_and(|list| list.iter().all(|index| bounds.contains(index))))
        }),
    ),
    row("all_nonneg", &[Param::Ints], |a| {
        Some(a[0].ints()?.iter().all(|&entry| entry >= 0))
    }),
    row("moves_ones", &[Param::Ints, Param::Ints], |a| {
        lists::moves_ones(a[0].ints()?, a[1].ints()?)
    }),
    row("ascends", &[Param::Ints], |a| {
        Some(lists::ascends(a[0].ints()?))
    }),
    row("is_run", &[Param::Ints], |a| {
        Some(lists::is_run(a[0].ints()?))
    }),
    row("equal_but", &[Param::Ints, Param::Ints, Param::Int], |a| {
        let at = usize::try_from(a[2].int()?).ok()?;
        Some(lists::equal_but(a[0].ints()?, a[1].ints()?, at))
    }),
    row("keeps_order", &[Param::Ints, Param::Value], |a| {
        let shape = a[1].shape()?;
        shapes::keeps_order(&permutation(a[0].ints()?, shape), shape)
    }),
    row("is_line", &[Param::Value], |a| {
        let long = |dim: &&Dim| **dim != Dim::Fixed(1);
        Some(a[0].shape()?.iter().filter(long).count() <= 1)
    }),
    row("one_use", &[Param::Value], |a| {
        Some(a[0].value()?.uses() <= 1)
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
    Predicate {
        name,
        params,
        eval,
        constants: 0,
    }
}

/// Marks a predicate that holds only if its first `constants` arguments are constants.
const fn of_constants(constants: usize, predicate: Predicate) -> Predicate {
    Predicate {
        constants,
        ..predicate
    }
}

fn has(argument: &Argument<'_>, facts: Facts) -> Option<bool> {
    Some(argument.value()?.facts().has(facts))
}

/// Returns whether the value is a splat whose element satisfies `holds`.
fn splat_is(value: &Argument<'_>, holds: fn(&Tensor) -> bool) -> Option<bool> {
    let constant = value.value()?.constant().filter(|constant| constant.splat);
    Some(constant.is_some_and(|constant| holds(&constant.data)))
}

/// Returns whether `other` represents every number of `dtype` exactly.
pub(crate) fn fits_in(dtype: DType, other: DType) -> bool {
    let bits = match dtype.class() {
        DTypeClass::Signed => 8 * dtype.size() - 1,
        DTypeClass::Unsigned => 8 * dtype.size(),
        DTypeClass::Float | DTypeClass::Bool => return dtype == other || dtype.widens_to(other),
    };
    match other.float_format() {
        Some(format) => bits <= format.mantissa as usize + 1,
        None => dtype == other || dtype.widens_to(other),
    }
}

fn surely_same(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.surely_equals(*b))
}

/// Returns whether `from` broadcasts to exactly `to`.
fn broadcasts_to(from: &[Dim], to: &[Dim]) -> bool {
    let Some(missing) = to.len().checked_sub(from.len()) else {
        return false;
    };
    from.iter()
        .zip(&to[missing..])
        .all(|(from, to)| *from == Dim::Fixed(1) || from.surely_equals(*to))
}

fn is_splat(value: &Argument<'_>, wanted: Option<&Argument<'_>>) -> Option<bool> {
    let Some(constant) = value.value()?.constant().filter(|constant| constant.splat) else {
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
