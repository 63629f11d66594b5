//! Vector IR to machine code through Cranelift, in vectors of 128 bits.
//!
//! A vector fills the low part of a 128-bit value of its lane type. What Cranelift has no vector operation
//! for goes through the stack, one lane at a time.

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

/// The machine code of a valid `function` for the machine this runs on, whose vectors fit 128 bits.
///
/// # Errors
///
/// A processor that Cranelift does not know, or without fused multiply-add.
pub(crate) fn compile(function: &Function, _: &Target) -> Result<Vec<u8>, CompileError> {
    compile_for(function, host()?.as_ref())
}

/// The machine code of a valid `function` for the processor that `isa` describes.
///
/// # Errors
///
/// The code generator refuses the function.
pub(crate) fn compile_for(
    function: &Function,
    isa: &dyn TargetIsa,
) -> Result<Vec<u8>, CompileError> {
    let mut context = Context::for_function(translate::translate(function, isa));
    let compiled = context.compile(isa, &mut ControlPlane::default());
    let compiled = compiled.map_err(|error| CompileError::Portable(error.inner.to_string()))?;
    // A relocation would be a call or a symbol; functions have neither.
    match compiled.buffer.relocs().first() {
        Some(reloc) => Err(CompileError::Portable(format!("it needs {reloc:?}"))),
        None => Ok(compiled.code_buffer().to_vec()),
    }
}

/// Cranelift's description of this machine.
fn host() -> Result<Arc<dyn TargetIsa>, CompileError> {
    static HOST: OnceLock<Result<Arc<dyn TargetIsa>, String>> = OnceLock::new();
    HOST.get_or_init(describe)
        .clone()
        .map_err(CompileError::Portable)
}

fn describe() -> Result<Arc<dyn TargetIsa>, String> {
    // Without the instruction a multiply-add would be a call.
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
