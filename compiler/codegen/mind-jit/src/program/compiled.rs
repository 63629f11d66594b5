//! Compiled modules.

use std::sync::{Arc, Mutex, PoisonError};

use mind_ir::Bytes;
use mind_ir::graph::Graph;

use super::assembly::{self, KernelCode, KernelSignature, ProgramCode};
use super::binding::Binding;
use super::build::{self, Makers};
use super::check;
use super::error::ProgramError;
use super::memory::Block;
use super::panels::PanelChoice;
use super::port::Port;
use super::routine::Routine;
use super::weights::Weights;
use crate::pool::Pool;
use crate::profile::Profiler;
use mind_vir::kernel::CompiledKernel;
use mind_vir::program::Step;
use mind_vir::target::TargetInfo;

/// Options of a compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The target, which must be this machine or have a subset of its instructions.
    pub target: TargetInfo,
    /// The threads that run the program, including the caller's.
    pub pool: Arc<Pool>,
    /// How the panel widths of weights are chosen.
    pub panels: PanelChoice,
    /// The maximal trip count of a loop whose trip count is data-dependent.
    pub max_steps: u64,
    /// The profiler of the steps of each run, if any.
    pub profiler: Option<Arc<Profiler>>,
}

/// A compiled module.
#[derive(Debug)]
pub struct Program {
    pub(super) kernels: Vec<CompiledKernel>,
    pub(super) signatures: Vec<KernelSignature>,
    /// Steps that run once, when weights are bound.
    pub(super) bind_steps: Vec<Step>,
    pub(super) steps: Vec<Step>,
    pub(super) routines: Vec<Routine>,
    /// The programs of control-flow regions.
    pub(super) regions: Vec<Arc<Program>>,
    /// The maximal trip count of a loop whose trip count is data-dependent.
    pub(super) max_steps: u64,
    pub(super) inputs: Vec<Port>,
    pub(super) params: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    pub(super) constants: Arc<Block>,
    /// Large constants, which are bound as weights after those of the caller.
    pub(super) literals: Vec<Bytes>,
    pub(super) bound_bytes: u64,
    pub(super) workspace_bytes: u64,
    /// Scratch memory per thread, a multiple of 64.
    pub(super) scratch_bytes: usize,
    pub(super) pool: Arc<Pool>,
    pub(super) binding: Binding,
    /// Workspaces that are not in use.
    pub(super) idle: Mutex<Vec<Block>>,
    pub(super) profile: Option<Profile>,
}

/// Profiling of a program's steps.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) profiler: Arc<Profiler>,
    /// The profiler's row of the first step.
    pub(super) first: usize,
}

impl Program {
    /// Compiles a verified module at loops level with buffer assignment. With [`PanelChoice::Shared`], quantised
    /// weights that are right-hand sides of products are bound in their format; see [`Port::format`].
    ///
    /// # Errors
    ///
    /// An op has no kernel; buffers overlap; the target cannot run a kernel.
    pub fn compile(g: &Graph, options: &Options) -> Result<Program, ProgramError> {
        Program::compile_at(g, options, None, 0)
    }

    /// As [`compile`](Program::compile), with the machine code that [`code`](Program::code) returned for the same
    /// module, compiled by the same build of this crate for the same target and panels.
    ///
    /// # Safety
    ///
    /// The code is executed, so it must be unmodified and fulfil these conditions.
    ///
    /// # Errors
    ///
    /// Those of [`compile`](Program::compile).
    pub unsafe fn restore(
        g: &Graph,
        options: &Options,
        code: &ProgramCode,
    ) -> Result<Program, ProgramError> {
        Program::compile_at(g, options, Some(code), 0)
    }

    /// Compiles a module that is nested `depth` levels deep in control-flow regions.
    fn compile_at(
        g: &Graph,
        options: &Options,
        kept: Option<&ProgramCode>,
        depth: usize,
    ) -> Result<Program, ProgramError> {
        mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
        let (target, pool) = (&options.target, &options.pool);
        let known = kept.map(|kept| kept.kernels.iter().map(|kernel| kernel.signature));
        let known: Option<Vec<KernelSignature>> = known.map(Iterator::collect);
        let makers = match &known {
            Some(known) => Makers::Nobody(known),
            None => Makers::Pool(pool),
        };
        let builder = build::build(g, target, options.panels, Weights::Shared, makers)?;
        check::debug_check(&builder, Weights::Shared)?;
        let functions: Vec<_> = builder.functions.iter().map(|(f, _)| f).collect();
        let code = match kept.filter(|_| functions.is_empty()) {
            Some(kept) => kept
                .kernels
                .iter()
                .map(|own| Ok(own.code.to_vec()))
                .collect(),
            None => assembly::assemble_all(&functions, target, pool),
        };
        let params = builder.signatures.iter().map(|own| own.params);
        let kernels = CompiledKernel::publish(params.zip(code), target);
        let kernels = kernels.map_err(|source| {
            let op = builder.kernels.values().next();
            let op = op.copied().unwrap_or("module");
            ProgramError::Kernel { op, source }
        })?;
        let profile = options.profiler.as_ref().map(|profiler| Profile {
            first: profiler.add(&builder.steps, &builder.origins, depth),
            profiler: profiler.clone(),
        });
        let regions = builder.regions.iter().enumerate().map(|(at, region)| {
            let kept = kept.and_then(|kept| kept.regions.get(at));
            let program = Program::compile_at(region, options, kept, depth + 1)?;
            Ok(Arc::new(program))
        });
        let regions = regions.collect::<Result<Vec<_>, _>>()?;
        let constants = Block::of(&builder.layout.constants).map_err(ProgramError::OutOfMemory)?;
        let constants = Arc::new(constants);
        let (binding, needs) = (Binding::of(&builder, &constants), builder.needs());
        let layout = builder.layout;
        Ok(Program {
            kernels,
            signatures: builder.signatures,
            bind_steps: builder.bind_steps,
            steps: builder.steps,
            routines: builder.routines,
            regions,
            max_steps: options.max_steps,
            inputs: layout.inputs,
            params: layout.params,
            outputs: layout.outputs,
            constants,
            literals: layout.literals,
            bound_bytes: needs.bound,
            workspace_bytes: needs.workspace,
            scratch_bytes: needs.scratch.next_multiple_of(64),
            pool: options.pool.clone(),
            binding,
            idle: Mutex::default(),
            profile,
        })
    }

    /// Returns the machine code of the kernels.
    pub fn code(&self) -> ProgramCode {
        let kernels = self.kernels.iter().zip(&self.signatures);
        let kernels = kernels.map(|(kernel, &signature)| KernelCode {
            signature,
            code: Bytes::copy_from_slice(kernel.machine_code()),
        });
        ProgramCode {
            kernels: kernels.collect(),
            regions: self.regions.iter().map(|region| region.code()).collect(),
        }
    }

    /// Returns the inputs of a run, in the module's order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// Returns the weights, in the module's order.
    pub fn params(&self) -> &[Port] {
        &self.params
    }

    /// Returns the outputs of a run.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Returns the steps of a run.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the workspace size in bytes: results of one run other than weights and outputs.
    pub fn workspace_bytes(&self) -> u64 {
        self.workspace_bytes
    }

    /// Returns the bytes of idle memory kept for the next runs: workspaces and scratch memory, once for each run of the
    /// largest number that overlapped.
    pub fn idle_bytes(&self) -> u64 {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = (self.scratch_bytes * self.pool.threads()) as u64;
        idle.len() as u64 * (self.workspace_bytes.next_multiple_of(64) + scratch)
    }

    /// Releases the idle memory; later runs allocate it again.
    pub fn release_idle(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        drop(idle);
    }

    /// Returns the threads that run the program.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}
