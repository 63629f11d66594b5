//! Walks along a row by vectors.

use crate::lower::{At, for_each};
use crate::vir::{Builder, LoopKind, Value};

/// How many elements a row has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// As many in every row.
    Known(usize),
    /// As many as an index says.
    Given(Value),
}

/// Appends `body` so that it runs for each element of a row once, in rounds of `unroll` vectors.
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
    let walk = |b: &mut Builder, at: At, _: u32, _: &mut [Value]| body(b, at);
    carry(b, inner, unroll, &[], walk);
}

/// Appends `body` so that it runs for each of `inner` elements once, in rounds of `vectors` vectors, and
/// gives what it leaves in the values carried from one to the next.
///
/// `body` is told which vector of its round it works on.
pub(super) fn carry(
    b: &mut Builder,
    inner: usize,
    vectors: u32,
    inits: &[Value],
    mut body: impl FnMut(&mut Builder, At, u32, &mut [Value]),
) -> Vec<Value> {
    let lanes = b.lanes() as usize;
    let round = lanes * vectors as usize;
    let (rounds, rest) = (inner / round, inner % round);
    let start = b.index(0);
    let (mut index, mut carried) = (start, inits.to_vec());
    let mut whole = |b: &mut Builder, index: Value, count: usize, carried: &mut [Value]| {
        for vector in 0..count as u32 {
            let at = At {
                index,
                ahead: vector * lanes as u32,
                count: None,
            };
            body(b, at, vector, carried);
        }
    };
    if rounds > 0 {
        let end = b.index((rounds * round) as i64);
        let bounds = (start, end);
        (index, carried) = b.repeat(LoopKind::Whole, bounds, round as i64, inits, |b, turn| {
            let mut carried = turn.carried.to_vec();
            whole(b, turn.index, vectors as usize, &mut carried);
            carried
        });
    }
    let full = rest / lanes;
    if carried.is_empty() && full > 1 {
        let end = b.index((inner / lanes * lanes) as i64);
        (index, _) = b.repeat(
            LoopKind::Whole,
            (index, end),
            lanes as i64,
            &[],
            |b, turn| {
                whole(b, turn.index, 1, &mut []);
                Vec::new()
            },
        );
    } else {
        whole(b, index, full, &mut carried);
    }
    let behind = if carried.is_empty() && full > 1 {
        0
    } else {
        full as u32
    };
    if rest % lanes > 0 {
        let count = b.index((rest % lanes) as i64);
        let at = At {
            index,
            ahead: behind * lanes as u32,
            count: Some(count),
        };
        body(b, at, full as u32, &mut carried);
    }
    carried
}
