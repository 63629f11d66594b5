//! Epilogues of tiles.

use crate::lower::each::At;
use mind_vir::ir::{Addr, Builder, IndexOp, Lane, LoopKind, Value};

use super::operands::TileCoord;

/// The epilogue of a complete vector of the result.
pub type Finish<'f> = dyn FnMut(&mut Builder, TileCoord, Value) + 'f;

/// Returns the columns of a vector of a tile of `width` columns from `column`.
fn columns_of(b: &mut Builder, (column, width): (Value, usize), vector: usize) -> At {
    let lanes = b.lanes() as usize;
    let ahead = vector * lanes;
    let left = width - ahead;
    At {
        index: column,
        ahead: ahead as u32,
        count: (left < lanes).then(|| b.index(left as i64)),
    }
}

/// Vectors whose epilogues are interleaved if they are staged.
const AT_ONCE: usize = 2;

/// Applies the epilogue to the tile at a row and a column, of `width` columns, row by row.
///
/// With a `room`, vectors are staged in scratch memory first and the epilogue runs in a loop over the rows, two vectors
/// at a time, because it then has all registers to itself.
pub(super) fn finish_tile(
    b: &mut Builder,
    (row, column): (Value, Value),
    width: usize,
    sums: &[Value],
    room: Option<Value>,
    finish: &mut Finish<'_>,
) {
    let lanes = b.lanes() as usize;
    let vectors = width.div_ceil(lanes);
    let Some(room) = room else {
        for (place, &sum) in sums.iter().enumerate() {
            let column = columns_of(b, (column, width), place % vectors);
            let below = (place / vectors) as u32;
            finish(b, TileCoord { row, below, column }, sum);
        }
        return;
    };
    let Some(lane) = sums.first().map(|&sum| b.lane(sum)) else {
        return;
    };
    let bytes = lanes * lane.bytes() as usize;
    for (place, &sum) in sums.iter().enumerate() {
        b.store(sum, Addr::at(room).plus((place * bytes) as i32), None);
    }
    finish_rows(
        b,
        (row, column),
        (sums.len() / vectors, width),
        (lane, room),
        finish,
    );
}

/// Applies the epilogue to `rows` rows of `width` columns, at a row and a column, that are staged contiguously in
/// `room`: in a loop over the rows, two vectors at a time.
pub(super) fn finish_rows(
    b: &mut Builder,
    (row, column): (Value, Value),
    (rows, width): (usize, usize),
    (lane, room): (Lane, Value),
    finish: &mut Finish<'_>,
) {
    let lanes = b.lanes() as usize;
    let (vectors, bytes) = (width.div_ceil(lanes), lanes * lane.bytes() as usize);
    let bounds = (b.index(0), b.index(rows as i64));
    b.repeat(LoopKind::Whole, bounds, 1, &[room], |b, round| {
        let row = b.index_op(IndexOp::Add, row, round.index);
        let from = round.carried[0];
        for first in (0..vectors).step_by(AT_ONCE) {
            let count = (vectors - first).min(AT_ONCE);
            b.interleaved(count as u32, |b, piece| {
                let vector = first + piece as usize;
                let addr = Addr::at(from).plus((vector * bytes) as i32);
                let sum = b.load(lane, addr, None);
                let column = columns_of(b, (column, width), vector);
                let below = 0;
                finish(b, TileCoord { row, below, column }, sum);
            });
        }
        vec![b.address(Addr::at(from).plus((vectors * bytes) as i32))]
    });
}
