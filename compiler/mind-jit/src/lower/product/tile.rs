//! The micro-kernel: a tile of accumulators that stay in registers.

use mind_core::parts::Parts;
use mind_ir::types::DType;

use crate::lower::scalar::{compute_lane, storage_lane, widen};
use mind_vir::ir::{Addr, BinaryOp, Builder, LoopKind, Value};

use super::layout::accumulator;
use super::operands::beyond;
use crate::lower::transpose::columns_of;

/// Bytes of a cache line.
const LINE: i64 = 64;

/// A walk through an operand: bytes from one place to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Type of an element.
    pub dtype: DType,
    /// From one row of the tile to the next, of the first operand.
    pub row: i64,
    /// From one term to the next.
    pub k: i64,
    /// From one segment to the next, of the first operand. The second one goes straight on.
    pub segment: i64,
}

/// Where a vector of the second operand is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Strip {
    /// Consecutive elements, these bytes after the term.
    Load { offset: i64, count: Option<u32> },
    /// Elements of as many columns, `stride` bytes apart; the terms of each are adjacent.
    Turned {
        offset: i64,
        count: u32,
        stride: i64,
    },
}

/// What a tile asks for before it is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ahead {
    Nothing,
    /// The lines from where this points to on, one in each round of a loop. For one segment.
    Lines(Value),
    /// The second operand, this many bytes ahead of what is read.
    Own(i64),
}

/// What a tile multiplies: `segments` times `length` terms.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// Type of an accumulator, which also says how to multiply and add.
    pub dtype: DType,
    /// The integers that elements hold.
    pub parts: Parts,
    pub rows: u32,
    pub strips: Vec<Strip>,
    pub segments: usize,
    pub length: usize,
    pub unroll: u32,
    pub ahead: Ahead,
    pub lhs: Walk,
    pub rhs: Walk,
}

impl Tile {
    /// `sum` with the product of `x` and `y`.
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

/// Appends the chains of a tile, on from `sums`, and gives the accumulators, row by row.
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

/// Appends the terms of one segment; gives where the second operand goes on, and the accumulators.
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
            Ahead::Lines(from) => Some(from),
            Ahead::Nothing | Ahead::Own(_) => None,
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
                let ahead = ahead.iter().map(|&ahead| ask(b, ahead));
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

/// Asks for the line at a pointer, and gives a pointer to the next one.
fn ask(b: &mut Builder, ahead: Value) -> Value {
    b.prefetch(Addr::at(ahead));
    let next = beyond(b, ahead, LINE);
    b.address(next)
}

/// Asks for what is `bytes` bytes ahead of each cache line of a term.
fn ask_ahead(b: &mut Builder, tile: &Tile, rhs: Value, term: i64, bytes: i64) {
    for strip in &tile.strips {
        if let Strip::Load { offset, .. } = strip
            && (offset + term * tile.rhs.k) % LINE == 0
        {
            let addr = beyond(b, rhs, offset + term * tile.rhs.k + bytes);
            b.prefetch(addr);
        }
    }
}

/// The operands' pointers `count` terms further on.
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
    if matches!(tile.strips[0], Strip::Turned { .. }) {
        return turned_terms(b, tile, count, lhs, rhs, sums);
    }
    for term in 0..count as i64 {
        if let Ahead::Own(bytes) = tile.ahead {
            ask_ahead(b, tile, rhs, term, bytes);
        }
        // The operand with fewer registers is kept; the other one is streamed.
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

/// Appends `count` terms of every chain, from columns whose terms are adjacent.
///
/// Squares of columns and terms are loaded along the terms and transposed in registers.
fn turned_terms(
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
            let turned = columns_of(b, square);
            for (term, &y) in (first as i64..).zip(&turned[..terms]) {
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

/// Consecutive terms of the columns of a strip, a vector each, and zeros where there is no column.
fn columns(
    b: &mut Builder,
    tile: &Tile,
    strip: &Strip,
    rhs: Value,
    (first, terms): (i64, usize),
) -> Vec<Value> {
    let Strip::Turned {
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

/// An element of the first operand, in every lane.
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
                // One element costs less in every lane than in one.
                Some(1) => b.load_splat(lane, addr),
                Some(count) => {
                    let count = b.index(count.into());
                    b.load(lane, addr, Some(count))
                }
                None => b.load(lane, addr, None),
            }
        }
        Strip::Turned { .. } => unreachable!("squares of columns are turned as a whole"),
    };
    widen(b, walk.dtype, y)
}

/// Elements of `dtype` as accumulators of `sum`, which they may be already.
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
