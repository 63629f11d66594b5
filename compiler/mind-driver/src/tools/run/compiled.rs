//! Running a module as machine code.

use std::sync::Arc;

use mind_diag::Diagnostics;
use mind_interp::Arrays;
use mind_ir::eval::can_allocate;
use mind_ir::tensor::{Buffer, Tensor};
use mind_jit::program::{BoundProgram, Port, Program, RunError};

/// A compiled module, its weights bound, and the bytes of its outputs.
pub(in crate::tools) struct Compiled {
    bound: BoundProgram,
    outputs: Vec<Vec<u8>>,
}

impl Compiled {
    /// Binds the weights of `program` among `arrays`.
    ///
    /// Errors: no memory, an integer division without result.
    pub(in crate::tools) fn new(
        program: &Arc<Program>,
        arrays: &Arrays,
    ) -> Result<Compiled, RunError> {
        let params = bytes_of(program.params(), arrays);
        let bound = BoundProgram::new(program.clone(), &params)?;
        let outputs = program.outputs().iter().map(|port| zeros(port.bytes()));
        Ok(Compiled {
            outputs: outputs.collect::<Result<_, _>>()?,
            bound,
        })
    }

    /// Runs once on the inputs among `arrays`; results stay inside.
    ///
    /// Errors: an integer division without result, an index out of bounds, no memory.
    pub(in crate::tools) fn run(&mut self, arrays: &Arrays) -> Result<(), RunError> {
        let inputs = bytes_of(self.bound.program().inputs(), arrays);
        let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(Vec::as_mut_slice).collect();
        self.bound.run(&inputs, &mut outputs)
    }

    /// The results of the last run.
    pub(in crate::tools) fn results(&self) -> Vec<Tensor> {
        let ports = self.bound.program().outputs().iter();
        let results = ports.zip(&self.outputs).map(|(port, bytes)| {
            Tensor::new(port.shape.clone(), Buffer::from_bytes(port.dtype, bytes))
        });
        results.collect()
    }
}

/// So many bytes of 0.
///
/// Errors: no memory.
fn zeros(bytes: usize) -> Result<Vec<u8>, RunError> {
    if can_allocate(bytes as u64) {
        Ok(vec![0; bytes])
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
pub(in crate::tools) fn refused(why: &RunError) -> Diagnostics {
    mind_diag::Diagnostic::error(mind_diag::Span::FILE, why.to_string()).into()
}
