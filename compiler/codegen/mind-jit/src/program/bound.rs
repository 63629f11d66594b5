//! Programs bound to their weights.

use std::sync::{Arc, PoisonError};

use mind_ir::Bytes;
use smallvec::SmallVec;

use super::compiled::Program;
use super::control::{self, BoundRegion};
use super::error::RunError;
use super::memory::{ALIGN, Block};
use super::port::Port;
use super::run::{Code, Memory, run};

/// A program bound to its weights. It can run on any thread, and on several at once.
#[derive(Debug)]
pub struct BoundProgram {
    program: Arc<Program>,
    /// Packed and derived weights, and copies of weights that are read directly.
    bound: Arc<Made>,
    /// The programs of control-flow regions, bound if their weights are the same in every run.
    regions: Vec<Option<BoundRegion>>,
}

/// Bound memory.
#[derive(Debug)]
enum Made {
    Here(Block),
    /// A read-only copy of memory that an earlier program computed.
    Before(Bytes),
}

impl Made {
    fn bytes(&self) -> &[u8] {
        match self {
            Made::Here(block) => block.bytes(),
            Made::Before(bytes) => bytes,
        }
    }

    /// Returns the start address. Only binding writes to this memory.
    fn start(&self) -> *mut u8 {
        match self {
            Made::Here(block) => block.start(),
            Made::Before(bytes) => bytes.as_ptr().cast_mut(),
        }
    }
}

impl BoundProgram {
    /// Binds weights, in the order of [`Program::params`]: packs them, and computes all values that depend only on
    /// weights.
    ///
    /// # Errors
    ///
    /// The number or size of the weights is wrong; out of memory; an integer division by 0, or of the smallest integer
    /// by -1.
    pub fn new(program: Arc<Program>, params: &[&[u8]]) -> Result<BoundProgram, RunError> {
        check(
            "weights",
            &program.params,
            params.iter().map(|param| param.len()),
        )?;
        let bound = Block::new(program.bound_bytes as usize)?;
        let mut new = BoundProgram {
            bound: Arc::new(Made::Here(bound)),
            program,
            regions: Vec::new(),
        };
        let workspace = new.workspace()?;
        let params: SmallVec<[*const u8; 8]> = params.iter().map(|param| param.as_ptr()).collect();
        let memory = Memory {
            params: &params,
            ..new.memory(&workspace)
        };
        let program = &new.program;
        // SAFETY: sizes were checked, and no other code has access to the memory yet.
        let regions = unsafe {
            let code = Code::of_binding(program);
            run(&program.bind_steps, code, &program.pool, memory)?;
            control::bind_once(&program.steps, &program.regions, memory)
        };
        new.regions = regions;
        new.give_back(workspace);
        Ok(new)
    }

    /// Binds the weights of `other` and shares its bound memory. Returns `None` if this program preprocesses weights
    /// differently, or has control flow.
    pub fn sharing(program: Arc<Program>, other: &BoundProgram) -> Option<BoundProgram> {
        let same = program.binding == other.program.binding && program.regions.is_empty();
        same.then(|| BoundProgram {
            bound: other.bound.clone(),
            program,
            regions: Vec::new(),
        })
    }

    /// Binds the weights of an earlier program, given `made`, a copy of its bound memory
    /// ([`made`](BoundProgram::made)). Returns `None` if `made` is not aligned to 64 bytes or has another length than
    /// this program needs, or if the program has control flow.
    ///
    /// # Safety
    ///
    /// `made` must come from a program with an equal [`Binding`](super::Binding).
    pub unsafe fn restored(program: Arc<Program>, made: Bytes) -> Option<BoundProgram> {
        let is_aligned = made.as_ptr().addr().is_multiple_of(ALIGN);
        let has_length = made.len() as u64 == program.bound_bytes;
        let is_whole = is_aligned && has_length && program.regions.is_empty();
        is_whole.then(|| BoundProgram {
            bound: Arc::new(Made::Before(made)),
            program,
            regions: Vec::new(),
        })
    }

    /// Returns the bound memory.
    pub fn made(&self) -> &[u8] {
        self.bound.bytes()
    }

    /// Returns the program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Runs the program on `inputs` and writes `outputs`, dense row-major arrays.
    ///
    /// # Errors
    ///
    /// The number or size of the arrays is wrong; out of memory; an integer division by 0, or of the smallest integer
    /// by -1; an index out of bounds. After an error, the contents of the outputs are undefined.
    pub fn run(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        let program = &*self.program;
        check(
            "inputs",
            &program.inputs,
            inputs.iter().map(|input| input.len()),
        )?;
        check(
            "outputs",
            &program.outputs,
            outputs.iter().map(|output| output.len()),
        )?;
        let workspace = self.workspace()?;
        let inputs: SmallVec<[*const u8; 8]> = inputs.iter().map(|input| input.as_ptr()).collect();
        let outputs: SmallVec<[*mut u8; 8]> = outputs
            .iter_mut()
            .map(|output| output.as_mut_ptr())
            .collect();
        let memory = Memory {
            inputs: &inputs,
            outputs: &outputs,
            ..self.memory(&workspace)
        };
        // SAFETY: sizes were checked, the borrows are exclusive for outputs, and no other run uses the workspace.
        let done = unsafe {
            run(
                &program.steps,
                Code::of(program, &self.regions),
                &program.pool,
                memory,
            )
        };
        self.give_back(workspace);
        done
    }

    fn memory<'m>(&'m self, workspace: &Block) -> Memory<'m> {
        let program = &self.program;
        let scratch = program.workspace_bytes.next_multiple_of(64) as usize;
        Memory {
            inputs: &[],
            outputs: &[],
            params: &[],
            literals: &program.literals,
            first_literal: program.params.len(),
            constants: program.constants.start(),
            bound: self.bound.start(),
            workspace: workspace.start(),
            scratch: workspace.start().wrapping_add(scratch),
            scratch_stride: program.scratch_bytes,
        }
    }

    fn workspace(&self) -> Result<Block, RunError> {
        let idle = self
            .program
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(block) => Ok(block),
            None => {
                let program = &self.program;
                let scratch = program.scratch_bytes * program.pool.threads();
                Block::new(program.workspace_bytes.next_multiple_of(64) as usize + scratch)
            }
        }
    }

    fn give_back(&self, block: Block) {
        self.program
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(block);
    }
}

/// # Errors
///
/// The number or size of the arrays is wrong.
fn check(
    what: &'static str,
    ports: &[Port],
    found: impl ExactSizeIterator<Item = usize>,
) -> Result<(), RunError> {
    if ports.len() != found.len() {
        return Err(RunError::Count {
            what,
            expected: ports.len(),
            found: found.len(),
        });
    }
    let mut pairs = ports.iter().zip(found);
    match pairs.find(|(port, found)| port.bytes() != *found) {
        None => Ok(()),
        Some((port, found)) => Err(RunError::Size {
            name: port.name.clone(),
            shape: port.shape.clone(),
            dtype: port.dtype,
            expected: port.bytes(),
            found,
        }),
    }
}
