//! Blocks of an image as channels, and back.

use super::Operator;
use crate::import::emit::One;
use crate::import::node::Node;
use crate::refused::Refused;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("DepthToSpace", &[1, 11, 13], depth_to_space),
    Operator::one("SpaceToDepth", &[1, 13, 28], space_to_depth),
];

fn depth_to_space(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let block = block_size(n)?;
    let &[batch, channels, height, width] = &n.e.shape(x)?[..] else {
        return Err(Refused::new("its input is no image"));
    };
    let own = channels / (block * block);
    let (apart, order): (_, &[i64]) = match mode(n)? {
        Mode::DepthFirst => (
            [batch, block, block, own, height, width],
            &[0, 3, 4, 1, 5, 2],
        ),
        Mode::ChannelsFirst => (
            [batch, own, block, block, height, width],
            &[0, 1, 4, 2, 5, 3],
        ),
    };
    let apart = n.e.reshape_to(x, &apart)?;
    let moved = n.e.transpose(apart, order)?;
    n.e.reshape_to(moved, &[batch, own, height * block, width * block])
}

fn space_to_depth(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let block = block_size(n)?;
    let &[batch, channels, height, width] = &n.e.shape(x)?[..] else {
        return Err(Refused::new("its input is no image"));
    };
    let (rows, columns) = (height / block, width / block);
    let apart =
        n.e.reshape_to(x, &[batch, channels, rows, block, columns, block])?;
    let order = match mode(n)? {
        Mode::DepthFirst => [0, 3, 5, 1, 2, 4],
        Mode::ChannelsFirst => [0, 1, 3, 5, 2, 4],
    };
    let moved = n.e.transpose(apart, &order)?;
    n.e.reshape_to(moved, &[batch, channels * block * block, rows, columns])
}

fn block_size(n: &Node<'_, '_, '_>) -> Result<i64, Refused> {
    let size = n.int("blocksize")?.filter(|own| *own > 0);
    size.ok_or_else(|| Refused::new("`blocksize` is not positive"))
}

/// Which of the places in a block and the channels is the slower one.
enum Mode {
    DepthFirst,
    ChannelsFirst,
}

fn mode(n: &Node<'_, '_, '_>) -> Result<Mode, Refused> {
    match n.word("mode")?.unwrap_or("DCR") {
        "DCR" => Ok(Mode::DepthFirst),
        "CRD" => Ok(Mode::ChannelsFirst),
        other => Err(Refused::new(format!("`mode` \"{other}\" is not supported"))),
    }
}
