//! Loops over the blocks and tiles of a range.

use mind_vir::ir::{Builder, IndexOp, LoopKind, Value};

/// Calls `body` with subranges of `size` indices, the last one shorter, that partition `range`.
pub(super) fn in_blocks(
    b: &mut Builder,
    range: (Value, Value),
    size: usize,
    body: impl FnOnce(&mut Builder, (Value, Value)),
) {
    b.repeat(LoopKind::Rest, range, size as i64, &[], |b, round| {
        let size = b.index(size as i64);
        let end = b.index_op(IndexOp::Add, round.index, size);
        let end = b.index_op(IndexOp::Min, end, range.1);
        body(b, (round.index, end));
        Vec::new()
    });
}

/// Appends loops over the tiles of `first..end`, part of a dimension of `extent` rows or columns: tiles of `size`,
/// followed by an edge tile. `body` gets the start and the size of a tile; it is called once for each size.
pub(super) fn in_tiles(
    b: &mut Builder,
    (extent, size): (usize, usize),
    (first, end): (Value, Value),
    body: &mut dyn FnMut(&mut Builder, (Value, usize)),
) {
    let (mut rest, step) = (first, size as i64);
    if extent >= size {
        (rest, _) = b.repeat(LoopKind::Whole, (first, end), step, &[], |b, round| {
            body(b, (round.index, size));
            Vec::new()
        });
    }
    let tail = extent % size;
    if tail > 0 {
        b.repeat(LoopKind::Rest, (rest, end), step, &[], |b, round| {
            body(b, (round.index, tail));
            Vec::new()
        });
    }
}
