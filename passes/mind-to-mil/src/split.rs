//! Merges slices along one axis to a split.

use mind_core::ops::index::Slice;
use mind_core::ops::join::Split;
use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use mind_mil::ops::tensor::SPLIT;

use crate::found::{Found, Given};
use crate::shapes::shape;

/// Maximum number of pieces of one op.
const MOST_PIECES: usize = 64;

/// A slice along one axis.
#[derive(Clone, Copy, Debug)]
struct Piece {
    op: OpId,
    axis: usize,
    start: i64,
    end: i64,
}

/// Returns the ops that slice the operand of `op` along the same axis, in the order of the pieces, and one op for all
/// of them.
pub(crate) fn found(g: &Graph, op: OpId) -> Option<(Vec<OpId>, Found)> {
    let own = piece(g, op)?;
    let x = g.operands(op)[0];
    let extent = shape(g, x)?[own.axis];
    let mut pieces = pieces(g, x, own)?;
    pieces.sort_by_key(|piece| piece.start);
    pieces.dedup_by_key(|piece| (piece.start, piece.end));
    let mut end = 0;
    for piece in &pieces {
        (piece.start == end && piece.end > end).then_some(())?;
        end = piece.end;
    }
    (end == extent && pieces.len() > 1).then_some(())?;
    let mut found = Found::new(&SPLIT);
    found.operand("x", x);
    let sizes = pieces.iter().map(|piece| piece.end - piece.start);
    found.give("split_sizes", Given::Ints(sizes.collect()));
    found.give("axis", Given::Int(own.axis as i64));
    Some((pieces.iter().map(|piece| piece.op).collect(), found))
}

/// Returns the pieces of `x` along the axis of `own` in the same block; `None` if there are too many.
fn pieces(g: &Graph, x: ValueId, own: Piece) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for (user, _) in g.uses(x) {
        let piece = piece(g, user).filter(|piece| piece.axis == own.axis);
        let Some(piece) = piece.filter(|_| g.parent(user) == g.parent(own.op)) else {
            continue;
        };
        (pieces.len() < MOST_PIECES).then(|| pieces.push(piece))?;
    }
    Some(pieces)
}

/// Returns the slice that an op takes along one axis.
fn piece(g: &Graph, op: OpId) -> Option<Piece> {
    let extents = shape(g, *g.operands(op).first()?)?;
    if let Some(split) = g.view::<Split>(op) {
        let axis = split.axis(g).rem_euclid(extents.len() as i64) as usize;
        let size = extents[axis] / split.count(g).max(1);
        let (start, end) = (split.part(g) * size, (split.part(g) + 1) * size);
        return Some(Piece {
            op,
            axis,
            start,
            end,
        });
    }
    let slice = g.view::<Slice>(op)?;
    let (starts, ends) = (slice.starts(g), slice.ends(g));
    slice.steps(g).iter().all(|&step| step == 1).then_some(())?;
    let mut cut = (0..extents.len()).filter(|&at| starts[at] != 0 || ends[at] < extents[at]);
    let axis = cut.next().filter(|_| cut.next().is_none())?;
    let end = ends[axis].min(extents[axis]);
    Some(Piece {
        op,
        axis,
        start: starts[axis],
        end,
    })
}
