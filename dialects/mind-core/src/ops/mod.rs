//! Op tables, one file for each family.

pub mod argmax;
pub mod block_matmul;
pub mod broadcast;
pub mod circular;
pub mod compare;
pub mod constant;
pub mod contract;
pub mod control;
pub mod conv;
pub mod convert;
pub mod convolution;
pub mod cumulative;
pub mod data;
pub mod dot_general;
pub mod dynamic;
pub mod elementwise;
pub mod extents;
pub mod fused;
pub mod gather;
pub mod index;
pub mod input;
pub mod join;
pub mod logic;
pub mod normalize;
pub mod pad;
pub mod power;
pub mod quantize;
pub mod reduce;
pub mod rounding;
pub mod runtime_shape;
pub mod sample;
pub mod scatter;
pub mod shape;
pub mod solve;
pub mod sort;
pub mod window;

use mind_ir::opdef::OpDef;
use mind_ir::opdef::families::{count, join};

const FAMILIES: [&[&OpDef]; 36] = [
    input::OPS,
    constant::OPS,
    elementwise::OPS,
    compare::OPS,
    logic::OPS,
    convert::OPS,
    quantize::OPS,
    rounding::OPS,
    power::OPS,
    circular::OPS,
    reduce::OPS,
    argmax::OPS,
    window::OPS,
    cumulative::OPS,
    shape::OPS,
    pad::OPS,
    broadcast::OPS,
    extents::OPS,
    index::OPS,
    dynamic::OPS,
    runtime_shape::OPS,
    gather::OPS,
    scatter::OPS,
    sort::OPS,
    data::OPS,
    join::OPS,
    contract::OPS,
    dot_general::OPS,
    block_matmul::OPS,
    solve::OPS,
    conv::OPS,
    convolution::OPS,
    sample::OPS,
    normalize::OPS,
    control::OPS,
    fused::OPS,
];

/// Every op of the dialect, in the order of the families.
pub const OPS: &[&OpDef] = &join::<{ count(&FAMILIES) }>(&FAMILIES);
