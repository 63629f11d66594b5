//! Vectorised traversals of a row.

use crate::lower::{At, for_each};
use mind_vir::ir::{Builder, LoopKind, Value};

/// The number of elements of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// A constant.
    Known(usize),
    /// The value of an index.
    Given(Value),
}

/// Appends `body` for each element of a row, unrolled to `unroll` vectors per iteration.
pub(super) fn map(
    b: &mut Builder,
    extent: Extent,
    unroll: u32,
    mut body: impl FnMut(&mut Builder, At),
) {
    let inner = match extent {
        Extent::Given(extent) => return for_each(b, extent, unroll, body),
        Extent::Known(inner) => inner,
    };
    let lanes = b.lanes();
    let (mut index, mut done) = (b.index(0), 0);
    for vectors in [unroll, 1] {
        let step = (lanes * vectors) as usize;
        let end = inner / step * step;
        if end == done {
            continue;
        }
        let bounds = (index, b.index(end as i64));
        (index, _) = b.repeat(LoopKind::Whole, bounds, step as i64, &[], |b, round| {
            b.interleaved(vectors, |b, vector| {
                let at = At {
                    index: round.index,
                    ahead: vector * lanes,
                    count: None,
                };
                body(b, at);
            });
            Vec::new()
        });
        done = end;
    }
    if inner > done {
        let at = At {
            index,
            ahead: 0,
            count: Some(b.index((inner - done) as i64)),
        };
        body(b, at);
    }
}

/// Appends `body` for each of `inner` elements, unrolled to `vectors` vectors per iteration, and returns the
/// loop-carried values.
///
/// `body` gets the number of its vector within the iteration.
pub(super) fn carry(
    b: &mut Builder,
    inner: usize,
    vectors: u32,
    inits: &[Value],
    mut body: impl FnMut(&mut Builder, At, u32, &mut [Value]),
) -> Vec<Value> {
    let lanes = b.lanes();
    let round = (lanes * vectors) as usize;
    let (mut index, mut carried) = (b.index(0), inits.to_vec());
    let mut whole = |b: &mut Builder, index: Value, count: u32, carried: &mut [Value]| {
        for vector in 0..count {
            let at = At {
                index,
                ahead: vector * lanes,
                count: None,
            };
            body(b, at, vector, carried);
        }
    };
    let end = inner / round * round;
    if end > 0 {
        let bounds = (index, b.index(end as i64));
        (index, carried) = b.repeat(LoopKind::Whole, bounds, round as i64, inits, |b, turn| {
            let mut carried = turn.carried.to_vec();
            whole(b, turn.index, vectors, &mut carried);
            carried
        });
    }
    let full = (inner - end) as u32 / lanes;
    whole(b, index, full, &mut carried);
    let left = inner % lanes as usize;
    if left > 0 {
        let at = At {
            index,
            ahead: full * lanes,
            count: Some(b.index(left as i64)),
        };
        body(b, at, full, &mut carried);
    }
    carried
}
