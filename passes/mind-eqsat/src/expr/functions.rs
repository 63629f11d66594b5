//! The functions of rule files, closed.

use mind_ir::attr::OPEN_END;
use mind_ir::types::Dim;

use super::kind::{Kind, Param};
use super::scope::Argument;
use crate::egraph::payload::AttrValue;

/// A function of rule files. Pure and total: none where it has no result.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) params: &'static [Param],
    pub(crate) result: Kind,
    pub(crate) eval: for<'a> fn(&[Argument<'a>]) -> Option<Argument<'a>>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every function.
///
/// - `rank(?x)`, `dim(?x, axis)`, `numel(?x)`, `shape(?x)`: of a value's shape.
/// - `axis(a, ?x)`: axis `a` of `?x` counted from the front; `normalize_axes(axes, ?x)`: a list of such,
///   ascending, all axes for an empty list.
/// - `perm(p, ?x)`: the permutation `p` stands for: itself, or the axes of `?x` reversed when empty.
/// - `compose(p, q)`: `r[i] = p[q[i]]`; `inverse(p)`: `r[p[i]] = i`.
/// - `at(list, i)`, `take(list, n)`, `drop(list, n)`, `concat(a, b)`: of lists.
/// - `shift(list, i, n)`: `list` with `n` taken from entry `i`; an open end stays open.
/// - `add`, `sub`, `mul`, `div_exact`, `min`, `max`: of integers.
pub(crate) static FUNCTIONS: &[Function] = &[
    row("rank", &[Param::Value], Kind::Int, |a| {
        int(a[0].shape()?.len() as i64)
    }),
    row("dim", &[Param::Value, Param::Int], Kind::Int, |a| {
        a[0].shape()?
            .get(index(&a[1])?)
            .map(|&dim| Argument::Dim(dim))
    }),
    row("numel", &[Param::Value], Kind::Int, |a| {
        int(a[0].value()?.ty.count()?)
    }),
    row("shape", &[Param::Value], Kind::Dims, |a| {
        Some(Argument::Attr(AttrValue::Dims(a[0].shape()?.into())))
    }),
    row("axis", &[Param::Int, Param::Value], Kind::Int, |a| {
        int(resolve(a[0].int()?, a[1].shape()?)? as i64)
    }),
    row(
        "normalize_axes",
        &[Param::Ints, Param::Value],
        Kind::Ints,
        |a| ints(normalized_axes(a[0].ints()?, a[1].shape()?)?),
    ),
    row("perm", &[Param::Ints, Param::Value], Kind::Ints, |a| {
        ints(permutation(a[0].ints()?, a[1].shape()?))
    }),
    row("compose", &[Param::Ints, Param::Ints], Kind::Ints, |a| {
        let (p, q) = (a[0].ints()?, a[1].ints()?);
        let at = |&axis: &i64| p.get(usize::try_from(axis).ok()?).copied();
        ints(q.iter().map(at).collect::<Option<_>>()?)
    }),
    row("inverse", &[Param::Ints], Kind::Ints, |a| {
        let p = a[0].ints()?;
        let mut inverse = vec![-1; p.len()];
        for (at, &axis) in p.iter().enumerate() {
            *inverse.get_mut(usize::try_from(axis).ok()?)? = at as i64;
        }
        (!inverse.contains(&-1)).then(|| ints(inverse))?
    }),
    row("at", &[Param::Ints, Param::Int], Kind::Int, |a| {
        int(*a[0].ints()?.get(index(&a[1])?)?)
    }),
    row("take", &[Param::Ints, Param::Int], Kind::Ints, |a| {
        ints(a[0].ints()?.get(..index(&a[1])?)?.to_vec())
    }),
    row("drop", &[Param::Ints, Param::Int], Kind::Ints, |a| {
        ints(a[0].ints()?.get(index(&a[1])?..)?.to_vec())
    }),
    row("concat", &[Param::Ints, Param::Ints], Kind::Ints, |a| {
        ints([a[0].ints()?, a[1].ints()?].concat())
    }),
    row(
        "shift",
        &[Param::Ints, Param::Int, Param::Int],
        Kind::Ints,
        |a| {
            let mut list = a[0].ints()?.to_vec();
            let entry = list.get_mut(index(&a[1])?)?;
            if *entry != OPEN_END {
                *entry = entry.checked_sub(a[2].int()?)?;
            }
            ints(list)
        },
    ),
    row("add", INTS, Kind::Int, |a| {
        int(a[0].int()?.checked_add(a[1].int()?)?)
    }),
    row("sub", INTS, Kind::Int, |a| {
        int(a[0].int()?.checked_sub(a[1].int()?)?)
    }),
    row("mul", INTS, Kind::Int, |a| {
        int(a[0].int()?.checked_mul(a[1].int()?)?)
    }),
    row("div_exact", INTS, Kind::Int, |a| {
        let (n, d) = (a[0].int()?, a[1].int()?);
        (n.checked_rem(d)? == 0).then(|| int(n / d))?
    }),
    row("min", INTS, Kind::Int, |a| {
        int(a[0].int()?.min(a[1].int()?))
    }),
    row("max", INTS, Kind::Int, |a| {
        int(a[0].int()?.max(a[1].int()?))
    }),
];

const INTS: &[Param] = &[Param::Int, Param::Int];

const fn row(
    name: &'static str,
    params: &'static [Param],
    result: Kind,
    eval: for<'a> fn(&[Argument<'a>]) -> Option<Argument<'a>>,
) -> Function {
    Function {
        name,
        params,
        result,
        eval,
    }
}

fn int(value: i64) -> Option<Argument<'static>> {
    Some(Argument::Attr(AttrValue::Int(value)))
}

fn ints(list: Vec<i64>) -> Option<Argument<'static>> {
    Some(Argument::Attr(AttrValue::Ints(list.into())))
}

fn index(argument: &Argument<'_>) -> Option<usize> {
    usize::try_from(argument.int()?).ok()
}

/// `axis` counted from the front, when it lies in `-rank..rank`.
fn resolve(axis: i64, shape: &[Dim]) -> Option<usize> {
    let rank = shape.len() as i64;
    let front = if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    };
    usize::try_from(front)
        .ok()
        .filter(|&front| front < shape.len())
}

/// The axes that a list names, ascending; all of them when it is empty.
pub(super) fn normalized_axes(axes: &[i64], shape: &[Dim]) -> Option<Vec<i64>> {
    if axes.is_empty() {
        return Some((0..shape.len() as i64).collect());
    }
    let mut axes: Vec<i64> = axes
        .iter()
        .map(|&axis| Some(resolve(axis, shape)? as i64))
        .collect::<Option<_>>()?;
    axes.sort_unstable();
    Some(axes)
}

/// The permutation that `written` stands for over `shape`.
pub(super) fn permutation(written: &[i64], shape: &[Dim]) -> Vec<i64> {
    match written {
        [] => (0..shape.len() as i64).rev().collect(),
        written => written.to_vec(),
    }
}
