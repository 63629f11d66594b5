//! Callable machine code of vector IR functions.

use crate::code::{Code, CodeBuilder, FunctionOffset};
use crate::error::CompileError;
use crate::ir::{Function, Status};
#[cfg(feature = "portable")]
use crate::portable;
use crate::target::{CodeTarget, Isa, TargetInfo};
use crate::x86;

/// Signature of every kernel: a pointer to the arguments; returns the status bits.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*const u64) -> u64;
/// Signature of every kernel: a pointer to the arguments; returns the status bits.
#[cfg(not(target_arch = "x86_64"))]
type Entry = unsafe extern "C" fn(*const u64) -> u64;

/// Compiles functions to machine code, one after the other; buffers are reused between functions.
#[derive(Default)]
pub struct Assembler {
    registers: regalloc2::Ctx,
}

impl Assembler {
    /// Returns the machine code of `function` for `target`, which may differ from this machine's.
    ///
    /// # Errors
    ///
    /// Errors if the function is invalid or its vectors do not fit the registers of the target.
    pub fn assemble(
        &mut self,
        function: &Function,
        target: impl Into<CodeTarget>,
    ) -> Result<Vec<u8>, CompileError> {
        let target: CodeTarget = target.into();
        check(function, target)?;
        match target.isa {
            #[cfg(feature = "portable")]
            Isa::Portable => portable::compile(function, target.isa.target()),
            #[cfg(not(feature = "portable"))]
            Isa::Portable => Err(CompileError::NotBuilt(target)),
            Isa::Avx2 | Isa::Avx512 => x86::compile(function, target, &mut self.registers),
        }
    }
}

/// Returns the machine code of `function` for `target`, as [`Assembler::assemble`] does.
///
/// # Errors
///
/// As [`Assembler::assemble`].
pub fn assemble(
    function: &Function,
    target: impl Into<CodeTarget>,
) -> Result<Vec<u8>, CompileError> {
    Assembler::default().assemble(function, target)
}

/// Checks that a function is valid, its vectors fit the registers of `target`, and `target` has the instructions that it
/// needs.
///
/// # Errors
///
/// Errors if one of these does not hold; the error says which.
pub(crate) fn check(function: &Function, target: CodeTarget) -> Result<(), CompileError> {
    crate::ir::verify(function).map_err(CompileError::Invalid)?;
    if function.has_byte_products() && !target.multiplies_bytes() {
        return Err(CompileError::ByteProducts(target));
    }
    fits(function, target.isa)
}

/// Returns whether every vector fits a register, and fills enough of it to be moved.
fn fits(function: &Function, isa: Isa) -> Result<(), CompileError> {
    let least = isa.target().least_lanes;
    let (lanes, widest) = (function.lanes(), function.widest_lane().bits());
    let most = TargetInfo::of(isa).lanes(widest);
    if (least..=most).contains(&lanes) {
        return Ok(());
    }
    Err(CompileError::Lanes {
        isa,
        lanes,
        widest,
        least,
        most,
    })
}

/// A compiled function. It can be called from any thread, and from several at once.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    code: Code,
    offset: FunctionOffset,
    /// Bytes of the function.
    length: usize,
    params: usize,
}

impl CompiledKernel {
    /// Publishes functions with their machine code in pages of their own, for this machine.
    ///
    /// `code` was returned by [`Assembler::assemble`].
    ///
    /// # Errors
    ///
    /// Errors if a function could not be compiled, if the machine lacks the instruction set or an extension of it, or
    /// if the system refuses executable memory.
    pub fn publish(
        functions: impl IntoIterator<Item = (usize, Result<Vec<u8>, CompileError>)>,
        target: impl Into<CodeTarget>,
    ) -> Result<Vec<CompiledKernel>, CompileError> {
        let target: CodeTarget = target.into();
        if !target.is_available() {
            return Err(CompileError::Unavailable(target));
        }
        let mut builder = CodeBuilder::default();
        let mut placed = Vec::new();
        for (params, code) in functions {
            let code = code?;
            placed.push((builder.push(&code), code.len(), params));
        }
        let code = builder.publish()?;
        let kernels = placed
            .into_iter()
            .map(|(offset, length, params)| CompiledKernel {
                code: code.clone(),
                offset,
                length,
                params,
            });
        Ok(kernels.collect())
    }

    /// Compiles `functions` into pages of their own, for this machine.
    ///
    /// # Errors
    ///
    /// A function is not valid, or its vectors do not fit the target; those of [`publish`](CompiledKernel::publish).
    pub fn compile_all<'f>(
        functions: impl IntoIterator<Item = &'f Function>,
        target: impl Into<CodeTarget>,
    ) -> Result<Vec<CompiledKernel>, CompileError> {
        let target: CodeTarget = target.into();
        let mut assembler = Assembler::default();
        let functions = functions.into_iter();
        let assembled = functions.map(|function| {
            let code = assembler.assemble(function, target);
            (function.params().len(), code)
        });
        CompiledKernel::publish(assembled, target)
    }

    /// Compiles one function, as [`compile_all`](CompiledKernel::compile_all) does.
    ///
    /// # Errors
    ///
    /// As [`compile_all`](CompiledKernel::compile_all).
    pub fn compile(
        function: &Function,
        target: impl Into<CodeTarget>,
    ) -> Result<CompiledKernel, CompileError> {
        let mut kernels = CompiledKernel::compile_all([function], target)?;
        Ok(kernels.remove(0))
    }

    /// Returns the machine code that an [`Assembler`] generated.
    pub fn machine_code(&self) -> &[u8] {
        self.code.function(self.offset, self.length)
    }

    /// Calls the kernel with an argument for each parameter: addresses, and indices as they are.
    ///
    /// # Panics
    ///
    /// If there are more or fewer arguments than parameters.
    ///
    /// # Safety
    ///
    /// Every address that the function computes from `args` must be valid for its access for the whole call, and no
    /// other thread may write there, or read the bytes that the call writes. Counts must be in `0..=lanes`. The
    /// interpreter of vector IR checks both.
    pub unsafe fn call(&self, args: &[u64]) -> Status {
        assert_eq!(args.len(), self.params, "an argument for each parameter");
        let entry = self.code.entry(self.offset);
        // SAFETY: the code at this offset was compiled as an `Entry` and lives as long as `self`.
        let entry: Entry = unsafe { std::mem::transmute(entry.as_ptr()) };
        // SAFETY: the caller answers for the arguments; the code reads as many as there are.
        Status(unsafe { entry(args.as_ptr()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Addr, Lane, Signature};

    fn copy(lanes: u32) -> Function {
        let mut signature = Signature::new("copy", lanes);
        let (from, to) = (signature.ptr(), signature.ptr());
        let mut b = signature.body();
        let x = b.load(Lane::F32, Addr::at(from), None);
        b.store(x, Addr::at(to), None);
        b.finish()
    }

    #[test]
    fn vectors_that_do_not_fit_are_refused_with_what_would() {
        let cases = [
            (
                Isa::Portable,
                8,
                "8 lanes of up to 32 bits do not fit portable; expected 2 to 4 lanes",
            ),
            (
                Isa::Avx2,
                16,
                "16 lanes of up to 32 bits do not fit avx2; expected 4 to 8 lanes",
            ),
            (
                Isa::Avx512,
                2,
                "2 lanes of up to 32 bits do not fit avx512; expected 4 to 16 lanes",
            ),
        ];
        for (isa, lanes, expected) in cases {
            let refused = assemble(&copy(lanes), isa).expect_err("no register is that wide");
            assert_eq!(refused.to_string(), expected);
        }
        for lanes in [4, 8, 16] {
            assert!(assemble(&copy(lanes), Isa::Avx512).is_ok());
        }
    }

    #[test]
    fn invalid_functions_are_refused() {
        let refused = assemble(&copy(5), Isa::Avx2).expect_err("five lanes");
        assert!(matches!(refused, CompileError::Invalid(_)), "{refused}");
    }

    #[test]
    fn kernels_of_one_module_run_side_by_side() {
        let functions = [copy(4), copy(4)];
        let kernels = CompiledKernel::compile_all(&functions, Isa::Portable).expect("they compile");
        std::thread::scope(|scope| {
            for (kernel, start) in kernels.iter().zip([0f32, 10.0]) {
                scope.spawn(move || {
                    let from: [f32; 4] = std::array::from_fn(|at| start + at as f32);
                    let mut to = [0f32; 4];
                    // SAFETY: the function reads four elements of the first and writes as many of the second.
                    let status =
                        unsafe { kernel.call(&[from.as_ptr() as u64, to.as_mut_ptr() as u64]) };
                    assert_eq!((status, to), (Status::OK, from));
                });
            }
        });
    }
}
