//! Op tables, one file for each family.

pub mod bitcast;
pub mod block;
pub mod block_product;
pub mod contract;
pub mod cumulative;
pub mod evaluate;
pub mod movement;
pub mod nest;
pub mod slide;
pub mod view;
pub mod window;

use mind_ir::opdef::OpDef;
use mind_ir::opdef::families::{count, join};

const FAMILIES: [&[&OpDef]; 11] = [
    view::OPS,
    nest::OPS,
    contract::OPS,
    window::OPS,
    slide::OPS,
    block::OPS,
    block_product::OPS,
    cumulative::OPS,
    movement::OPS,
    evaluate::OPS,
    bitcast::OPS,
];

/// Every op of the dialect, in the order of the families.
pub const OPS: &[&OpDef] = &join::<{ count(&FAMILIES) }>(&FAMILIES);
