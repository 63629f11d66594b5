//! The micro-kernel: a register tile of accumulators.

use mind_core::parts::Parts;
use mind_ir::types::DType;

use crate::lower::scalar::{compute_lane, storage_lane, widen};
use mind_vir::ir::{Addr, BinaryOp, Builder, LoopKind, Value};

use super::layout::accumulator;
use super::operands::beyond;
use crate::lower::transpose::columns_of;

/// Size of a cache line.
const LINE: i64 = 64;

/// The strides of a tile's loop through an operand, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Type of an element.
    pub dtype: DType,
    /// Row stride of the first operand.
    pub row: i64,
    /// Stride along the contracted dimension.
    pub k: i64,
    /// Segment stride of the first operand. Segments of the second operand are contiguous.
    pub segment: i64,
}

/// The access of a vector of the second operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Strip {
    /// A contiguous load at this offset from the term.
    Load { offset: i64, count: Option<u32> },
    /// Columns at a stride of `stride` bytes; the terms of each are contiguous.
    Transposed {
        offset: i64,
        count: u32,
        stride: i64,
    },
}

/// The data that a tile prefetches.
#[derive(Clone, Copy, Debug)]
pub(super) enum Prefetch {
    Nothing,
    /// The lines from this pointer, one per iteration. Only for one segment.
    Lines(Value),
    /// The second operand, at this distance in bytes.
    Own(i64),
}

/// A tile whose contracted dimension has `segments` segments of `length` terms.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// The accumulator type, which selects the multiply-add.
    pub dtype: DType,
    /// The integers packed in an element.
    pub parts: Parts,
    pub rows: u32,
    pub strips: Vec<Strip>,
    pub segments: usize,
    pub length: usize,
    pub unroll: u32,
    pub ahead: Prefetch,
    pub lhs: Walk,
    pub rhs: Walk,
}

impl Tile {
    /// Returns `sum` plus the product of `x` and `y`.
    fn add_product(&self, b: &mut Builder, x: Value, y: Value, sum: Value) -> Value {
        match self.parts {
            Parts::Whole => multiply_add(b, self.dtype, x, y, sum),
            Parts::Halves => {
                let product = b.binary(BinaryOp::MulHalves, x, y);
                b.binary(BinaryOp::Add, sum, product)
            }
            Parts::UnsignedBySigned => b.dot_bytes(x, y, sum),
            Parts::SignedByUnsigned => b.dot_bytes(y, x, sum),
        }
    }
}

/// Appends the chains of a tile, starting from `sums`, and returns the accumulators, row by row.
///
/// `lhs` points to the first term of the first row, `rhs` to the first term of the first column.
pub(super) fn chains(
    b: &mut Builder,
    tile: &Tile,
    lhs: Value,
    rhs: Value,
    sums: Vec<Value>,
) -> Vec<Value> {
    if tile.segments == 1 {
        return segment(b, tile, lhs, rhs, sums).1;
    }
    let bounds = (b.index(0), b.index(tile.segments as i64));
    let inits = [vec![lhs, rhs], sums].concat();
    let (_, left) = b.repeat(LoopKind::Whole, bounds, 1, &inits, |b, round| {
        let (lhs, rhs) = (round.carried[0], round.carried[1]);
        let (rhs, sums) = segment(b, tile, lhs, rhs, round.carried[2..].to_vec());
        let next = beyond(b, lhs, tile.lhs.segment);
        let next = b.address(next);
        [vec![next, rhs], sums].concat()
    });
    left[2..].to_vec()
}

/// Appends the terms of one segment; returns the next address of the second operand, and the accumulators.
fn segment(
    b: &mut Builder,
    tile: &Tile,
    mut lhs: Value,
    mut rhs: Value,
    mut sums: Vec<Value>,
) -> (Value, Vec<Value>) {
    let unroll = tile.unroll as usize;
    let (rounds, rest) = (tile.length / unroll, tile.length % unroll);
    if rounds > 1 {
        let bounds = (b.index(0), b.index((rounds * unroll) as i64));
        let ahead = match tile.ahead {
            Prefetch::Lines(from) => Some(from),
            Prefetch::Nothing | Prefetch::Own(_) => None,
        };
        let (count, ahead) = (sums.len(), ahead.as_slice());
        let inits = [&[lhs, rhs], &sums[..], ahead].concat();
        let (_, left) = b.repeat(
            LoopKind::Whole,
            bounds,
            unroll as i64,
            &inits,
            |b, round| {
                let (lhs, rhs) = (round.carried[0], round.carried[1]);
                let (sums, ahead) = round.carried[2..].split_at(count);
                let sums = terms(b, tile, unroll, lhs, rhs, sums.to_vec());
                let ahead = ahead.iter().map(|&ahead| prefetch_line(b, ahead));
                let ahead: Vec<Value> = ahead.collect();
                let (lhs, rhs) = advance(b, tile, unroll, lhs, rhs);
                [&[lhs, rhs], &sums[..], &ahead].concat()
            },
        );
        (lhs, rhs) = (left[0], left[1]);
        sums = left[2..2 + count].to_vec();
    }
    let straight = if rounds > 1 { rest } else { tile.length };
    sums = terms(b, tile, straight, lhs, rhs, sums);
    if tile.segments > 1 {
        (_, rhs) = advance(b, tile, straight, lhs, rhs);
    }
    (rhs, sums)
}

/// Prefetches the line at a pointer, and returns a pointer to the next one.
fn prefetch_line(b: &mut Builder, ahead: Value) -> Value {
    b.prefetch(Addr::at(ahead));
    let next = beyond(b, ahead, LINE);
    b.address(next)
}

/// Prefetches each cache line of a term, `bytes` bytes ahead.
fn prefetch_term(b: &mut Builder, tile: &Tile, rhs: Value, term: i64, bytes: i64) {
    for strip in &tile.strips {
        if let Strip::Load { offset, .. } = strip
            && (offset + term * tile.rhs.k) % LINE == 0
        {
            let addr = beyond(b, rhs, offset + term * tile.rhs.k + bytes);
            b.prefetch(addr);
        }
    }
}

/// Returns the operands' pointers, advanced by `count` terms.
fn advance(b: &mut Builder, tile: &Tile, count: usize, lhs: Value, rhs: Value) -> (Value, Value) {
    let count = count as i64;
    let [lhs, rhs] = [(lhs, tile.lhs.k), (rhs, tile.rhs.k)].map(|(from, step)| {
        let next = beyond(b, from, count * step);
        b.address(next)
    });
    (lhs, rhs)
}

/// Appends `count` terms of every chain.
fn terms(
    b: &mut Builder,
    tile: &Tile,
    count: usize,
    lhs: Value,
    rhs: Value,
    mut sums: Vec<Value>,
) -> Vec<Value> {
    let vectors = tile.strips.len();
    if matches!(tile.strips[0], Strip::Transposed { .. }) {
        return transposed_terms(b, tile, count, lhs, rhs, sums);
    }
    for term in 0..count as i64 {
        if let Prefetch::Own(bytes) = tile.ahead {
            prefetch_term(b, tile, rhs, term, bytes);
        }
        // The operand with fewer registers is kept in registers; the other one is streamed.
        if vectors <= tile.rows as usize {
            let strips: Vec<Value> = (0..vectors)
                .map(|at| strip(b, tile, rhs, term, at))
                .collect();
            for (row, sums) in (0..).zip(sums.chunks_mut(vectors)) {
                let x = factor(b, tile, lhs, term, row);
                for (sum, &y) in sums.iter_mut().zip(&strips) {
                    *sum = tile.add_product(b, x, y, *sum);
                }
            }
        } else {
            let factors: Vec<Value> = (0..tile.rows)
                .map(|row| factor(b, tile, lhs, term, row))
                .collect();
            for at in 0..vectors {
                let y = strip(b, tile, rhs, term, at);
                for (row, &x) in factors.iter().enumerate() {
                    let sum = &mut sums[row * vectors + at];
                    *sum = tile.add_product(b, x, y, *sum);
                }
            }
        }
    }
    sums
}

/// Appends `count` terms of every chain, for contiguous columns.
///
/// Tiles of columns and terms are loaded along the terms and transposed in registers.
fn transposed_terms(
    b: &mut Builder,
    tile: &Tile,
    count: usize,
    lhs: Value,
    rhs: Value,
    mut sums: Vec<Value>,
) -> Vec<Value> {
    let (vectors, lanes) = (tile.strips.len(), b.lanes() as usize);
    for first in (0..count).step_by(lanes) {
        let terms = (count - first).min(lanes);
        for (at, strip) in tile.strips.iter().enumerate() {
            let square = columns(b, tile, strip, rhs, (first as i64, terms));
            let transposed = columns_of(b, square);
            for (term, &y) in (first as i64..).zip(&transposed[..terms]) {
                let y = widened(b, tile.rhs.dtype, tile.dtype, y);
                for row in 0..tile.rows {
                    let x = factor(b, tile, lhs, term, row);
                    let sum = &mut sums[row as usize * vectors + at];
                    *sum = tile.add_product(b, x, y, *sum);
                }
            }
        }
    }
    sums
}

/// Returns consecutive terms of the columns of a strip, one vector each, with zeros for missing columns.
fn columns(
    b: &mut Builder,
    tile: &Tile,
    strip: &Strip,
    rhs: Value,
    (first, terms): (i64, usize),
) -> Vec<Value> {
    let Strip::Transposed {
        offset,
        count,
        stride,
    } = *strip
    else {
        unreachable!("strips of a tile are all of a kind");
    };
    let (walk, lanes) = (&tile.rhs, b.lanes());
    let lane = storage_lane(walk.dtype);
    let present = (terms < lanes as usize).then(|| b.index(terms as i64));
    let columns = (0..lanes).map(|column| {
        if column >= count {
            return b.constant(lane, 0);
        }
        let addr = beyond(b, rhs, offset + i64::from(column) * stride + first * walk.k);
        b.load(lane, addr, present)
    });
    columns.collect()
}

/// Broadcasts an element of the first operand.
pub(super) fn factor(b: &mut Builder, tile: &Tile, lhs: Value, term: i64, row: u32) -> Value {
    let walk = &tile.lhs;
    let addr = beyond(b, lhs, i64::from(row) * walk.row + term * walk.k);
    let x = b.load_splat(storage_lane(walk.dtype), addr);
    widened(b, walk.dtype, tile.dtype, x)
}

/// A vector of the second operand, widened.
fn strip(b: &mut Builder, tile: &Tile, rhs: Value, term: i64, at: usize) -> Value {
    debug_assert_eq!(compute_lane(tile.rhs.dtype), compute_lane(tile.dtype));
    load_strip(b, &tile.rhs, tile.strips[at], rhs, term)
}

/// A term of a vector of the second operand, widened.
pub(super) fn load_strip(
    b: &mut Builder,
    walk: &Walk,
    strip: Strip,
    rhs: Value,
    term: i64,
) -> Value {
    let lane = storage_lane(walk.dtype);
    let y = match strip {
        Strip::Load { offset, count } => {
            let addr = beyond(b, rhs, offset + term * walk.k);
            match count {
                // A broadcast is cheaper than loading a single lane.
                Some(1) => b.load_splat(lane, addr),
                Some(count) => {
                    let count = b.index(count.into());
                    b.load(lane, addr, Some(count))
                }
                None => b.load(lane, addr, None),
            }
        }
        Strip::Transposed { .. } => unreachable!("squares of columns are transposed as a whole"),
    };
    widen(b, walk.dtype, y)
}

/// Widens elements of `dtype` to accumulators of `sum`, if they differ.
fn widened(b: &mut Builder, dtype: DType, sum: DType, x: Value) -> Value {
    debug_assert_eq!(compute_lane(dtype), compute_lane(sum), "one accumulator");
    widen(b, dtype, x)
}

/// `x * y + sum` in the accumulator of `dtype`: floats fused, integers wrapping.
pub(in crate::lower) fn multiply_add(
    b: &mut Builder,
    dtype: DType,
    x: Value,
    y: Value,
    sum: Value,
) -> Value {
    if accumulator(dtype).is_float() {
        return b.fma(x, y, sum);
    }
    let product = b.binary(BinaryOp::Mul, x, y);
    b.binary(BinaryOp::Add, sum, product)
}
