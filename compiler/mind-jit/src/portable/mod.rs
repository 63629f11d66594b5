//! Vector IR to Cranelift's IR, at 128 bits.

use crate::error::CompileError;
use crate::vir::Function;

/// The machine code of a valid `function` for the machine this runs on.
pub fn compile(_: &Function) -> Result<Vec<u8>, CompileError> {
    Err(CompileError::Portable("x".to_owned()))
}
