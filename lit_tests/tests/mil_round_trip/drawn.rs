//! Random modules that can be lowered to MIL.

use mind_ir::Graph;
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

/// The dtypes of each kind of module. Modules of integers alone give identical results regardless of the order of sums.
pub const KINDS: [&[DType]; 3] = [
    &[DType::F32, DType::F16, DType::I32, DType::Bool],
    &[DType::F32],
    &[DType::I32],
];

/// Returns options for fp32 in the layout of the module.
pub fn singles() -> Config {
    Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    }
}

fn is_lowered(g: &Graph) -> bool {
    mind_to_mil::lower(&mut g.clone(), &singles()).is_ok()
}

/// Returns the module of a seed, which also selects its kind. Only ops that can be lowered are drawn, because of
/// modules with arbitrary ops only one in twenty can.
pub fn module(seed: u64) -> Graph {
    let kind = KINDS[seed as usize % KINDS.len()];
    let config = mind_testgen::Config {
        dtypes: kind.to_vec(),
        symbols: false,
        without: without(),
        accepts: Some(is_lowered),
        ..mind_testgen::Config::default()
    };
    mind_testgen::module(seed, &config)
}

/// Returns the core ops that are never lowered.
fn without() -> Vec<&'static mind_ir::opdef::OpDef> {
    let ops = mind_core::ops::OPS.iter();
    ops.filter(|def| !mind_to_mil::lowers(def))
        .copied()
        .collect()
}
