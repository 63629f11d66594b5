//! Vectorised loops over a range.

use mind_vir::ir::{Addr, Builder, IndexOp, Lane, LoopKind, Value};

/// The elements of a vector.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The index of the iteration.
    pub index: Value,
    /// Offset of the first lane from that index.
    pub ahead: u32,
    /// The number of active lanes; `None` if all are active.
    pub count: Option<Value>,
}

impl At {
    /// Returns the address of these elements in the array of `lane` at `base`.
    pub fn addr(&self, base: Value, lane: Lane) -> Addr {
        let ahead = self.ahead * lane.bytes();
        Addr::element(base, self.index, lane).plus(ahead as i32)
    }

    /// Returns the address of the first element in an array of `lane` with a stride of `stride` at `base`.
    pub fn strided(&self, b: &mut Builder, base: Value, lane: Lane, stride: i64) -> Addr {
        let mut place = self.index;
        if self.ahead > 0 {
            let ahead = b.index(self.ahead.into());
            place = b.index_op(IndexOp::Add, place, ahead);
        }
        let stride = b.index(stride);
        let place = b.index_op(IndexOp::Mul, place, stride);
        Addr::element(base, place, lane)
    }
}

/// Appends `body` for the elements `0..extent`, each once.
///
/// A main loop handles `unroll` vectors per iteration, followed by a loop over single vectors and a masked tail. `body`
/// is called once for each copy of the code.
///
/// # Panics
///
/// Panics if `unroll` is 0.
pub fn for_each(
    b: &mut Builder,
    extent: Value,
    unroll: u32,
    mut body: impl FnMut(&mut Builder, At),
) {
    assert!(unroll > 0, "at least one vector in a round");
    let lanes = b.lanes();
    let mut start = b.index(0);
    let mut whole = |b: &mut Builder, start: Value, vectors: u32| {
        let step = i64::from(vectors * lanes);
        let (last, _) = b.repeat(LoopKind::Whole, (start, extent), step, &[], |b, round| {
            for vector in 0..vectors {
                let at = At {
                    index: round.index,
                    ahead: vector * lanes,
                    count: None,
                };
                body(b, at);
            }
            Vec::new()
        });
        last
    };
    if unroll > 1 {
        start = whole(b, start, unroll);
    }
    start = whole(b, start, 1);
    b.repeat(
        LoopKind::Rest,
        (start, extent),
        lanes.into(),
        &[],
        |b, round| {
            let count = b.index_op(IndexOp::Sub, extent, round.index);
            let at = At {
                index: round.index,
                ahead: 0,
                count: Some(count),
            };
            body(b, at);
            Vec::new()
        },
    );
}

/// Returns the unroll factor, at most `most`, for which [`covering`] takes the least time for `places` elements, if a
/// vector takes `weight` times the loop overhead. Returns 0 if there are fewer elements than lanes.
pub fn vectors_of_round(places: usize, lanes: usize, most: usize, weight: usize) -> usize {
    let cost = |vectors: &usize| places.div_ceil(vectors * lanes) * (vectors * weight + 1);
    (1..=most.min(places / lanes)).min_by_key(cost).unwrap_or(0)
}

/// Appends a loop over `from..to` with `width` elements per iteration; `body` gets the first element of an iteration.
/// The last iteration overlaps the one before instead of having a tail, so that one copy of the body suffices. It may
/// compute some elements twice, and must then compute the same result.
///
/// # Panics
///
/// Panics if there are fewer elements than `width`.
pub fn covering(
    b: &mut Builder,
    (from, to): (usize, usize),
    width: usize,
    body: impl FnOnce(&mut Builder, Value),
) {
    assert!(to - from >= width, "a whole round");
    let [start, end, last] = [from, to, to - width].map(|place| b.index(place as i64));
    b.repeat(
        LoopKind::Rest,
        (start, end),
        width as i64,
        &[],
        |b, round| {
            let first = if (to - from).is_multiple_of(width) {
                round.index
            } else {
                b.index_op(IndexOp::Min, round.index, last)
            };
            body(b, first);
            Vec::new()
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_covered_by_the_fewest_vectors() {
        let vectors = |places: usize| vectors_of_round(places, 16, 4, 8);
        let whole = [1, 2, 3, 5, 6, 7, 8, 9].map(|whole| vectors(16 * whole));
        assert_eq!(whole, [1, 2, 3, 1, 3, 1, 4, 3]);
        assert_eq!([0, 8, 24, 40, 88, 120].map(vectors), [0, 0, 1, 1, 3, 4]);
        // With loop overhead, fewer iterations are better.
        let places = [80, 112, 200, 400];
        let vectors = places.map(|places| vectors_of_round(places, 16, 8, 1));
        assert_eq!(vectors, [5, 7, 7, 5]);
    }
}
