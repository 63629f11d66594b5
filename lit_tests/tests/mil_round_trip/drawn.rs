//! Drawn modules that are programs of MIL.

use mind_ir::Graph;
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

/// The dtypes of the modules of each kind. Integers alone have the same bits in every order of their sums.
pub const KINDS: [&[DType]; 3] = [
    &[DType::F32, DType::F16, DType::I32, DType::Bool],
    &[DType::F32],
    &[DType::I32],
];

/// In singles, in the layout of the module.
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

/// The module of that seed, of the kind that the seed chooses. Every op of it is lowered, since of modules of any ops
/// one in twenty is.
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

/// Ops of core that are never lowered.
fn without() -> Vec<&'static mind_ir::opdef::OpDef> {
    let ops = mind_core::ops::OPS.iter();
    ops.filter(|def| !mind_to_mil::lowers(def))
        .copied()
        .collect()
}
