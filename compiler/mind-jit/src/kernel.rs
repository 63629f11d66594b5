//! Functions of vector IR as code that can be called.

use crate::code::{Code, CodeBuilder, FunctionOffset};
use crate::error::CompileError;
use crate::target::Isa;
use crate::vir::{self, Function, Status};
use crate::{portable, x86};

/// What every kernel is in memory: arguments in, status out.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*const u64) -> u64;
/// What every kernel is in memory: arguments in, status out.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*const u64) -> u64;

/// The machine code of `function` for `isa`, which this machine need not have.
///
/// Errors: the function is not valid, or its vectors do not fit the target.
pub fn assemble(function: &Function, isa: Isa) -> Result<Vec<u8>, CompileError> {
    vir::verify(function).map_err(CompileError::Invalid)?;
    match isa {
        Isa::Portable => portable::compile(function),
        Isa::Avx2 | Isa::Avx512 => x86::compile(function, isa),
    }
}

/// A compiled function. It can be called from any thread, and from several at once.
#[derive(Clone, Debug)]
pub struct Kernel {
    code: Code,
    offset: FunctionOffset,
    params: usize,
}

impl Kernel {
    /// Compiles `functions` into pages of their own, for this machine.
    ///
    /// Errors: a function is not valid, or its vectors do not fit the target; the machine has not got the
    /// instruction set; the system refuses executable memory.
    pub fn compile_all<'f>(
        functions: impl IntoIterator<Item = &'f Function>,
        isa: Isa,
    ) -> Result<Vec<Kernel>, CompileError> {
        if !isa.is_available() {
            return Err(CompileError::Unavailable(isa));
        }
        let mut builder = CodeBuilder::default();
        let mut placed = Vec::new();
        for function in functions {
            let offset = builder.push(&assemble(function, isa)?);
            placed.push((offset, function.params().len()));
        }
        let code = builder.publish()?;
        let kernels = placed.into_iter().map(|(offset, params)| Kernel {
            code: code.clone(),
            offset,
            params,
        });
        Ok(kernels.collect())
    }

    /// Compiles one function, as [`compile_all`](Kernel::compile_all) does.
    pub fn compile(function: &Function, isa: Isa) -> Result<Kernel, CompileError> {
        let mut kernels = Kernel::compile_all([function], isa)?;
        Ok(kernels.remove(0))
    }

    /// Calls the kernel with an argument for each parameter: addresses, and indices as they are.
    ///
    /// # Panics
    ///
    /// If there are more or fewer arguments than parameters.
    ///
    /// # Safety
    ///
    /// Every address that the function computes from `args` must be valid for the access it makes there, for
    /// as long as the call lasts, and nothing else may write there, or read what it writes. Counts must lie
    /// in `0..=lanes`. The interpreter of vector IR checks both.
    pub unsafe fn call(&self, args: &[u64]) -> Status {
        assert_eq!(args.len(), self.params, "an argument for each parameter");
        let entry = self.code.entry(self.offset);
        // SAFETY: the code at this offset was compiled as an `Entry` and lives as long as `self`.
        let entry: Entry = unsafe { std::mem::transmute(entry.as_ptr()) };
        // SAFETY: the caller answers for the arguments; the code reads as many as there are.
        Status(unsafe { entry(args.as_ptr()) })
    }
}
