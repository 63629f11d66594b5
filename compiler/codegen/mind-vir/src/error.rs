//! Errors of compiling a function.

use crate::code::CodeError;
use crate::ir::VerifyError;
use crate::target::{CodeTarget, Isa};

/// Why a function could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The function is not valid.
    #[error("invalid vector IR: {}", list(.0))]
    Invalid(Vec<VerifyError>),
    /// Vectors do not fit the registers of the target.
    #[error(
        "{lanes} lanes of up to {widest} bits do not fit {isa}; expected {least} to {most} lanes"
    )]
    Lanes {
        /// The instruction set.
        isa: Isa,
        /// Lanes of the function.
        lanes: u32,
        /// Bits of its widest lane.
        widest: u32,
        /// The fewest lanes that can be moved.
        least: u32,
        /// The most lanes that fit.
        most: u32,
    },
    /// The function multiplies matrices of bytes, which the target has no instructions for.
    #[error("{0} multiplies no matrices of bytes in registers; expected a target with AMX")]
    ByteProducts(CodeTarget),
    /// The machine lacks the instruction set, or an extension of it.
    #[error("this machine cannot run {0}; `portable` runs everywhere")]
    Unavailable(CodeTarget),
    /// This build leaves out the code generator for the instruction set.
    #[error("this build has no code generator for {0}; feature `portable` brings one")]
    NotBuilt(CodeTarget),
    /// Registers could not be assigned.
    #[error("registers could not be assigned: {0}")]
    Registers(String),
    /// An instruction could not be encoded.
    #[error("{instruction} could not be encoded: {reason}")]
    Encoding {
        /// The instruction.
        instruction: String,
        /// The encoder's message.
        reason: String,
    },
    /// Cranelift refused the function.
    #[error("the portable code generator refused the function: {0}")]
    Portable(String),
    /// The code could not be made executable.
    #[error(transparent)]
    Code(#[from] CodeError),
}

fn list(errors: &[VerifyError]) -> String {
    let lines: Vec<String> = errors.iter().map(VerifyError::to_string).collect();
    lines.join("; ")
}
