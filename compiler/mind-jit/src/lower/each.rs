//! Loops over a range by vectors.

use mind_vir::ir::{Addr, Builder, IndexOp, Lane, LoopKind, Value};

/// The elements that one vector stands for.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The index of a round.
    pub index: Value,
    /// Elements between that index and the first lane.
    pub ahead: u32,
    /// How many lanes hold elements, where not all do.
    pub count: Option<Value>,
}

impl At {
    /// Where these elements are, of those of type `lane` at `base`.
    pub fn addr(&self, base: Value, lane: Lane) -> Addr {
        let ahead = self.ahead * lane.bytes();
        Addr::element(base, self.index, lane).plus(ahead as i32)
    }

    /// Where the first of them is, of elements of type `lane` that lie `stride` apart from `base` on.
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

/// Appends `body` so that it runs for the elements `0..extent`, each once.
///
/// `unroll` vectors make a round; then come single vectors; then the rest, with a count. `body` is called for
/// each place that code is needed for.
///
/// # Panics
///
/// If `unroll` is 0.
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

/// The number of vectors per round, `most` at most, for which [`covering`] `places` takes the least time, if a vector takes
/// `weight` times as long as the overhead of a round. Returns 0 if there are fewer places than lanes.
pub fn vectors_of_round(places: usize, lanes: usize, most: usize, weight: usize) -> usize {
    let cost = |vectors: &usize| places.div_ceil(vectors * lanes) * (vectors * weight + 1);
    (1..=most.min(places / lanes)).min_by_key(cost).unwrap_or(0)
}

/// Appends a loop over the places `from..to` in rounds of `width`; `body` is given the first place of a round. The last round
/// starts early enough to end with the last place, so one body serves all. It may compute some places a second time, and must
/// give the same result then.
///
/// # Panics
///
/// If there are fewer places than `width`.
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
        // Where rounds have overhead, fewer are better.
        let places = [80, 112, 200, 400];
        let vectors = places.map(|places| vectors_of_round(places, 16, 8, 1));
        assert_eq!(vectors, [5, 7, 7, 5]);
    }
}
