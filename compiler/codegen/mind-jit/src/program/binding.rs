//! Preprocessing of weights at bind time.

use std::sync::Arc;

use indexmap::IndexSet;
use mind_ir::Bytes;
use rustc_hash::FxBuildHasher;

use super::build::{KernelSpec, ProgramBuilder};
use super::memory::Block;
use super::port::Port;
use mind_vir::program::{Base, Step};

/// The preprocessing of weights by a program. Programs with equal bindings compute equal bound memory from equal
/// weights.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    params: Vec<Port>,
    /// Bytes of bound memory.
    bytes: u64,
    /// The kernels of the steps, numbered by their first call.
    kernels: Vec<KernelSpec>,
    steps: Vec<Step>,
    /// The constants, if a step reads any.
    constants: Option<Arc<Block>>,
    /// Large constants, which are bound like weights.
    literals: Vec<Bytes>,
}

impl Binding {
    /// Returns the binding of a program with the steps of `builder` and these constants.
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
