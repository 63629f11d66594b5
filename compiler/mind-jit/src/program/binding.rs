//! What programs make of their weights.

use std::sync::Arc;

use indexmap::IndexSet;
use mind_ir::Bytes;
use rustc_hash::FxBuildHasher;

use super::build::{KernelSpec, ProgramBuilder};
use super::memory::Block;
use super::port::Port;
use mind_vir::program::{Base, Step};

/// What a program does when its weights are bound. Programs with equal bindings make the same of the same weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    params: Vec<Port>,
    /// Bytes of what is made.
    bytes: u64,
    /// The kernels of the steps, numbered by their first call.
    kernels: Vec<KernelSpec>,
    steps: Vec<Step>,
    /// The constants, if a step reads any.
    constants: Option<Arc<Block>>,
    /// The weights that the program brings.
    literals: Vec<Bytes>,
}

impl Binding {
    /// What a program of these steps and constants does.
    pub(super) fn of(builder: &ProgramBuilder<'_>, constants: &Arc<Block>) -> Binding {
        let layout = &builder.layout;
        let mut kernels: IndexSet<&KernelSpec, FxBuildHasher> = IndexSet::default();
        let mut steps = builder.bind_steps.clone();
        for step in &mut steps {
            if let Step::Call(call) = step
                && let Some((spec, _)) = builder.kernels.get_index(call.kernel)
            {
                call.kernel = kernels.insert_full(spec).0;
            }
        }
        let mut regions = steps.iter().flat_map(Step::regions);
        let reads_constants = regions.any(|region| region.base == Base::Constants);
        Binding {
            params: layout.params.clone(),
            bytes: builder.needs().bound,
            kernels: kernels.into_iter().cloned().collect(),
            steps,
            constants: reads_constants.then(|| constants.clone()),
            literals: layout.literals.clone(),
        }
    }
}
