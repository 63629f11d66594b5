//! Reshapes, transposes and other data movement.

use mind_ir::ValueId;
use mind_ir::opdef::Inferred;
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};
use smallvec::smallvec;

use super::rule::{agree, declared, mapped, one, rank, text, typed};
use crate::call::{ArgState, Call, integers};
use crate::structure::constant_of;

/// Reshapes to `shape`, in which -1 is inferred and 0 copies an extent.
pub(crate) fn reshape(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let ArgState::Known(target) = call.ints("shape") else {
        return declared(call);
    };
    if let Some(entry) = target.iter().find(|&&entry| entry < -1) {
        return Err(call.refused("shape", &entry.to_string(), "-1, 0 or positive"));
    }
    let copied = target.len() == x.rank();
    let extent = |(at, &entry): (usize, &i64)| match entry {
        0 if copied => x.shape[at],
        entry => Dim::Fixed(entry),
    };
    let mut shape: Shape = target.iter().enumerate().map(extent).collect();
    let open: Vec<usize> = (0..shape.len())
        .filter(|&at| shape[at] == Dim::Fixed(-1))
        .collect();
    if let [_, second, ..] = open[..] {
        let shape = text(call, x.with_shape(shape).view());
        return Err(Box::new(VerifyError::SeveralOpen {
            shape,
            dimension: second,
        }));
    }
    let whole = x.count();
    let part = shape.iter().try_fold(1i64, |all, dim| match dim.fixed()? {
        -1 => Some(all),
        extent => all.checked_mul(extent),
    });
    let (Some(whole), Some(part)) = (whole, part) else {
        open.iter().for_each(|&at| shape[at] = Dim::Dynamic);
        return typed(x.dtype, shape);
    };
    let fits = match open.first() {
        Some(&at) if part > 0 && whole % part == 0 => {
            shape[at] = Dim::Fixed(whole / part);
            true
        }
        Some(_) => false,
        None => whole == part,
    };
    if !fits {
        return Err(Box::new(VerifyError::ElementCount {
            from: text(call, x),
            to: format!("{target:?}"),
            from_count: whole.to_string(),
            to_count: part.to_string(),
        }));
    }
    typed(x.dtype, shape)
}

/// Reshapes to extents of other tensors: of each the dimensions from `begins` to below `ends`, or up to the last if
/// `end_masks` is set.
pub(crate) fn reshape_like(call: &Call<'_>) -> InferManyResult {
    let refs = call.values("ref_tensors");
    let lists = ["begins", "ends", "end_masks"].map(|name| call.values(name));
    for (name, list) in ["begins", "ends", "end_masks"].into_iter().zip(lists) {
        call.length(name, list.len(), refs.len())?;
    }
    let number = |value: ValueId| {
        let tensor = constant_of(call.g, value).and_then(|own| own.tensor(call.g))?;
        integers(&tensor).first().copied()
    };
    let mut shape = Shape::new();
    for (at, &like) in refs.iter().enumerate() {
        let dims = call.g.ty(like).shape;
        let [begin, end, mask] = lists.map(|list| number(list[at]));
        let (Some(begin), Some(end), Some(mask)) = (begin, end, mask) else {
            return declared(call);
        };
        let end = if mask != 0 { dims.len() as i64 } else { end };
        let own = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        match own.and_then(|(begin, end)| dims.get(begin..end)) {
            Some(own) => shape.extend(own.iter().copied()),
            None => {
                let found = format!("{begin} to {end} of rank {}", dims.len());
                return Err(call.refused("begins", &found, "inside the rank"));
            }
        }
    }
    let x = call.ty("x");
    let own = x.with_shape(shape.iter().copied());
    if let (Some(from), Some(to)) = (x.count(), own.view().count())
        && from != to
    {
        return Err(Box::new(VerifyError::ElementCount {
            from: text(call, x),
            to: text(call, own.view()),
            from_count: from.to_string(),
            to_count: to.to_string(),
        }));
    }
    one(own)
}

/// Permutes the dimensions by `perm`.
pub(crate) fn transpose(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let ArgState::Known(perm) = call.ints("perm") else {
        return declared(call);
    };
    let own: Vec<i64> = perm
        .iter()
        .map(|&axis| axis + if axis < 0 { x.rank() as i64 } else { 0 })
        .collect();
    let mut sorted = own.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..x.rank() as i64) {
        let violation = "every axis is in it once".to_owned();
        return Err(Box::new(VerifyError::Permutation {
            permutation: perm,
            rank: x.rank(),
            violation,
        }));
    }
    typed(
        x.dtype,
        own.iter().map(|&axis| x.shape[axis as usize]).collect(),
    )
}

/// Inserts dimensions of extent 1 at `axes` of the result.
pub(crate) fn expand(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let ArgState::Known(axes) = call.ints("axes") else {
        return declared(call);
    };
    let total = x.rank() + axes.len();
    let axes = call.axes(&axes, total)?;
    let mut kept = x.shape.iter().copied();
    let dims = (0..total).map(|at| {
        if axes.contains(&at) {
            Dim::Fixed(1)
        } else {
            kept.next().unwrap_or(Dim::Fixed(1))
        }
    });
    typed(x.dtype, dims.collect())
}

/// Removes `axes`, or every dimension of extent 1.
pub(crate) fn squeeze(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => call.axes(&axes, x.rank())?,
        ArgState::Runtime => return declared(call),
        ArgState::Absent => (0..x.rank())
            .filter(|&at| x.shape[at] == Dim::Fixed(1))
            .collect(),
    };
    if let Some(&axis) = axes
        .iter()
        .find(|&&at| x.shape[at].fixed().is_some_and(|extent| extent != 1))
    {
        return Err(Box::new(VerifyError::Squeeze {
            axis: axis as i64,
            shape: text(call, x),
            extent: x.shape[axis].display(call.g.symbols()).to_string(),
        }));
    }
    let kept = (0..x.rank()).filter(|at| !axes.contains(at));
    typed(x.dtype, kept.map(|at| x.shape[at]).collect())
}

/// Joins the dimensions before `axis` into one, and those from `axis` on into another.
pub(crate) fn flatten(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axis = call.axis(call.int("axis").unwrap_or(1), x.rank().max(1))?;
    let product = |dims: &[Dim]| {
        let all = dims
            .iter()
            .try_fold(1i64, |all, dim| all.checked_mul(dim.fixed()?));
        all.map_or(Dim::Dynamic, Dim::Fixed)
    };
    let (before, behind) = x.shape.split_at(axis);
    typed(
        x.dtype,
        [product(before), product(behind)].into_iter().collect(),
    )
}

/// Concatenates the `values` along `axis`; scalars make a list.
pub(crate) fn concat(call: &Call<'_>) -> InferManyResult {
    let values = call.values("values");
    let Some(&first) = values.first() else {
        return Err(call.refused("values", "empty", "at least one value"));
    };
    let first = call.g.ty(first);
    let axis = call.axis(call.int("axis").unwrap_or(0), first.rank().max(1))?;
    if first.rank() == 0 {
        for &value in values {
            alike(call, value)?;
        }
        return typed(
            first.dtype,
            [Dim::Fixed(values.len() as i64)].into_iter().collect(),
        );
    }
    let mut shape: Shape = first.shape.iter().copied().collect();
    let mut along = Some(0i64);
    for &value in values {
        let ty = alike(call, value)?;
        for at in (0..first.rank()).filter(|&at| at != axis || call.flag("interleave")) {
            let name = format!("extents at dimension {at}");
            let dim = agree(call, &name, shape[at], ty.shape[at])?;
            if at != axis {
                shape[at] = dim;
            }
        }
        along = along
            .zip(ty.shape[axis].fixed())
            .and_then(|(all, own)| all.checked_add(own));
    }
    shape[axis] = along.map_or(Dim::Dynamic, Dim::Fixed);
    typed(first.dtype, shape)
}

/// Returns the type of a value after checking that it has the dtype and rank of the first.
fn alike<'g>(
    call: &Call<'g>,
    value: mind_ir::ValueId,
) -> Result<mind_ir::types::TypeView<'g>, Box<VerifyError>> {
    let (first, ty) = (call.g.ty(call.values("values")[0]), call.g.ty(value));
    if ty.dtype != first.dtype {
        let (op, lhs, rhs) = (call.name, first.dtype, ty.dtype);
        return Err(Box::new(VerifyError::DTypeClash { op, lhs, rhs }));
    }
    if ty.rank() != first.rank() {
        let (expected, found) = (first.rank().to_string(), ty.rank());
        return Err(Box::new(VerifyError::Rank {
            op: call.name,
            operand: "values",
            expected,
            found,
        }));
    }
    Ok(ty)
}

/// Joins the `values` along a new dimension.
pub(crate) fn stack(call: &Call<'_>) -> InferManyResult {
    let values = call.values("values");
    let Some(&first) = values.first() else {
        return Err(call.refused("values", "empty", "at least one value"));
    };
    let first = call.g.ty(first);
    let axis = call.axis(call.int("axis").unwrap_or(0), first.rank() + 1)?;
    let mut shape: Shape = first.shape.iter().copied().collect();
    for &value in values {
        let ty = alike(call, value)?;
        for (at, dim) in shape.iter_mut().enumerate() {
            *dim = agree(
                call,
                &format!("extents at dimension {at}"),
                *dim,
                ty.shape[at],
            )?;
        }
    }
    shape.insert(axis, Dim::Fixed(values.len() as i64));
    typed(first.dtype, shape)
}

/// Splits along `axis`, into equal parts or into `split_sizes`.
pub(crate) fn split(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axis = call.axis(call.int("axis").unwrap_or(0), x.rank())?;
    let extent = x.shape[axis].fixed();
    let sizes = match (call.ints("split_sizes"), call.int("num_splits"), extent) {
        (ArgState::Known(sizes), count, _) => {
            if let Some(count) = count {
                call.length(
                    "split_sizes",
                    sizes.len(),
                    usize::try_from(count).unwrap_or(0),
                )?;
            }
            let sum = sizes
                .iter()
                .try_fold(0i64, |all, &size| all.checked_add(size));
            if sizes.iter().any(|&size| size < 1)
                || extent.is_some_and(|extent| sum != Some(extent))
            {
                let expected = format!("positive entries that sum to the extent of axis {axis}");
                return Err(call.refused("split_sizes", &format!("{sizes:?}"), &expected));
            }
            sizes
        }
        (_, Some(count), Some(extent)) if count > 0 && count <= extent && extent % count == 0 => {
            vec![extent / count; count as usize]
        }
        (_, Some(count), Some(extent)) => {
            let expected = format!("a divisor of {extent}, the extent of axis {axis}");
            return Err(call.refused("num_splits", &count.to_string(), &expected));
        }
        _ => return declared(call),
    };
    let piece = |size: i64| {
        let mut shape: Shape = x.shape.iter().copied().collect();
        shape[axis] = Dim::Fixed(size);
        Inferred::New(x.with_shape(shape))
    };
    Ok(sizes.into_iter().map(piece).collect())
}

/// Repeats each dimension `reps` times.
pub(crate) fn tile(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let ArgState::Known(reps) = call.ints("reps") else {
        return declared(call);
    };
    call.length("reps", reps.len(), x.rank())?;
    if let Some(entry) = reps.iter().find(|&&entry| entry < 1) {
        return Err(call.refused("reps", &entry.to_string(), "positive"));
    }
    let pairs = x.shape.iter().zip(&reps);
    typed(
        x.dtype,
        pairs
            .map(|(&dim, &times)| mapped(dim, |dim| dim.checked_mul(times)))
            .collect(),
    )
}

/// Pads the last dimensions by the pairs in `pad`.
pub(crate) fn pad(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let mode = call.one_of("mode", &["constant", "reflect", "replicate"])?;
    let ArgState::Known(pads) = call.ints("pad") else {
        // Only a constant may leave out the leading dimensions.
        let count = call.ty("pad").shape.first().and_then(|dim| dim.fixed());
        if let Some(count) = count {
            call.length("pad", count as usize, 2 * x.rank())?;
        }
        return declared(call);
    };
    if pads.len() % 2 != 0 || pads.len() > 2 * x.rank() {
        return Err(call.refused(
            "pad",
            &format!("{pads:?}"),
            "two entries for each of the last dimensions",
        ));
    }
    let mut shape: Shape = x.shape.iter().copied().collect();
    let first = x.rank() - pads.len() / 2;
    for (at, pair) in pads.chunks_exact(2).enumerate() {
        let dim = &mut shape[first + at];
        let most = match (mode, dim.fixed()) {
            ("reflect", Some(extent)) => extent - 1,
            ("replicate", Some(extent)) => extent,
            _ => i64::from(i32::MAX),
        };
        if let Some(entry) = pair.iter().find(|&&entry| entry < 0 || entry > most) {
            return Err(call.refused(
                "pad",
                &entry.to_string(),
                &format!("from 0 to {most} in mode {mode}"),
            ));
        }
        *dim = mapped(*dim, |extent| extent.checked_add(pair[0] + pair[1]));
    }
    typed(x.dtype, shape)
}

/// Moves channels to height and width, by `factor`.
pub(crate) fn depth_to_space(call: &Call<'_>) -> InferManyResult {
    let (name, factor) = factor(call)?;
    rank(call, "x", 4..=4)?;
    let x = call.ty("x");
    let divided = mapped(x.shape[1], |c| {
        (c % (factor * factor) == 0).then_some(c / (factor * factor))
    });
    if divided == Dim::Dynamic && x.shape[1] != Dim::Dynamic {
        return Err(call.refused(
            name,
            &factor.to_string(),
            "such that its square divides the channels",
        ));
    }
    let grown = |dim: Dim| mapped(dim, |dim| dim.checked_mul(factor));
    let dims = [x.shape[0], divided, grown(x.shape[2]), grown(x.shape[3])];
    typed(x.dtype, dims.into_iter().collect())
}

/// Moves height and width to channels, by `factor`.
pub(crate) fn space_to_depth(call: &Call<'_>) -> InferManyResult {
    let (name, factor) = factor(call)?;
    rank(call, "x", 4..=4)?;
    let x = call.ty("x");
    let mut dims: Shape = [
        x.shape[0],
        mapped(x.shape[1], |c| c.checked_mul(factor * factor)),
    ]
    .into_iter()
    .collect();
    for &dim in &x.shape[2..] {
        if dim.fixed().is_some_and(|extent| extent % factor != 0) {
            return Err(call.refused(name, &factor.to_string(), "a divisor of height and width"));
        }
        dims.push(mapped(dim, |extent| Some(extent / factor)));
    }
    typed(x.dtype, dims)
}

fn factor(call: &Call<'_>) -> Result<(&'static str, i64), Box<VerifyError>> {
    let names = ["block_size", "upscale_factor", "downscale_factor"];
    let name = names
        .into_iter()
        .find(|name| call.value(name).is_some())
        .unwrap_or("block_size");
    match call.int(name) {
        Some(factor @ 1..=65536) => Ok((name, factor)),
        other => Err(call.refused(name, &format!("{}", other.unwrap_or(0)), "from 1 to 65536")),
    }
}

/// Returns the type of the operand.
pub(crate) fn identity(call: &Call<'_>) -> InferManyResult {
    one(call.ty("x").to_owned())
}

/// Returns the type of the tensor in a state.
pub(crate) fn read_state(call: &Call<'_>) -> InferManyResult {
    one(call.ty("input").to_owned())
}

/// Returns no types, because the op has no result.
pub(crate) fn write_state(call: &Call<'_>) -> InferManyResult {
    let (state, data) = (call.ty("input"), call.ty("data"));
    if state.meet(data).is_none() {
        let symbols = call.g.symbols();
        let (declared, inferred) = (data.text(symbols), state.text(symbols));
        return Err(Box::new(VerifyError::DeclaredType { declared, inferred }));
    }
    Ok(smallvec![])
}
