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
use cranelift_codegen::isa::{self, TargetIsa};
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
    let isa = host()?;
    let mut context = Context::for_function(translate::translate(function, isa.as_ref()));
    let compiled = context.compile(isa.as_ref(), &mut ControlPlane::default());
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
    let system = if cfg!(target_vendor = "apple") {
        "apple-darwin"
    } else {
        "unknown-linux-gnu"
    };
    let triple = format!("{}-{system}", std::env::consts::ARCH);
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    for (name, value) in [("opt_level", "speed"), ("enable_verifier", verify)] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let mut builder = isa::lookup_by_name(&triple).map_err(|error| error.to_string())?;
    features(&mut builder)?;
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|error| error.to_string())
}

/// Tells Cranelift what this processor has; a multiply-add without the instruction would be a call.
#[cfg(target_arch = "x86_64")]
fn features(builder: &mut isa::Builder) -> Result<(), String> {
    use std::arch::is_x86_feature_detected as has;
    if !has!("fma") {
        return Err("this processor has no fused multiply-add; use the interpreter".to_owned());
    }
    for (name, is_there) in [
        ("has_sse3", has!("sse3")),
        ("has_ssse3", has!("ssse3")),
        ("has_sse41", has!("sse4.1")),
        ("has_sse42", has!("sse4.2")),
        ("has_avx", has!("avx")),
        ("has_avx2", has!("avx2")),
        ("has_fma", true),
    ] {
        if is_there {
            builder.enable(name).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Other architectures have what is needed.
#[cfg(not(target_arch = "x86_64"))]
fn features(_: &mut isa::Builder) -> Result<(), String> {
    Ok(())
}
