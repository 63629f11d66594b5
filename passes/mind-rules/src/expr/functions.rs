//! The built-in functions of rule files.

use mind_ir::attr::OPEN_END;
use mind_ir::types::Dim;

use super::kind::{ExprKind, Param};
use super::scope::Argument;
use super::shapes::{normalized_axes, permutation, resolve};
use super::{contents, lists, shapes};
use crate::attr_value::AttrValue;

/// A function of rule files. Functions are pure and total: they return `None` where they are not defined.
pub struct Function {
    pub name: &'static str,
    pub params: &'static [Param],
    pub result: ExprKind,
    pub eval: for<'a> fn(&[Argument<'a>]) -> Option<Argument<'a>>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every built-in function.
///
/// - `rank(?x)`, `dim(?x, axis)`, `numel(?x)`, `shape(?x)`: properties of a value's shape; `new_shape(?r)`: the shape
///   of `?r`, where a reshape can compute its `?` extent.
/// - `axis(a, ?x)`: axis `a` of `?x` counted from the front; `normalize_axes(axes, ?x)`: a list of axes counted from
///   the front, ascending; all axes for an empty list.
/// - `perm(p, ?x)`: the permutation `p`; an empty `p` is the axes of `?x` reversed.
/// - `compose(p, q)`: `r[i] = p[q[i]]`; `inverse(p)`: `r[p[i]] = i`.
/// - `flatten(?x, from, to)`: the shape of `?x` with the extents `from..to` merged into one; `pad_front(?x, n)`: the
///   shape of `?x` with extents of 1 prepended up to rank `n`.
/// - `kept_axes(axes, ?x)`: the axes of `?x` that are not in `axes`; `ranking(list)`: the position of each entry in
///   sorted order.
/// - `at(list, i)`, `take(list, n)`, `drop(list, n)`, `concat(a, b)`, `repeat(v, n)`, `len(list)`: list operations;
///   `position(list, v)`: the index of `v`; `union(a, b)`: the entries of either list, ascending.
/// - `replace(list, i, v)`: `list` with `v` at index `i`, which counts from the end if negative; `spread(list, axes,
///   v)`: `list` with `v` inserted such that `v` is at the indices `axes` of the result.
/// - `add_each(a, b)`, `sub_each(a, b)`, `mul_each(a, b)`: elementwise; `filled(list, n, v)`: `list`, or `n` times `v`
///   if it is empty.
/// - `extents(?x)`: the shape of `?x` as integers, if it is static.
/// - `open_ends(n)`: the ends of a slice that extends to the end of `n` axes; `slice_ends(starts, steps, ?r)`: the ends
///   of a slice from `starts` by `steps` whose result has the shape of `?r`.
/// - `pad_along(padding, axis, before, after)`: `padding` with more zeros along axis 1 or 2; `padding(list)`: the
///   padding with these numbers of zeros: top, left, bottom, right; `pads(padding, strides, ?x, ?w)`: the inverse, as a
///   list, for an image `?x` and a filter `?w`, both with channels last.
/// - `first(?i)`, `step(?i)`: of a constant arithmetic progression of integers.
/// - `shift(list, i, n)`: `list` with `n` subtracted from entry `i`; an open end stays open.
/// - `broadcast(?x, ?y)`: the shape that both broadcast to; `splat(?c)`: the element of a splat constant.
/// - `add`, `sub`, `mul`, `div_exact`, `min`, `max`: integer arithmetic.
pub static FUNCTIONS: &[Function] = &[
    row("rank", &[Param::Value], ExprKind::Int, |a| {
        int(a[0].shape()?.len() as i64)
    }),
    row("dim", &[Param::Value, Param::Int], ExprKind::Int, |a| {
        a[0].shape()?
            .get(index(&a[1])?)
            .map(|&dim| Argument::Dim(dim))
    }),
    row("numel", &[Param::Value], ExprKind::Int, |a| {
        int(a[0].value()?.ty.count()?)
    }),
    row("shape", &[Param::Value], ExprKind::Dims, |a| {
        Some(Argument::Attr(AttrValue::Dims(a[0].shape()?.into())))
    }),
    row("new_shape", &[Param::Value], ExprKind::Dims, |a| {
        let shape = a[0].shape()?;
        shapes::can_be_reshaped_to(shape).then(|| dims(shape.to_vec()))?
    }),
    row("axis", &[Param::Int, Param::Value], ExprKind::Int, |a| {
        int(resolve(a[0].int()?, a[1].shape()?)? as i64)
    }),
    row(
        "normalize_axes",
        &[Param::Ints, Param::Value],
        ExprKind::Ints,
        |a| ints(normalized_axes(a[0].ints()?, a[1].shape()?)?),
    ),
    row("perm", &[Param::Ints, Param::Value], ExprKind::Ints, |a| {
        ints(permutation(a[0].ints()?, a[1].shape()?))
    }),
    row(
        "compose",
        &[Param::Ints, Param::Ints],
        ExprKind::Ints,
        |a| {
            let (p, q) = (a[0].ints()?, a[1].ints()?);
            let at = |&axis: &i64| p.get(usize::try_from(axis).ok()?).copied();
            ints(q.iter().map(at).collect::<Option<_>>()?)
        },
    ),
    row("inverse", &[Param::Ints], ExprKind::Ints, |a| {
        let p = a[0].ints()?;
        let mut inverse = vec![-1; p.len()];
        for (at, &axis) in p.iter().enumerate() {
            *inverse.get_mut(usize::try_from(axis).ok()?)? = at as i64;
        }
        (!inverse.contains(&-1)).then(|| ints(inverse))?
    }),
    row("at", &[Param::Ints, Param::Int], ExprKind::Int, |a| {
        int(*a[0].ints()?.get(index(&a[1])?)?)
    }),
    row("take", &[Param::Ints, Param::Int], ExprKind::Ints, |a| {
        ints(a[0].ints()?.get(..index(&a[1])?)?.to_vec())
    }),
    row("drop", &[Param::Ints, Param::Int], ExprKind::Ints, |a| {
        ints(a[0].ints()?.get(index(&a[1])?..)?.to_vec())
    }),
    row("concat", &[Param::Ints, Param::Ints], ExprKind::Ints, |a| {
        ints([a[0].ints()?, a[1].ints()?].concat())
    }),
    row(
        "shift",
        &[Param::Ints, Param::Int, Param::Int],
        ExprKind::Ints,
        |a| {
            let mut list = a[0].ints()?.to_vec();
            let entry = list.get_mut(index(&a[1])?)?;
            if *entry != OPEN_END {
                *entry = entry.checked_sub(a[2].int()?)?;
            }
            ints(list)
        },
    ),
    row(
        "flatten",
        &[Param::Value, Param::Int, Param::Int],
        ExprKind::Dims,
        |a| {
            dims(shapes::flatten(
                a[0].shape()?,
                index(&a[1])?,
                index(&a[2])?,
            )?)
        },
    ),
    row(
        "pad_front",
        &[Param::Value, Param::Int],
        ExprKind::Dims,
        |a| dims(shapes::pad_front(a[0].shape()?, index(&a[1])?)?),
    ),
    row(
        "kept_axes",
        &[Param::Ints, Param::Value],
        ExprKind::Ints,
        |a| ints(shapes::kept_axes(a[0].ints()?, a[1].shape()?)?),
    ),
    row("ranking", &[Param::Ints], ExprKind::Ints, |a| {
        ints(lists::ranking(a[0].ints()?))
    }),
    row("repeat", INTS, ExprKind::Ints, |a| {
        ints(lists::repeat(a[0].int()?, index(&a[1])?)?)
    }),
    row("len", &[Param::Ints], ExprKind::Int, |a| {
        int(a[0].ints()?.len() as i64)
    }),
    row("union", &[Param::Ints, Param::Ints], ExprKind::Ints, |a| {
        ints(lists::union(a[0].ints()?, a[1].ints()?))
    }),
    row("position", &[Param::Ints, Param::Int], ExprKind::Int, |a| {
        let (list, wanted) = (a[0].ints()?, a[1].int()?);
        int(list.iter().position(|&entry| entry == wanted)? as i64)
    }),
    row(
        "replace",
        &[Param::Ints, Param::Int, Param::Int],
        ExprKind::Ints,
        |a| ints(lists::replace(a[0].ints()?, a[1].int()?, a[2].int()?)?),
    ),
    row(
        "spread",
        &[Param::Ints, Param::Ints, Param::Int],
        ExprKind::Ints,
        |a| ints(lists::spread(a[0].ints()?, a[1].ints()?, a[2].int()?)?),
    ),
    row(
        "add_each",
        &[Param::Ints, Param::Ints],
        ExprKind::Ints,
        |a| ints(lists::each(a[0].ints()?, a[1].ints()?, i64::checked_add)?),
    ),
    row(
        "mul_each",
        &[Param::Ints, Param::Ints],
        ExprKind::Ints,
        |a| ints(lists::each(a[0].ints()?, a[1].ints()?, i64::checked_mul)?),
    ),
    row(
        "sub_each",
        &[Param::Ints, Param::Ints],
        ExprKind::Ints,
        |a| ints(lists::each(a[0].ints()?, a[1].ints()?, i64::checked_sub)?),
    ),
    row(
        "filled",
        &[Param::Ints, Param::Int, Param::Int],
        ExprKind::Ints,
        |a| match a[0].ints()? {
            [] => ints(lists::repeat(a[2].int()?, index(&a[1])?)?),
            list => ints(list.to_vec()),
        },
    ),
    row("extents", &[Param::Value], ExprKind::Ints, |a| {
        let fixed = a[0].shape()?.iter().map(|dim| dim.fixed());
        ints(fixed.collect::<Option<_>>()?)
    }),
    row("open_ends", &[Param::Int], ExprKind::Ints, |a| {
        ints(lists::repeat(OPEN_END, index(&a[0])?)?)
    }),
    row(
        "slice_ends",
        &[Param::Ints, Param::Ints, Param::Value],
        ExprKind::Ints,
        |a| {
            ints(shapes::slice_ends(
                a[0].ints()?,
                a[1].ints()?,
                a[2].shape()?,
            )?)
        },
    ),
    row(
        "pad_along",
        &[Param::Padding, Param::Int, Param::Int, Param::Int],
        ExprKind::Padding,
        |a| {
            let more = [a[2].int()?, a[3].int()?];
            let pads = shapes::pad_along(a[0].pads()?, a[1].int()?, more)?;
            Some(Argument::Attr(AttrValue::Pads(pads)))
        },
    ),
    row(
        "pads",
        &[Param::Padding, Param::Ints, Param::Value, Param::Value],
        ExprKind::Ints,
        |a| {
            let [top, bottom, left, right] = match &a[0] {
                Argument::Attr(AttrValue::Same) => {
                    shapes::same_pads(a[1].ints()?, a[2].shape()?, a[3].shape()?)?
                }
                written => written.pads()?,
            };
            ints(vec![top, left, bottom, right])
        },
    ),
    row("padding", &[Param::Ints], ExprKind::Padding, |a| {
        let padding = match *a[0].ints()? {
            [0, 0, 0, 0] => AttrValue::Valid,
            [top, left, bottom, right] => AttrValue::Pads([top, bottom, left, right]),
            _ => return None,
        };
        Some(Argument::Attr(padding))
    }),
    row("first", &[Param::Value], ExprKind::Int, |a| {
        int(progression(&a[0])?.first)
    }),
    row("step", &[Param::Value], ExprKind::Int, |a| {
        int(progression(&a[0])?.step)
    }),
    row(
        "broadcast",
        &[Param::Shaped, Param::Shaped],
        ExprKind::Dims,
        |a| dims(shapes::broadcast(a[0].shape()?, a[1].shape()?)?),
    ),
    row("splat", &[Param::Value], ExprKind::Float, |a| {
        contents::number(a[0].value()?.splat()?).map(Argument::Attr)
    }),
    row("add", INTS, ExprKind::Int, |a| {
        int(a[0].int()?.checked_add(a[1].int()?)?)
    }),
    row("sub", INTS, ExprKind::Int, |a| {
        int(a[0].int()?.checked_sub(a[1].int()?)?)
    }),
    row("mul", INTS, ExprKind::Int, |a| {
        int(a[0].int()?.checked_mul(a[1].int()?)?)
    }),
    row("div_exact", INTS, ExprKind::Int, |a| {
        let (n, d) = (a[0].int()?, a[1].int()?);
        (n.checked_rem(d)? == 0).then(|| int(n / d))?
    }),
    row("min", INTS, ExprKind::Int, |a| {
        int(a[0].int()?.min(a[1].int()?))
    }),
    row("max", INTS, ExprKind::Int, |a| {
        int(a[0].int()?.max(a[1].int()?))
    }),
];

const INTS: &[Param] = &[Param::Int, Param::Int];

const fn row(
    name: &'static str,
    params: &'static [Param],
    result: ExprKind,
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

fn dims(shape: Vec<Dim>) -> Option<Argument<'static>> {
    Some(Argument::Attr(AttrValue::Dims(shape.into())))
}

/// Returns the progression that a constant value holds.
pub(super) fn progression(argument: &Argument<'_>) -> Option<contents::Progression> {
    let value = argument.value()?;
    contents::progression(value.constant()?, value.ty.count())
}

fn index(argument: &Argument<'_>) -> Option<usize> {
    usize::try_from(argument.int()?).ok()
}
