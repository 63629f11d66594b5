//! The kernels of a module that is lowered to loops, as people read them.

use mind_ir::Graph;
use mind_jit::program::{KernelListing, listings};
use mind_loops::memory::is_kernel;
use mind_vir::target::{Isa, TargetInfo};

/// The kernels of a module and what they are compiled for.
pub(super) struct Kernels {
    pub(super) isa: Isa,
    pub(super) listings: Vec<KernelListing>,
}

/// The kernels of `g` for this machine; `None` if it holds none.
///
/// # Errors
///
/// Why they cannot be compiled.
pub(super) fn kernels(g: &Graph) -> Option<Result<Kernels, String>> {
    g.ops(g.body()).find(|&op| is_kernel(g, op))?;
    let isa = Isa::detect();
    let listed = listings(g, &TargetInfo::of(isa));
    Some(
        listed
            .map(|listings| Kernels { isa, listings })
            .map_err(|why| why.to_string()),
    )
}
