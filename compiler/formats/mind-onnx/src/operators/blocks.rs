//! Imports depth to space and space to depth.

use mind_convert::{EmitCore, Refusal};

use super::Operator;
use super::place::elements;
use crate::import::emit::One;
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("DepthToSpace", &[1, 11, 13], depth_to_space),
    Operator::one("SpaceToDepth", &[1, 13, 28], space_to_depth),
];

fn depth_to_space(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let block = block_size(n)?;
    let &[batch, channels, height, width] = &n.e.extents_of(x)[..] else {
        return Err(Refusal::rank(n.operand(0), n.e.g().type_text(x), 4));
    };
    let own = n.e.divided(channels, area(block)?)?;
    let step = Extent::Known(block);
    let (apart, order): (_, &[i64]) = match mode(n)? {
        Mode::DepthFirst => ([batch, step, step, own, height, width], &[0, 3, 4, 1, 5, 2]),
        Mode::ChannelsFirst => ([batch, own, step, step, height, width], &[0, 1, 4, 2, 5, 3]),
    };
    let apart = n.e.reshape_extents(x, &apart)?;
    let moved = n.e.transpose(apart, order)?;
    let (rows, columns) = (n.e.times(height, step)?, n.e.times(width, step)?);
    n.e.reshape_extents(moved, &[batch, own, rows, columns])
}

fn space_to_depth(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let block = block_size(n)?;
    let &[batch, channels, height, width] = &n.e.extents_of(x)[..] else {
        return Err(Refusal::rank(n.operand(0), n.e.g().type_text(x), 4));
    };
    let (rows, columns) = (n.e.divided(height, block)?, n.e.divided(width, block)?);
    let step = Extent::Known(block);
    let apart = [batch, channels, rows, step, columns, step];
    let apart = n.e.reshape_extents(x, &apart)?;
    let order = match mode(n)? {
        Mode::DepthFirst => [0, 3, 5, 1, 2, 4],
        Mode::ChannelsFirst => [0, 1, 3, 5, 2, 4],
    };
    let moved = n.e.transpose(apart, &order)?;
    let deep = n.e.times(channels, Extent::Known(area(block)?))?;
    n.e.reshape_extents(moved, &[batch, deep, rows, columns])
}

/// Returns the number of elements in a block.
fn area(block: i64) -> Result<i64, Refusal> {
    elements(&[block, block])
}

fn block_size(n: &Node<'_, '_, '_>) -> Result<i64, Refusal> {
    n.positive("blocksize")
}

/// Whether the block positions or the channels vary slower.
enum Mode {
    DepthFirst,
    ChannelsFirst,
}

fn mode(n: &Node<'_, '_, '_>) -> Result<Mode, Refusal> {
    match n.word("mode")?.unwrap_or("DCR") {
        "DCR" => Ok(Mode::DepthFirst),
        "CRD" => Ok(Mode::ChannelsFirst),
        other => Err(Refusal::word("mode", other, &["DCR", "CRD"])),
    }
}
