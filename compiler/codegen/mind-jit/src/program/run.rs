//! Execution of a program's steps.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use mind_ir::Bytes;
use smallvec::SmallVec;

use super::compiled::{Profile, Program};
use super::control::{self, BoundRegion, Regions};
use super::error::RunError;
use super::partition::{Partition, useful_threads};
use super::routine::Routine;
use crate::interrupt::is_interrupted;
use crate::pool::{Pool, share};
use mind_vir::ir::Status;
use mind_vir::kernel::CompiledKernel;
use mind_vir::program::{Base, Call, Evaluate, Gather, IndexType, Region, Step, Transfer};

/// The memory of one run.
#[derive(Clone, Copy)]
pub(super) struct Memory<'m> {
    pub(super) inputs: &'m [*const u8],
    pub(super) outputs: &'m [*mut u8],
    /// The caller's weights, which are valid only while they are bound.
    pub(super) params: &'m [*const u8],
    /// Large constants, which are numbered after the weights.
    pub(super) literals: &'m [Bytes],
    pub(super) first_literal: usize,
    pub(super) constants: *const u8,
    pub(super) bound: *mut u8,
    pub(super) workspace: *mut u8,
    /// The scratch memory of the first thread.
    pub(super) scratch: *mut u8,
    /// Bytes between the scratch memories of consecutive threads.
    pub(super) scratch_stride: usize,
}

// SAFETY: tasks of one step write disjoint parts of the memory and do not read parts that other tasks write.
unsafe impl Sync for Memory<'_> {}

impl Memory<'_> {
    /// Returns the scratch memory of a thread.
    fn scratch(&self, thread: usize) -> u64 {
        self.scratch.wrapping_add(thread * self.scratch_stride) as u64
    }

    /// Returns the address of the first byte of `region`.
    pub(super) fn address(&self, region: Region) -> *mut u8 {
        let base = match region.base {
            Base::Input(index) => self.inputs[index as usize].cast_mut(),
            Base::Output(index) => self.outputs[index as usize],
            Base::Param(index) => match (index as usize).checked_sub(self.first_literal) {
                Some(at) => self.literals[at].as_ptr().cast_mut(),
                None => self.params[index as usize].cast_mut(),
            },
            Base::Constants => self.constants.cast_mut(),
            Base::Bound => self.bound,
            Base::Workspace => self.workspace,
        };
        base.wrapping_add(region.offset as usize)
    }
}

/// The kernels, routines and regions that steps call.
#[derive(Clone, Copy)]
pub(super) struct Code<'p> {
    kernels: &'p [CompiledKernel],
    routines: &'p [Routine],
    regions: Regions<'p>,
    profile: Option<&'p Profile>,
}

impl<'p> Code<'p> {
    /// Returns the code for the steps that bind weights, which are not profiled.
    pub(super) fn of_binding(program: &'p Program) -> Code<'p> {
        Code {
            profile: None,
            ..Code::of(program, &[])
        }
    }

    /// Returns the code of a program with the bound regions `bound`.
    pub(super) fn of(program: &'p Program, bound: &'p [Option<BoundRegion>]) -> Code<'p> {
        Code {
            kernels: &program.kernels,
            routines: &program.routines,
            regions: Regions {
                programs: &program.regions,
                bound,
                max_steps: program.max_steps,
            },
            profile: program.profile.as_ref(),
        }
    }
}

/// Runs `steps` in order.
///
/// # Errors
///
/// The error of the first failing step: an integer division by 0 or of the smallest integer by -1, an index out of
/// bounds, or an op without a kernel that rejects its operands; the run was interrupted.
///
/// # Safety
///
/// The memory must have the sizes that the program of the steps declares. Until this returns, nothing else may write to
/// it, or read memory that the steps write.
pub(super) unsafe fn run(
    steps: &[Step],
    code: Code<'_>,
    pool: &Pool,
    memory: Memory<'_>,
) -> Result<(), RunError> {
    for (at, step) in steps.iter().enumerate() {
        if is_interrupted() {
            return Err(RunError::Interrupted);
        }
        let started = code.profile.map(|profile| (profile, Instant::now()));
        // SAFETY: guaranteed by the caller.
        unsafe {
            match step {
                Step::Call(call) => run_call(call, &code.kernels[call.kernel], pool, memory)?,
                Step::Gather(gather) => run_gather(gather, memory)?,
                Step::Transfer(copy) => run_transfer(copy, pool, memory),
                Step::Evaluate(call) => {
                    run_routine(call, &code.routines[call.routine], pool, memory)?
                }
                Step::Control(control) => control::run(control, code.regions, memory)?,
            }
        }
        if let Some((profile, start)) = started {
            profile.profiler.record(profile.first + at, start);
        }
    }
    Ok(())
}

/// # Safety
///
/// As for [`run`].
unsafe fn run_call(
    call: &Call,
    kernel: &CompiledKernel,
    pool: &Pool,
    memory: Memory<'_>,
) -> Result<(), RunError> {
    let threads = useful_threads(call.cost, pool.threads());
    let partition = Partition::new(&call.grid, threads);
    let tasks = partition.tasks();
    let mut pointers: SmallVec<[u64; 24]> = SmallVec::new();
    pointers.extend(
        call.args
            .iter()
            .map(|&region| memory.address(region) as u64),
    );
    // Only the caller's thread polls for an interruption; the other threads see this flag.
    let is_stopped = AtomicBool::new(false);
    let run_share = |thread: usize, tasks: Range<usize>| {
        let mut args = pointers.clone();
        let fixed = args.len();
        let mut status = Status::OK;
        for task in tasks {
            if is_stopped.load(Ordering::Relaxed) || is_interrupted() {
                is_stopped.store(true, Ordering::Relaxed);
                break;
            }
            args.truncate(fixed);
            partition.push(task, &mut args);
            if call.has_scratch {
                args.push(memory.scratch(thread));
            }
            // SAFETY: the program was compiled for memory of this layout, and the accesses of tasks do not overlap.
            status = status.with(unsafe { kernel.call(&args) });
        }
        status
    };
    let status = if threads <= 1 || tasks <= 1 {
        run_share(0, 0..tasks)
    } else {
        let parts = threads.min(tasks);
        let status = AtomicU64::new(0);
        pool.run(parts, &|part| {
            let found = run_share(part, share(tasks, parts, part));
            status.fetch_or(found.0, Ordering::Relaxed);
        });
        Status(status.into_inner())
    };
    if is_stopped.into_inner() {
        return Err(RunError::Interrupted);
    }
    match status {
        Status::OK => Ok(()),
        status => Err(RunError::Division {
            op: call.op,
            status,
        }),
    }
}

/// # Safety
///
/// As for [`run`].
unsafe fn run_gather(gather: &Gather, memory: Memory<'_>) -> Result<(), RunError> {
    let indices = memory.address(gather.indices).cast_const();
    let [data, result] = [gather.data, gather.result].map(|region| memory.address(region));
    let index = |at: usize| match gather.index_dtype {
        // SAFETY: there are `count` indices of this dtype, possibly unaligned.
        IndexType::I32 => i64::from(unsafe { indices.cast::<i32>().add(at).read_unaligned() }),
        // SAFETY: as above.
        IndexType::I64 => unsafe { indices.cast::<i64>().add(at).read_unaligned() },
    };
    let outside = (0..gather.count)
        .map(index)
        .find(|index| !(0..gather.extent as i64).contains(index));
    if let Some(index) = outside {
        let (axis, extent) = (gather.axis, gather.extent);
        return Err(RunError::IndexOutOfBounds {
            index,
            axis,
            extent,
        });
    }
    for group in 0..gather.outer {
        for at in 0..gather.count {
            let from = (group * gather.extent + index(at) as usize) * gather.slice;
            let to = (group * gather.count + at) * gather.slice;
            // SAFETY: the index was checked, and both ranges are inside their arrays, which do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(data.add(from), result.add(to), gather.slice) };
        }
    }
    Ok(())
}

/// Bytes that a thread copies at a time.
const PIECE: usize = 1 << 16;

/// # Safety
///
/// As for [`run`].
unsafe fn run_transfer(copy: &Transfer, pool: &Pool, memory: Memory<'_>) {
    let bytes = copy.from.bytes;
    pool.run(bytes.div_ceil(PIECE), &|piece| {
        let start = piece * PIECE;
        let [from, to] =
            [copy.from, copy.to].map(|region| memory.address(region).wrapping_add(start));
        // SAFETY: both regions have these bytes and do not overlap, nor do the pieces.
        unsafe { std::ptr::copy_nonoverlapping(from, to, PIECE.min(bytes - start)) };
    });
}

/// # Safety
///
/// As for [`run`].
unsafe fn run_routine(
    call: &Evaluate,
    routine: &Routine,
    pool: &Pool,
    memory: Memory<'_>,
) -> Result<(), RunError> {
    let read = |region: &Region| {
        // SAFETY: the region is inside memory that is not written until the routine returns.
        unsafe { std::slice::from_raw_parts(memory.address(*region).cast_const(), region.bytes) }
    };
    let operands: SmallVec<[&[u8]; 4]> = call.operands.iter().map(read).collect();
    let own = call.results.iter().map(|result| {
        let start = memory.address(*result);
        (start, result.bytes)
    });
    let own: SmallVec<[(*mut u8, usize); 2]> = own.collect();
    let span = |&(start, bytes): &(*mut u8, usize)| start.addr()..start.addr() + bytes;
    let apart = |a: Range<usize>, b: Range<usize>| a.end <= b.start || b.end <= a.start;
    let are_apart = own.iter().enumerate().all(|(at, result)| {
        let others = own[..at].iter().map(span);
        let read = operands.iter().map(|read| read.as_ptr_range());
        let read = read.map(|read| read.start.addr()..read.end.addr());
        others.chain(read).all(|other| apart(span(result), other))
    });
    if are_apart {
        let results = own.iter().map(|&(start, bytes)| {
            // SAFETY: the region is inside its memory and overlaps with neither an operand nor another result, and only
            // the routine reads it until it returns.
            unsafe { std::slice::from_raw_parts_mut(start, bytes) }
        });
        let mut results: SmallVec<[&mut [u8]; 2]> = results.collect();
        if routine.write(pool, &operands, &mut results) {
            return Ok(());
        }
    }
    let results = routine.call(&operands)?;
    for (tensor, region) in results.iter().zip(&call.results) {
        let bytes = tensor.buffer().as_bytes();
        assert_eq!(bytes.len(), region.bytes, "a result of `{}`", call.op);
        // SAFETY: the region has these bytes, and the operands were copied before.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.address(*region), bytes.len());
        }
    }
    Ok(())
}
