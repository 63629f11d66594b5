//! Functions of shapes, axes and paddings.

use mind_ir::types::Dim;

/// Returns `axis` counted from the front; `None` if it is not in `-rank..rank`.
pub(super) fn resolve(axis: i64, shape: &[Dim]) -> Option<usize> {
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

/// Returns the axes of a list counted from the front, ascending; all axes for an empty list.
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

/// Returns the axes that are not in `axes`, ascending; `None` if an axis is out of range.
pub(super) fn kept_axes(axes: &[i64], shape: &[Dim]) -> Option<Vec<i64>> {
    let named = normalized_axes(axes, shape)?;
    let kept = |axis: &i64| !named.contains(axis);
    Some((0..shape.len() as i64).filter(kept).collect())
}

/// Returns the permutation that the attribute `written` denotes over `shape`: an empty list reverses the axes.
pub(super) fn permutation(written: &[i64], shape: &[Dim]) -> Vec<i64> {
    match written {
        [] => (0..shape.len() as i64).rev().collect(),
        written => written.to_vec(),
    }
}

/// Returns whether elements keep their row-major order under `permutation`, that is, the axes whose extent is not 1
/// keep their order.
pub(super) fn keeps_order(permutation: &[i64], shape: &[Dim]) -> Option<bool> {
    let mut last = -1;
    for &axis in permutation {
        if *shape.get(usize::try_from(axis).ok()?)? == Dim::Fixed(1) {
            continue;
        }
        if axis < last {
            return Some(false);
        }
        last = axis;
    }
    Some(true)
}

/// Returns `shape` with the extents `from..to` merged; `None` if the range is empty or one of them is not static.
pub(super) fn flatten(shape: &[Dim], from: usize, to: usize) -> Option<Vec<Dim>> {
    let merged = shape.get(from..to).filter(|merged| !merged.is_empty())?;
    let extent = merged
        .iter()
        .try_fold(1i64, |product, dim| product.checked_mul(dim.fixed()?))?;
    let (before, after) = (&shape[..from], &shape[to..]);
    Some([before, &[Dim::Fixed(extent)], after].concat())
}

/// Returns whether a reshape can compute the `?` extents of `shape` from its operand: there is none, or exactly one and
/// no other extent that may be 0.
pub(super) fn can_be_reshaped_to(shape: &[Dim]) -> bool {
    let may_be_empty = |dim: &Dim| matches!(dim, Dim::Symbol(_) | Dim::Fixed(..=0));
    match shape.iter().filter(|dim| **dim == Dim::Dynamic).count() {
        0 => true,
        1 => !shape.iter().any(may_be_empty),
        _ => false,
    }
}

/// Returns `shape` with extents of 1 prepended up to `rank`, which is at most 32.
pub(super) fn pad_front(shape: &[Dim], rank: usize) -> Option<Vec<Dim>> {
    let missing = rank.checked_sub(shape.len()).filter(|_| rank <= 32)?;
    Some([&vec![Dim::Fixed(1); missing], shape].concat())
}

/// Returns the ends of a slice from `starts` by `steps` whose result has `shape`; `None` if an extent is 0 or not
/// static.
pub(super) fn slice_ends(starts: &[i64], steps: &[i64], shape: &[Dim]) -> Option<Vec<i64>> {
    if starts.len() != shape.len() || steps.len() != shape.len() {
        return None;
    }
    let end = |at: usize| {
        let last = shape[at].fixed().filter(|&extent| extent > 0)? - 1;
        let span = last.checked_mul(steps[at])?;
        starts[at].checked_add(span)?.checked_add(1)
    };
    (0..shape.len()).map(end).collect()
}

/// Returns `pads` with `more` added before and after, along axis 1 or 2 of an image.
pub(super) fn pad_along(pads: [i64; 4], axis: i64, more: [i64; 2]) -> Option<[i64; 4]> {
    let first = match axis {
        1 => 0,
        2 => 2,
        _ => return None,
    };
    let mut pads = pads;
    for (pad, more) in pads[first..].iter_mut().zip(more) {
        *pad = pad.checked_add(more)?;
    }
    Some(pads)
}

/// Returns the zeros that `same` adds along the rows, then the columns, for an NHWC image and an HWCF filter; `None` if
/// an extent is not static.
pub(super) fn same_pads(strides: &[i64], image: &[Dim], filter: &[Dim]) -> Option<[i64; 4]> {
    let along = |at: usize| {
        let stride = *strides.get(at).filter(|&&stride| stride > 0)?;
        let extent = image.get(at + 1)?.fixed()?;
        let taps = filter.get(at)?.fixed()?;
        let last = extent.checked_add(stride - 1)? / stride - 1;
        let covered = last.checked_mul(stride)?.checked_add(taps)?;
        let total = covered.checked_sub(extent)?.max(0);
        Some([total / 2, total - total / 2])
    };
    let ([top, bottom], [left, right]) = (along(0)?, along(1)?);
    Some([top, bottom, left, right])
}

/// Returns the shape that two shapes broadcast to; `None` if it is not known.
pub(super) fn broadcast(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let shape = mind_ir::types::broadcast(a, b).ok()?;
    (!shape.contains(&Dim::Dynamic)).then(|| shape.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(extents: &[i64]) -> Vec<Dim> {
        extents.iter().copied().map(Dim::Fixed).collect()
    }

    #[test]
    fn extents_flatten_only_where_they_are_known() {
        assert_eq!(flatten(&fixed(&[2, 3, 4]), 1, 3), Some(fixed(&[2, 12])));
        assert_eq!(flatten(&fixed(&[2, 3]), 1, 1), None);
        assert_eq!(flatten(&[Dim::Dynamic, Dim::Fixed(2)], 0, 2), None);
    }

    #[test]
    fn a_reshape_computes_one_extent_of_what_is_not_empty() {
        assert!(can_be_reshaped_to(&fixed(&[0, 2])));
        assert!(can_be_reshaped_to(&[Dim::Dynamic, Dim::Fixed(2)]));
        assert!(!can_be_reshaped_to(&[Dim::Dynamic, Dim::Fixed(0)]));
        assert!(!can_be_reshaped_to(&[Dim::Dynamic, Dim::Dynamic]));
    }

    #[test]
    fn unit_axes_may_go_anywhere() {
        assert_eq!(keeps_order(&[1, 0, 2], &fixed(&[4, 1, 3])), Some(true));
        assert_eq!(keeps_order(&[2, 0, 1], &fixed(&[4, 1, 3])), Some(false));
    }

    #[test]
    fn the_odd_zero_of_same_comes_after() {
        let (image, filter) = (fixed(&[1, 5, 4, 3]), fixed(&[2, 3, 3, 8]));
        assert_eq!(same_pads(&[1, 2], &image, &filter), Some([0, 1, 0, 1]));
        assert_eq!(same_pads(&[0, 1], &image, &filter), None);
        assert_eq!(same_pads(&[1, 1], &[Dim::Dynamic; 4], &filter), None);
    }

    #[test]
    fn ends_lie_just_past_the_last_element() {
        assert_eq!(slice_ends(&[1], &[3], &fixed(&[2])), Some(vec![5]));
        assert_eq!(slice_ends(&[1], &[3], &fixed(&[0])), None);
    }
}
