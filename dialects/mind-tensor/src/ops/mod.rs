//! Op tables, one file for each family.

pub mod bitcast;
pub mod broadcast;
pub mod contract;
pub mod cumulative;
pub mod group;
pub mod index;
pub mod join;
pub mod map;
pub mod reduce;
pub mod reshape;
pub mod slide;
pub mod transpose;
pub mod window;

use mind_ir::opdef::OpDef;
use mind_ir::opdef::families::{count, join as joined};

const FAMILIES: [&[&OpDef]; 13] = [
    map::OPS,
    bitcast::OPS,
    broadcast::OPS,
    contract::OPS,
    window::OPS,
    slide::OPS,
    reduce::OPS,
    cumulative::OPS,
    transpose::OPS,
    reshape::OPS,
    index::OPS,
    join::OPS,
    group::OPS,
];

/// Every op of the dialect, in the order of the families.
pub const OPS: &[&OpDef] = &joined::<{ count(&FAMILIES) }>(&FAMILIES);
