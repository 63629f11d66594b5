//! Vector IR to x86-64: AVX2 and AVX-512.
//!
//! Selection translates operations to instructions over virtual registers; `allocate` assigns registers if there are
//! enough, regalloc2 otherwise; then instructions are encoded. Functions are leaf functions in the System V convention,
//! which restore callee-saved registers. Constants follow the code and are addressed relative to the instruction
//! pointer.

mod allocate;
mod check;
mod codes;
mod emit;
mod encoder;
mod encoding;
mod lanewise;
mod listing;
mod machine;
mod non_temporal;
mod pool;
mod registers;
mod select;
mod tiles;
mod view;

use regalloc2::checker::Checker;
use regalloc2::{Ctx, MachineEnv, Output, RegallocOptions};

use crate::ir::Function;
use crate::target::CodeTarget;

use crate::error::CompileError;

use encoding::Encoding;

pub use listing::disassemble;

/// Returns the machine code of a valid `function` for AVX2 or AVX-512, with the extensions of `code`; its vectors must
/// fit.
///
/// The code is position-independent with an alignment of 64 bytes. Debug builds check the register assignment, and
/// decode and check the code. `allocator` keeps buffers of the register allocator between functions.
pub(crate) fn compile(
    function: &Function,
    code: CodeTarget,
    allocator: &mut Ctx,
) -> Result<Vec<u8>, CompileError> {
    let (mut machine, pool) = select::select(function, code);
    let target = code.isa.target();
    let env = registers::environment(target.vector_registers as usize, target.has_masks);
    let own = allocate::allocate(&machine, &env);
    let output = match &own {
        Some(own) => own,
        None => {
            machine = machine.cold_last();
            spilling(&machine, &env, allocator)?
        }
    };
    if cfg!(debug_assertions) {
        let mut checker = Checker::new(&machine, &env);
        checker.prepare(output);
        if let Err(broken) = checker.run() {
            panic!("{broken:?}, in the registers of\n{function}");
        }
    }
    let (bytes, end) = emit::emit(&machine, output, &pool, Encoding::of(target))?;
    if cfg!(debug_assertions) {
        let constants = end.next_multiple_of(64)..bytes.len();
        if let Err(broken) = check::check(&bytes[..end], constants) {
            panic!("{broken}, in the code of\n{function}");
        }
    }
    Ok(bytes)
}

/// Assigns registers with spills, for functions with too high register pressure.
///
/// # Errors
///
/// Errors if a single instruction needs more registers than there are.
fn spilling<'c>(
    machine: &machine::Machine,
    env: &MachineEnv,
    allocator: &'c mut Ctx,
) -> Result<&'c Output, CompileError> {
    let options = RegallocOptions {
        validate_ssa: cfg!(debug_assertions),
        ..RegallocOptions::default()
    };
    regalloc2::run_with_ctx(machine, env, &options, allocator)
        .map_err(|error| CompileError::Registers(format!("{error:?}")))
}
