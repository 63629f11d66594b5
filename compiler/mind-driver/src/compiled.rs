//! Running a module as machine code.

use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_interp::Arrays;
use mind_ir::eval::can_allocate;
use mind_ir::tensor::{Buffer, Tensor};
use mind_jit::program::{BoundProgram, Port, Program, RunError};

use crate::engine::out_of_memory;

/// A compiled module, its weights bound, and the bytes of its outputs.
pub struct Compiled {
    bound: BoundProgram,
    /// Those of the last run; empty before the first one and once its results are taken.
    outputs: Vec<Vec<u8>>,
}

impl Compiled {
    /// Binds the weights of `program` among `arrays`.
    ///
    /// # Errors
    ///
    /// No memory, an integer division without result.
    pub fn new(program: &Arc<Program>, arrays: &Arrays) -> Result<Compiled, RunError> {
        let params = bytes_of(program.params(), arrays);
        let bound = BoundProgram::new(program.clone(), &params)?;
        let outputs = Vec::new();
        Ok(Compiled { bound, outputs })
    }

    /// The program, whose weights are bound.
    pub fn program(&self) -> &Program {
        self.bound.program()
    }

    /// Runs once on the inputs among `arrays`; results stay inside.
    ///
    /// # Errors
    ///
    /// An integer division without result, an index out of bounds, no memory.
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

    /// Takes the results of the last run; the next one makes new outputs.
    ///
    /// # Errors
    ///
    /// No memory.
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

/// Checks that the system gives that many bytes, which are allocated afterwards, in one piece or in many.
///
/// # Errors
///
/// No memory.
fn reserve(bytes: usize) -> Result<(), RunError> {
    if can_allocate(bytes as u64) {
        Ok(())
    } else {
        Err(RunError::OutOfMemory { bytes })
    }
}

/// The elements of the arrays that ports name, which were checked against them.
fn bytes_of<'a>(ports: &[Port], arrays: &'a Arrays) -> Vec<&'a [u8]> {
    let arrays = ports.iter().map(|port| &arrays[&port.name]);
    arrays.map(|array| array.buffer().as_bytes()).collect()
}

/// What was found, as one error of the file.
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
