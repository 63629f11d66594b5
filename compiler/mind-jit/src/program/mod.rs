//! Modules at loops level as programs: kernels, and the steps that call them.
//!
//! - [`Program::compile`] makes one, for a target and a number of threads.
//! - [`Program::bind`] gives it its weights, which are packed then.
//! - [`BoundProgram::run`] runs it on the caller's arrays, where they are.
//! - [`emit_c`] writes one as C.

mod bound;
mod build;
mod emit_c;
mod error;
mod layout;
mod memory;
mod port;
mod run;
mod schedule;
mod step;

use std::sync::Arc;

use mind_ir::graph::Graph;

pub use bound::BoundProgram;
pub use emit_c::emit_c;
pub use error::{ProgramError, RunError};
pub use layout::{Base, Place};
pub use port::Port;
pub use step::{Axis, Call, Gather, Step};

use crate::kernel::Kernel;
use crate::pool::Pool;
use crate::target::TargetInfo;
use memory::Block;

/// What a program is compiled for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The machine; it must be this one, or one with less.
    pub target: TargetInfo,
    /// The threads that run it, the caller's own among them.
    pub pool: Arc<Pool>,
}

/// A compiled module.
#[derive(Debug)]
pub struct Program {
    kernels: Vec<Kernel>,
    /// What is done once, when weights are bound.
    bind_steps: Vec<Step>,
    steps: Vec<Step>,
    inputs: Vec<Port>,
    params: Vec<Port>,
    outputs: Vec<Port>,
    /// Weights that steps read as they are, and where their copies stand.
    kept: Vec<(usize, u64)>,
    constants: Block,
    bound_bytes: u64,
    workspace_bytes: u64,
    /// Of each thread, a multiple of 64.
    scratch_bytes: usize,
    pool: Arc<Pool>,
}

impl Program {
    /// Compiles a verified module at loops level whose results have places.
    ///
    /// Errors: an op without a kernel, places that clash, a kernel that the target cannot run.
    pub fn compile(g: &Graph, options: &Options) -> Result<Program, ProgramError> {
        mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
        let unit = build::build(g, &options.target, true)?;
        let isa = options.target.isa;
        let kernels = Kernel::compile_all(unit.functions.iter().map(|(f, _)| f), isa);
        let kernels = kernels.map_err(|source| {
            let op = unit.functions.first().map_or("module", |&(_, op)| op);
            ProgramError::Kernel { op, source }
        })?;
        let memory = |why: RunError| ProgramError::Memory(why.to_string());
        let layout = unit.layout;
        Ok(Program {
            kernels,
            bind_steps: unit.bind_steps,
            steps: unit.steps,
            inputs: layout.inputs,
            params: layout.params,
            outputs: layout.outputs,
            kept: layout.kept,
            constants: Block::of(&layout.constants).map_err(memory)?,
            bound_bytes: layout.bound_bytes,
            workspace_bytes: layout.workspace_bytes,
            scratch_bytes: unit.scratch_bytes.next_multiple_of(64),
            pool: options.pool.clone(),
        })
    }

    /// Binds weights, in the order of [`params`](Program::params).
    ///
    /// Errors: another number of weights or bytes, no memory, an integer division without result.
    pub fn bind(self: &Arc<Program>, params: &[&[u8]]) -> Result<BoundProgram, RunError> {
        BoundProgram::new(self.clone(), params)
    }

    /// The inputs of a run, in the order in which the module declares them.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The weights, in the order in which the module declares them.
    pub fn params(&self) -> &[Port] {
        &self.params
    }

    /// The outputs of a run.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The steps of a run.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Bytes that the results of one run take besides inputs, weights and outputs.
    pub fn workspace_bytes(&self) -> u64 {
        self.workspace_bytes
    }

    /// The threads that run it.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}
