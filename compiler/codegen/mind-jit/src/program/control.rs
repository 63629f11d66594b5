//! Execution of control flow.

use std::ops::Deref;
use std::sync::Arc;

use mind_ir::eval::EvalError;
use mind_vir::program::{Control, Flow, Region, Slices, Step};
use smallvec::SmallVec;

use super::bound::BoundProgram;
use super::compiled::Program;
use super::error::RunError;
use super::memory::Block;
use super::run::Memory;

/// A bound program, or the error of its binding, which is reported only when the program is to run.
pub(super) type BoundRegion = Result<BoundProgram, RunError>;

/// The programs of control-flow regions, some of which are already bound.
#[derive(Clone, Copy)]
pub(super) struct Regions<'p> {
    pub(super) programs: &'p [Arc<Program>],
    pub(super) bound: &'p [Option<BoundRegion>],
    /// The maximal trip count of a loop whose trip count is data-dependent.
    pub(super) max_steps: u64,
}

/// Binds the programs of regions whose weights are the same in every run.
///
/// # Safety
///
/// As for [`run`](super::run::run), after the steps that bind weights.
pub(super) unsafe fn bind_once(
    steps: &[Step],
    programs: &[Arc<Program>],
    memory: Memory<'_>,
) -> Vec<Option<BoundRegion>> {
    let mut bound: Vec<Option<BoundRegion>> = programs.iter().map(|_| None).collect();
    let controls = steps.iter().filter_map(Step::as_control);
    for control in controls.filter(|control| control.is_bound_once) {
        for &program in &control.programs {
            // SAFETY: guaranteed by the caller.
            bound[program] = Some(unsafe { bind(control, &programs[program], memory) });
        }
    }
    bound
}

/// # Safety
///
/// As for [`run`](super::run::run).
unsafe fn bind(
    control: &Control,
    program: &Arc<Program>,
    memory: Memory<'_>,
) -> Result<BoundProgram, RunError> {
    // SAFETY: guaranteed by the caller.
    let params = control
        .fixed
        .iter()
        .map(|&region| unsafe { read(memory, region) });
    let params: SmallVec<[&[u8]; 8]> = params.collect();
    BoundProgram::new(program.clone(), &params)
}

/// Returns the bytes of a region.
///
/// # Safety
///
/// The region must be in memory that is not written during the lifetime of the result.
unsafe fn read<'m>(memory: Memory<'m>, region: Region) -> &'m [u8] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts(memory.address(region).cast_const(), region.bytes) }
}

/// Returns the mutable bytes of a region.
///
/// # Safety
///
/// The region must be in memory that is not accessed otherwise during the lifetime of the result.
unsafe fn write<'m>(memory: Memory<'m>, region: Region) -> &'m mut [u8] {
    // SAFETY: guaranteed by the caller.
    unsafe { std::slice::from_raw_parts_mut(memory.address(region), region.bytes) }
}

/// Runs a control-flow step.
///
/// # Errors
///
/// Those of the region programs; a loop exceeds the maximal trip count.
///
/// # Safety
///
/// As for [`run`](super::run::run).
pub(super) unsafe fn run(
    control: &Control,
    regions: Regions<'_>,
    memory: Memory<'_>,
) -> Result<(), RunError> {
    // SAFETY: the caller guarantees the memory. Results are disjoint from each other and from the operands.
    let (operands, mut results) = unsafe {
        let operands: Vec<&[u8]> = control
            .operands
            .iter()
            .map(|&own| read(memory, own))
            .collect();
        let results: Vec<&mut [u8]> = control
            .results
            .iter()
            .map(|&own| write(memory, own))
            .collect();
        (operands, results)
    };
    // SAFETY: as above.
    let program = |at: usize| unsafe { bound(control, control.programs[at], regions, memory) };
    match &control.flow {
        Flow::If => {
            let chosen = program(usize::from(operands[0] == [0]))?;
            chosen.run(&operands[1..], &mut results)
        }
        Flow::While => {
            let refused = RunError::Evaluation {
                op: control.op,
                error: EvalError::Steps(regions.max_steps),
            };
            run_while(&program, &operands, results, regions.max_steps, refused)
        }
        Flow::Scan {
            steps,
            carried,
            inputs,
            outputs,
        } => {
            let scan = Scan {
                steps: *steps,
                inputs,
                outputs,
            };
            let (initial, scanned) = operands.split_at(*carried);
            scan.run(&program, initial, scanned, results)
        }
    }
}

/// A program that is bound for one run, or together with the whole program.
enum Bound<'p> {
    Now(Box<BoundProgram>),
    Once(&'p BoundProgram),
}

impl Deref for Bound<'_> {
    type Target = BoundProgram;

    fn deref(&self) -> &BoundProgram {
        match self {
            Bound::Now(program) => program,
            Bound::Once(program) => program,
        }
    }
}

/// Returns program number `at` of the regions, bound to its weights.
///
/// # Errors
///
/// The error of binding it.
///
/// # Safety
///
/// As for [`run`](super::run::run).
unsafe fn bound<'p>(
    control: &Control,
    at: usize,
    regions: Regions<'p>,
    memory: Memory<'_>,
) -> Result<Bound<'p>, RunError> {
    match &regions.bound[at] {
        Some(bound) => bound.as_ref().map(Bound::Once).map_err(RunError::clone),
        None => {
            // SAFETY: guaranteed by the caller.
            let program = unsafe { bind(control, &regions.programs[at], memory)? };
            Ok(Bound::Now(Box::new(program)))
        }
    }
}

/// Allocates a second buffer for carried values, because an iteration must not overwrite the values it reads.
fn spare(like: &[&[u8]]) -> Result<Vec<Block>, RunError> {
    like.iter().map(|bytes| Block::new(bytes.len())).collect()
}

/// Returns the mutable bytes of blocks, cut to the lengths of the arrays `like`.
fn bytes_of<'b>(blocks: &'b mut [Block], like: &[&[u8]]) -> Vec<&'b mut [u8]> {
    let pairs = blocks.iter_mut().zip(like);
    pairs
        .map(|(block, like)| &mut block.bytes_mut()[..like.len()])
        .collect()
}

/// Reborrows the arrays that an iteration has written, to be read by the next one.
fn shared<'b>(arrays: &'b [&mut [u8]]) -> SmallVec<[&'b [u8]; 8]> {
    arrays.iter().map(|array| &**array).collect()
}

fn run_while<'p>(
    program: &dyn Fn(usize) -> Result<Bound<'p>, RunError>,
    initial: &[&[u8]],
    mut results: Vec<&mut [u8]>,
    max_steps: u64,
    refused: RunError,
) -> Result<(), RunError> {
    let (mut first, mut second) = (spare(initial)?, spare(initial)?);
    let mut now = bytes_of(&mut first, initial);
    let mut next = bytes_of(&mut second, initial);
    for (now, initial) in now.iter_mut().zip(initial) {
        now.copy_from_slice(initial);
    }
    let condition = program(0)?;
    let mut body = None;
    for step in 0.. {
        let mut goes_on = [0u8];
        condition.run(&shared(&now), &mut [&mut goes_on])?;
        if goes_on == [0] {
            break;
        }
        if step == max_steps {
            return Err(refused);
        }
        let body = match &mut body {
            Some(body) => body,
            None => body.insert(program(1)?),
        };
        body.run(&shared(&now), &mut next)?;
        std::mem::swap(&mut now, &mut next);
    }
    for (result, last) in results.iter_mut().zip(&now) {
        result.copy_from_slice(last);
    }
    Ok(())
}

/// The slices of a scan.
struct Scan<'c> {
    steps: usize,
    inputs: &'c [Slices],
    outputs: &'c [Slices],
}

impl Scan<'_> {
    fn run<'p>(
        &self,
        program: &dyn Fn(usize) -> Result<Bound<'p>, RunError>,
        initial: &[&[u8]],
        scanned: &[&[u8]],
        mut results: Vec<&mut [u8]>,
    ) -> Result<(), RunError> {
        let mut stacked = results.split_off(initial.len());
        let mut last = results;
        if self.steps == 0 {
            for (last, initial) in last.iter_mut().zip(initial) {
                last.copy_from_slice(initial);
            }
            return Ok(());
        }
        let body = program(0)?;
        let mut spare_blocks = spare(initial)?;
        let mut now = bytes_of(&mut spare_blocks, initial);
        // Buffers alternate so that the last iteration writes the results.
        if self.steps.is_multiple_of(2) {
            std::mem::swap(&mut now, &mut last);
        }
        for step in 0..self.steps {
            let carried: SmallVec<[&[u8]; 8]> = match step {
                0 => initial.into(),
                _ => shared(&now),
            };
            let slices = scanned
                .iter()
                .zip(self.inputs)
                .map(|(array, slices)| &array[slices.offset(step, self.steps)..][..slices.bytes]);
            let read: SmallVec<[&[u8]; 8]> = carried.into_iter().chain(slices).collect();
            let places = stacked.iter_mut().zip(self.outputs).map(|(array, slices)| {
                &mut array[slices.offset(step, self.steps)..][..slices.bytes]
            });
            let mut written: SmallVec<[&mut [u8]; 8]> = last
                .iter_mut()
                .map(|array| &mut **array)
                .chain(places)
                .collect();
            body.run(&read, &mut written)?;
            drop((read, written));
            std::mem::swap(&mut now, &mut last);
        }
        Ok(())
    }
}
