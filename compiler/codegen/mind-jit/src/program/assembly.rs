//! Assembly of a program's kernels on the threads of a pool.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use mind_ir::Bytes;
use mind_vir::CompileError;
use mind_vir::ir::Function;
use mind_vir::kernel::Assembler;
use mind_vir::target::TargetInfo;

use crate::pool::Pool;

/// Machine code of a program's kernels from an earlier compilation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramCode {
    /// Code of each kernel, in the order of their first calls.
    pub kernels: Vec<KernelCode>,
    /// Code of the programs of control-flow regions.
    pub regions: Vec<ProgramCode>,
}

/// Machine code of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelCode {
    /// Interface of the kernel.
    pub signature: KernelSignature,
    /// The code.
    pub code: Bytes,
}

/// Interface of a kernel to its callers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelSignature {
    /// Number of parameters.
    pub params: usize,
    /// Bytes of scratch memory, if the kernel has any.
    pub scratch: Option<usize>,
}

impl KernelSignature {
    pub(super) fn of(function: &Function) -> KernelSignature {
        KernelSignature {
            params: function.params().len(),
            scratch: function.scratch().map(|scratch| scratch.bytes),
        }
    }
}

/// Returns the machine code of each of `functions`, in order. Each thread takes the largest remaining function.
pub(super) fn assemble_all(
    functions: &[&Function],
    target: &TargetInfo,
    pool: &Pool,
) -> Vec<Result<Vec<u8>, CompileError>> {
    let mut largest_first: Vec<usize> = (0..functions.len()).collect();
    largest_first.sort_by_key(|&at| std::cmp::Reverse(functions[at].value_count()));
    let assemble = |assembler: &mut Assembler, at: usize| assembler.assemble(functions[at], target);
    make_all(pool, &largest_first, Assembler::default, assemble)
}

/// Calls `make` for each number below the length of `order`, on all threads of `pool`, and returns the results by
/// number. Work starts in the order of `order`, which is a permutation. Each thread has its own state.
pub(super) fn make_all<S, T: Send>(
    pool: &Pool,
    order: &[usize],
    state: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let taken = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(order.len()));
    pool.run(pool.threads().min(order.len()), &|_| {
        let mut state = state();
        while let Some(&at) = order.get(taken.fetch_add(1, Ordering::Relaxed)) {
            let one = make(&mut state, at);
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push((at, one));
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|&(at, _)| at);
    made.into_iter().map(|(_, one)| one).collect()
}
