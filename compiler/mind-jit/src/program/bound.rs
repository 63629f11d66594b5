//! A program with its weights.

use std::sync::{Arc, PoisonError};

use mind_ir::Bytes;
use smallvec::SmallVec;

use super::compiled::Program;
use super::control::{self, BoundRegion};
use super::error::RunError;
use super::memory::{ALIGN, Block};
use super::port::Port;
use super::run::{Code, Memory, run};

/// A program with its weights, ready to run. It can be run from any thread, and from several at once.
#[derive(Debug)]
pub struct BoundProgram {
    program: Arc<Program>,
    /// Packed and derived weights, and copies of those that are read as they are.
    bound: Arc<Made>,
    /// The programs of the regions of control flow, where what they are bound to stays.
    regions: Vec<Option<BoundRegion>>,
}

/// What a program made of its weights.
#[derive(Debug)]
enum Made {
    Here(Block),
    /// An earlier one did, and this is a copy. Nobody writes there.
    Before(Bytes),
}

impl Made {
    fn bytes(&self) -> &[u8] {
        match self {
            Made::Here(block) => block.bytes(),
            Made::Before(bytes) => bytes,
        }
    }

    /// Where it begins. Only binding writes there.
    fn start(&self) -> *mut u8 {
        match self {
            Made::Here(block) => block.start(),
            Made::Before(bytes) => bytes.as_ptr().cast_mut(),
        }
    }
}

impl BoundProgram {
    /// Binds weights, in the order of [`Program::params`]: they are packed, and what follows from them alone is
    /// computed.
    ///
    /// # Errors
    ///
    /// Another number of weights or bytes, no memory, an integer division without result.
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
        // SAFETY: sizes were checked; nobody else knows the memory yet.
        let regions = unsafe {
            let code = Code::of_binding(program);
            run(&program.bind_steps, code, &program.pool, memory)?;
            control::bind_once(&program.steps, &program.regions, memory)
        };
        new.regions = regions;
        new.give_back(workspace);
        Ok(new)
    }

    /// Binds the weights that `other` was bound to, and shares what it has made of them; `None` if this program
    /// makes something else of its weights.
    pub fn sharing(program: Arc<Program>, other: &BoundProgram) -> Option<BoundProgram> {
        let same = program.binding == other.program.binding && program.regions.is_empty();
        same.then(|| BoundProgram {
            bound: other.bound.clone(),
            program,
            regions: Vec::new(),
        })
    }

    /// Binds the weights that an earlier program was bound to, of which `made` is a copy of what that had
    /// [`made`](BoundProgram::made); `None` if it is no multiple of 64 bytes where it begins, has another length than this
    /// program makes, or the program has control flow.
    ///
    /// # Safety
    ///
    /// A program with an equal [`Binding`](super::Binding) made it.
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

    /// What it made of its weights.
    pub fn made(&self) -> &[u8] {
        self.bound.bytes()
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Runs the program on `inputs` into `outputs`, each an array of elements row-major without gaps.
    ///
    /// # Errors
    ///
    /// Another number of arrays or bytes, no memory, an integer division without result, an index out
    /// of bounds. After an error outputs hold anything.
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
        // SAFETY: sizes were checked; borrows keep others from outputs, and the workspace is this run's own.
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
/// Another number of arrays, or one of another size.
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
