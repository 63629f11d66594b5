//! Random shapes.

use mind_ir::types::{Dim, Shape, TypeView};

use crate::rng::Rng;

/// The maximal number of elements of a drawn value: enough to show the order of a sum, and fast to run.
pub(crate) const MAX_ELEMENTS: i64 = 4096;
const EXTENTS: &[i64] = &[1, 1, 2, 3, 4, 5, 7, 8];
const MAX_RANK: usize = 4;

/// Returns the extents of `ty` if all are known and it is small enough for other ops.
pub(crate) fn small(ty: TypeView<'_>) -> Option<Vec<i64>> {
    let count = ty.count()?;
    (count <= MAX_ELEMENTS).then(|| ty.static_shape()).flatten()
}

/// Draws a static shape, in which one extent may be large.
pub(crate) fn draw(rng: &mut Rng) -> Shape {
    let rank = rng.below(MAX_RANK + 1);
    let mut shape: Shape = (0..rank).map(|_| Dim::Fixed(rng.pick(EXTENTS))).collect();
    if rank > 0 && rng.once_in(8) {
        shape.truncate(2);
        let last = shape.len() - 1;
        shape[last] = Dim::Fixed(rng.pick(&[64, 65, 130]));
    }
    if rank > 0 && rng.once_in(16) {
        let at = rng.below(shape.len());
        shape[at] = Dim::Fixed(0);
    }
    shape
}

/// Draws a shape that broadcasts with `shape`: leading dimensions are dropped, others become 1.
pub(crate) fn partner(rng: &mut Rng, shape: &[Dim]) -> Shape {
    if rng.once_in(2) {
        return shape.into();
    }
    let dropped = rng.below(shape.len() + 1);
    let kept = shape[dropped..]
        .iter()
        .map(|&dim| if rng.once_in(3) { Dim::Fixed(1) } else { dim });
    kept.collect()
}

/// Draws some axes of `rank` in order, possibly none.
pub(crate) fn axes(rng: &mut Rng, rank: usize) -> Vec<i64> {
    (0..rank as i64).filter(|_| rng.once_in(2)).collect()
}

/// Draws another shape with the same number of elements: neighbours are merged, extents split, ones added.
pub(crate) fn regrouped(rng: &mut Rng, shape: &[i64]) -> Vec<i64> {
    let mut target: Vec<i64> = Vec::new();
    for &extent in shape {
        match target.last_mut() {
            Some(last) if rng.once_in(2) => *last *= extent,
            _ => target.push(extent),
        }
    }
    if let Some(at) = target
        .iter()
        .position(|&extent| extent > 2 && extent % 2 == 0)
        && rng.once_in(2)
    {
        target[at] /= 2;
        target.insert(at, 2);
    }
    if target.len() < MAX_RANK && rng.once_in(3) {
        target.insert(rng.below(target.len() + 1), 1);
    }
    target
}
