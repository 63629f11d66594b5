//! Handing over the complete vectors of a tile.

use crate::lower::each::At;
use crate::vir::{Builder, Value};

use super::operands::Spot;

/// What is done with a complete vector of the result.
pub type Finish<'f> = dyn FnMut(&mut Builder, Spot, Value) + 'f;

/// Hands over the vectors of the tile at a row and a column, of `width` columns, row by row.
pub(super) fn finish_tile(
    b: &mut Builder,
    (row, column): (Value, Value),
    width: usize,
    sums: &[Value],
    finish: &mut Finish<'_>,
) {
    let lanes = b.lanes() as usize;
    let vectors = width.div_ceil(lanes);
    for (below, sums) in (0..).zip(sums.chunks(vectors)) {
        for (vector, &sum) in sums.iter().enumerate() {
            let ahead = vector * lanes;
            let left = width - ahead;
            let count = (left < lanes).then(|| b.index(left as i64));
            let column = At {
                index: column,
                ahead: ahead as u32,
                count,
            };
            finish(b, Spot { row, below, column }, sum);
        }
    }
}
