//! Runs a module as machine code.

use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_interp::Arrays;
use mind_ir::eval::can_allocate;
use mind_ir::tensor::{Buffer, Tensor};
use mind_jit::program::{BoundProgram, Port, Program, RunError};

use crate::engine::out_of_memory;

/// A compiled module with bound weights and output buffers.
pub struct Compiled {
    bound: BoundProgram,
    /// Outputs of the last run; empty before the first run and after the results were taken.
    outputs: Vec<Vec<u8>>,
}

impl Compiled {
    /// Binds the weights of `program`, found among `arrays`.
    ///
    /// # Errors
    ///
    /// Errors if there is not enough memory, or if an op on weights divides integers by zero or overflows.
    pub fn new(program: &Arc<Program>, arrays: &Arrays) -> Result<Compiled, RunError> {
        let params = bytes_of(program.params(), arrays);
        let bound = BoundProgram::new(program.clone(), &params)?;
        let outputs = Vec::new();
        Ok(Compiled { bound, outputs })
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        self.bound.program()
    }

    /// Runs the program once on the inputs among `arrays` and keeps the results.
    ///
    /// # Errors
    ///
    /// Errors if an integer division is by zero or overflows, if an index is out of bounds, or if there is not enough
    /// memory.
    pub fn run(&mut self, arrays: &Arrays) -> Result<(), RunError> {
        let program = self.bound.program();
        if self.outputs.is_empty() {
            let sizes = program.outputs().iter().map(Port::bytes);
            reserve(sizes.clone().fold(0, usize::saturating_add))?;
            self.outputs = sizes.map(|bytes| vec![0; bytes]).collect();
        }
        let inputs = bytes_of(program.inputs(), arrays);
        let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(Vec::as_mut_slice).collect();
        self.bound.run(&inputs, &mut outputs)
    }

    /// Takes the results of the last run; the next run allocates new buffers.
    ///
    /// # Errors
    ///
    /// Errors if there is not enough memory.
    pub fn take_results(&mut self) -> Result<Vec<Tensor>, RunError> {
        let ports = self.bound.program().outputs().iter();
        let results = ports.zip(std::mem::take(&mut self.outputs));
        let tensor = |(port, bytes): (&Port, Vec<u8>)| {
            reserve(bytes.len())?;
            let elements = Buffer::from_bytes(port.dtype, &bytes);
            Ok(Tensor::new(port.shape.clone(), elements))
        };
        results.map(tensor).collect()
    }
}

/// Checks that this many bytes can be allocated, in one or several pieces.
///
/// # Errors
///
/// Errors if there is not enough memory.
fn reserve(bytes: usize) -> Result<(), RunError> {
    if can_allocate(bytes as u64) {
        Ok(())
    } else {
        Err(RunError::OutOfMemory { bytes })
    }
}

/// Returns the bytes of the arrays named by `ports`; the arrays were checked against the ports.
fn bytes_of<'a>(ports: &[Port], arrays: &'a Arrays) -> Vec<&'a [u8]> {
    let arrays = ports.iter().map(|port| &arrays[&port.name]);
    arrays.map(|array| array.buffer().as_bytes()).collect()
}

/// Converts a run-time error to a diagnostic.
pub fn refused(why: &RunError) -> Diagnostics {
    match why {
        RunError::OutOfMemory { .. } => out_of_memory(why).into(),
        RunError::Count { .. }
        | RunError::Size { .. }
        | RunError::Division { .. }
        | RunError::IndexOutOfBounds { .. }
        | RunError::Evaluation { .. }
        | RunError::Interrupted => Diagnostic::error(Span::FILE, why.to_string()).into(),
    }
}
