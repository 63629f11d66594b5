//! Vector IR to machine code through Cranelift, in vectors of 128 bits.
//!
//! A vector fills the low part of a 128-bit value of its lane type. Operations without a vector instruction in
//! Cranelift are applied lane by lane to vectors on the stack.

mod half;
mod lanes;
mod translate;
mod types;
mod vectors;

use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use crate::error::CompileError;
use crate::ir::Function;
use crate::target::Target;

/// Returns the machine code of a valid `function`, whose vectors fit 128 bits, for this machine.
///
/// # Errors
///
/// Errors if Cranelift does not support the processor, or if the processor has no fused multiply-add.
pub(crate) fn compile(function: &Function, _: &Target) -> Result<Vec<u8>, CompileError> {
    compile_for(function, host()?.as_ref())
}

/// Returns the machine code of a valid `function` for the processor that `isa` describes.
///
/// # Errors
///
/// Errors if the code generator rejects the function.
pub(crate) fn compile_for(
    function: &Function,
    isa: &dyn TargetIsa,
) -> Result<Vec<u8>, CompileError> {
    let mut context = Context::for_function(translate::translate(function, isa));
    let compiled = context.compile(isa, &mut ControlPlane::default());
    let compiled = compiled.map_err(|error| CompileError::Portable(error.inner.to_string()))?;
    // A relocation would be a call or a symbol, which functions do not have.
    match compiled.buffer.relocs().first() {
        Some(reloc) => Err(CompileError::Portable(format!("it needs {reloc:?}"))),
        None => Ok(compiled.code_buffer().to_vec()),
    }
}

/// Returns Cranelift's description of this machine.
fn host() -> Result<Arc<dyn TargetIsa>, CompileError> {
    static HOST: OnceLock<Result<Arc<dyn TargetIsa>, String>> = OnceLock::new();
    HOST.get_or_init(describe)
        .clone()
        .map_err(CompileError::Portable)
}

fn describe() -> Result<Arc<dyn TargetIsa>, String> {
    // Without FMA, Cranelift would emit a call for a multiply-add.
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("fma") {
        return Err("this processor has no fused multiply-add; use the interpreter".to_owned());
    }
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    for (name, value) in [("opt_level", "speed"), ("enable_verifier", verify)] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let builder = cranelift_native::builder().map_err(str::to_owned)?;
    let isa = builder.finish(settings::Flags::new(flags));
    isa.map_err(|error| error.to_string())
}
