//! Verification that the kernels of a program stay in their memory.
//!
//! Each call is interpreted for every task, with its loops and addresses but without its vectors, because the accesses
//! do not depend on elements. An access must be in the buffer that its kernel declares, read only initialised bytes,
//! and not overlap with the accesses of another task of the call.

use mind_ir::Bytes;
use mind_ir::graph::Graph;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::build::{self, Makers, ProgramBuilder};
use super::error::ProgramError;
use super::layout::Layout;
use super::panels::PanelChoice;
use super::partition::Partition;
use super::port::Port;
use super::weights::Weights;
use mind_vir::ir::{Access, Function, accesses};
use mind_vir::program::{Base, Call, Gather, Region, Step};
use mind_vir::target::{Isa, TargetInfo};

/// The number of threads for which calls are checked, in addition to one.
const THREADS: usize = 5;

/// Checks the program that [`Program::compile`](super::Program::compile) makes for `target`, which may be another
/// machine than this one.
///
/// # Errors
///
/// The first access that is outside its buffer, reads uninitialised bytes, or overlaps with another task; an op without
/// a kernel.
pub fn check_accesses(
    g: &Graph,
    target: &TargetInfo,
    panels: PanelChoice,
) -> Result<(), ProgramError> {
    checked(g, target, panels, Weights::Shared)
}

/// Checks the program that [`emit_c`](super::emit_c) writes.
///
/// # Errors
///
/// Those of [`check_accesses`].
pub fn check_c_accesses(g: &Graph) -> Result<(), ProgramError> {
    let target = TargetInfo::of(Isa::Avx2);
    checked(g, &target, PanelChoice::Best, Weights::Stay)
}

fn checked(
    g: &Graph,
    target: &TargetInfo,
    choice: PanelChoice,
    weights: Weights,
) -> Result<(), ProgramError> {
    mind_loops::memory::check(g).map_err(|why| ProgramError::Memory(why.message))?;
    let builder = build::build(g, target, choice, weights, Makers::Caller)?;
    run(&builder, weights, u64::MAX)?;
    let mut regions = builder.regions.iter();
    regions.try_for_each(|region| checked(region, target, choice, weights))
}

/// Limit of the checks that debug builds make of every program, in accesses and in bytes of memory.
const DEBUG_WORK: u64 = 1 << 22;

/// In debug builds, checks the program of `builder` unless it exceeds [`DEBUG_WORK`].
///
/// # Errors
///
/// Those of [`check_accesses`].
pub(super) fn debug_check(
    builder: &ProgramBuilder<'_>,
    weights: Weights,
) -> Result<(), ProgramError> {
    let ports = |ports: &[Port]| ports.iter().map(Port::bytes).sum::<usize>() as u64;
    let (layout, needs) = (&builder.layout, builder.needs());
    let given = ports(&layout.inputs) + ports(&layout.params) + ports(&layout.outputs);
    let literals = layout.literals.iter().map(Bytes::len).sum::<usize>();
    let made = (layout.constants.len() + literals) as u64 + needs.bound + needs.workspace;
    // Kernels with kept machine code were checked when they were compiled.
    let has_functions = builder.functions.len() == builder.kernels.len();
    if cfg!(debug_assertions) && has_functions && given + made <= DEBUG_WORK {
        return run(builder, weights, DEBUG_WORK);
    }
    Ok(())
}

/// Checks the steps in order, up to `work` accesses.
fn run(builder: &ProgramBuilder<'_>, weights: Weights, work: u64) -> Result<(), ProgramError> {
    let mut memory = Memory::of(builder, work);
    for step in &builder.bind_steps {
        memory.step(builder, step)?;
    }
    match weights {
        Weights::Stay => {}
        Weights::Copied | Weights::Shared | Weights::Embedded => {
            memory.forget_weights(&builder.layout)
        }
    }
    for step in &builder.steps {
        memory.step(builder, step)?;
    }
    if memory.left == 0 {
        return Ok(());
    }
    memory.check_outputs(builder)
}

/// Last writer per byte: 0 = uninitialised, 1 = caller, otherwise the number of a task.
struct Memory {
    writers: FxHashMap<Base, Vec<u32>>,
    /// Last writer per byte of a task's scratch memory.
    scratch: Vec<u32>,
    /// The number of the last task.
    task: u32,
    /// Remaining accesses to check; at 0 checking stops.
    left: u64,
}

/// The writer number of the caller of a program, who provides inputs and constants.
const CALLER: u32 = 1;

fn fault(op: &str, problem: &str) -> ProgramError {
    ProgramError::Memory(format!("the kernel of `{op}`: {problem}"))
}

impl Memory {
    fn of(builder: &ProgramBuilder<'_>, work: u64) -> Memory {
        let (layout, needs) = (&builder.layout, builder.needs());
        let mut writers = FxHashMap::default();
        let mut add = |base: Base, bytes: usize, writer: u32| {
            writers.insert(base, vec![writer; bytes]);
        };
        for (index, port) in layout.inputs.iter().enumerate() {
            add(Base::Input(index as u32), port.bytes(), CALLER);
        }
        for (index, port) in layout.params.iter().enumerate() {
            add(Base::Param(index as u32), port.bytes(), CALLER);
        }
        for (index, literal) in layout.literals.iter().enumerate() {
            let index = (layout.params.len() + index) as u32;
            add(Base::Param(index), literal.len(), CALLER);
        }
        for (index, port) in layout.outputs.iter().enumerate() {
            add(Base::Output(index as u32), port.bytes(), 0);
        }
        add(Base::Constants, layout.constants.len(), CALLER);
        add(Base::Bound, needs.bound as usize, 0);
        add(Base::Workspace, needs.workspace as usize, 0);
        Memory {
            writers,
            scratch: vec![0; needs.scratch],
            task: CALLER,
            left: work,
        }
    }

    /// Makes weights inaccessible, because they are only valid while they are bound. The program's own constants
    /// remain.
    fn forget_weights(&mut self, layout: &Layout) {
        let given = layout.params.len() as u32;
        self.writers
            .retain(|base, _| !matches!(base, Base::Param(index) if *index < given));
    }

    fn bytes(&mut self, region: Region) -> Result<&mut [u32], ProgramError> {
        let range = region.offset as usize..region.end() as usize;
        let all = self.writers.get_mut(&region.base);
        all.and_then(|all| all.get_mut(range)).ok_or_else(|| {
            ProgramError::Memory(format!("{region:?} is outside the memory of the program"))
        })
    }

    fn fill(&mut self, region: Region) -> Result<(), ProgramError> {
        self.task += 1;
        let task = self.task;
        self.bytes(region)?.fill(task);
        Ok(())
    }

    fn step(&mut self, builder: &ProgramBuilder<'_>, step: &Step) -> Result<(), ProgramError> {
        for region in step.regions() {
            self.bytes(region)?;
        }
        if self.left == 0 {
            return Ok(());
        }
        match step {
            Step::Gather(gather) => self.gather(gather),
            Step::Transfer(copy) => {
                if self.bytes(copy.from)?.contains(&0) {
                    let problem = format!("nothing wrote all of {:?}", copy.from);
                    return Err(ProgramError::Memory(problem));
                }
                self.fill(copy.to)
            }
            Step::Evaluate(call) => self.routine(call.op, &call.operands, &call.results),
            Step::Control(control) => {
                let read = [&control.operands[..], &control.fixed].concat();
                let overlap = |a: &Region, b: &Region| {
                    a.base == b.base && a.offset < b.end() && b.offset < a.end()
                };
                let mut written = control.results.iter().enumerate();
                let clash = written.any(|(at, result)| {
                    let others = read.iter().chain(&control.results[..at]);
                    others.into_iter().any(|other| overlap(other, result))
                });
                if clash {
                    return Err(fault(
                        control.op,
                        "a result overlaps with an operand or another result",
                    ));
                }
                self.routine(control.op, &read, &control.results)
            }
            Step::Call(call) => {
                let mut done = 0;
                for threads in [1, THREADS] {
                    let partition = Partition::new(&call.grid, threads);
                    let tasks = partition.tasks();
                    if tasks == done {
                        break;
                    }
                    done = tasks;
                    let (function, _) = &builder.functions[call.kernel];
                    if self.left > 0 {
                        self.call(function, call, &partition)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Checks a routine, which reads whole operands and writes whole results.
    fn routine(
        &mut self,
        op: &str,
        operands: &[Region],
        results: &[Region],
    ) -> Result<(), ProgramError> {
        for &operand in operands {
            if self.bytes(operand)?.contains(&0) {
                let problem = format!("nothing wrote all of {operand:?}");
                return Err(fault(op, &problem));
            }
        }
        results.iter().try_for_each(|&result| self.fill(result))
    }

    /// Checks a gather, which may read any slice and writes the whole result.
    fn gather(&mut self, gather: &Gather) -> Result<(), ProgramError> {
        let Gather {
            data,
            indices,
            result,
            ..
        } = *gather;
        let needed = [
            (data, gather.outer * gather.extent * gather.slice),
            (indices, gather.count * gather.index_dtype.size()),
            (result, gather.outer * gather.count * gather.slice),
        ];
        if let Some((region, bytes)) = needed.iter().find(|(region, bytes)| *bytes > region.bytes) {
            let problem = format!("{bytes} bytes of {region:?}");
            return Err(fault("loops.gather", &problem));
        }
        for region in [data, indices] {
            if self.bytes(region)?.contains(&0) {
                let problem = format!("nothing wrote all of {region:?}");
                return Err(fault("loops.gather", &problem));
            }
        }
        self.fill(result)
    }

    fn call(
        &mut self,
        function: &Function,
        call: &Call,
        partition: &Partition<'_>,
    ) -> Result<(), ProgramError> {
        mind_vir::ir::verify(function).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            fault(call.op, &errors.join("; "))
        })?;
        let first = self.task + 1;
        for task in 0..partition.tasks() {
            self.task += 1;
            self.scratch.fill(0);
            let mut indices: SmallVec<[u64; 24]> = SmallVec::new();
            partition.push(task, &mut indices);
            let indices: SmallVec<[i64; 24]> = indices.iter().map(|&index| index as i64).collect();
            let scratch = function.scratch().map_or(0, |scratch| scratch.bytes);
            let checked = accesses(function, &indices, &mut |access| {
                self.access(call, scratch, access, first)
            });
            if self.left == 0 {
                return Ok(());
            }
            checked.map_err(|misuse| {
                let args = &call.args;
                let problem = format!("{misuse}\nof task {indices:?}, {args:?}, in\n{function}");
                fault(call.op, &problem)
            })?;
        }
        Ok(())
    }

    /// Checks an access of the current task. The first task of its call has number `first`.
    fn access(
        &mut self,
        call: &Call,
        scratch: usize,
        access: Access,
        first: u32,
    ) -> Result<(), String> {
        self.left -= 1;
        if self.left == 0 {
            return Err("no work is left".to_owned());
        }
        let task = self.task;
        let (whole, name) = match call.args.get(access.param) {
            Some(region) => {
                let range = region.offset as usize..region.end() as usize;
                if access.writes && is_read_only(region.base) {
                    return Err(format!("argument {} is not to be written", access.param));
                }
                let all = self.writers.get_mut(&region.base);
                let bytes = all.and_then(|all| all.get_mut(range));
                (bytes.unwrap_or_default(), "argument")
            }
            None => {
                let bytes = self.scratch.get_mut(..scratch);
                (bytes.unwrap_or_default(), "scratch memory, parameter")
            }
        };
        let number = access.param;
        let length = whole.len();
        let at = usize::try_from(access.start).ok();
        let range = at.and_then(|at| whole.get_mut(at..at.checked_add(access.bytes)?));
        let Some(range) = range else {
            return Err(format!(
                "{} bytes at {} of {name} {number}, which has {length}",
                access.bytes, access.start
            ));
        };
        if range.iter().any(|&writer| writer >= first && writer < task) {
            return Err(format!(
                "{} bytes at {} of {name} {number}, which another task of the call wrote",
                access.bytes, access.start
            ));
        }
        if access.writes {
            range.fill(task);
        } else if range.contains(&0) {
            return Err(format!(
                "{} bytes at {} of {name} {number}, which nothing wrote",
                access.bytes, access.start
            ));
        }
        Ok(())
    }

    fn check_outputs(&mut self, builder: &ProgramBuilder<'_>) -> Result<(), ProgramError> {
        for (index, port) in builder.layout.outputs.iter().enumerate() {
            let bytes = self.writers.get(&Base::Output(index as u32));
            if let Some(at) = bytes.and_then(|bytes| bytes.iter().position(|&writer| writer == 0)) {
                let problem = format!("nothing writes byte {at} of output {}", port.name);
                return Err(ProgramError::Memory(problem));
            }
        }
        Ok(())
    }
}

/// Returns whether kernels may only read this memory.
fn is_read_only(base: Base) -> bool {
    match base {
        Base::Input(_) | Base::Param(_) | Base::Constants => true,
        Base::Output(_) | Base::Bound | Base::Workspace => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_vir::ir::{Addr, Builder, IndexOp, Lane, Signature, Value};
    use mind_vir::program::Axis;

    /// Returns the error of a kernel with `body`, which has 8 bytes of input, 8 bytes of output and this many tasks.
    fn problem(tasks: usize, body: impl FnOnce(&mut Builder, [Value; 3])) -> String {
        let mut signature = Signature::new("kernel", 4);
        let pointers = [signature.buffer(8), signature.buffer(8)];
        let task = signature.index();
        let mut b = signature.body();
        body(&mut b, [pointers[0], pointers[1], task]);
        let function = b.finish();
        let region = |base| Region {
            base,
            offset: 4,
            bytes: 8,
        };
        let bases = [Base::Input(0), Base::Output(0)];
        let call = Call {
            kernel: 0,
            args: bases.map(region).into_iter().collect(),
            has_scratch: function.scratch().is_some(),
            grid: [Axis::Each(tasks)].into_iter().collect(),
            cost: 0,
            products: 0,
            op: "loops.nest",
        };
        let mut memory = Memory {
            writers: bases
                .into_iter()
                .zip([vec![CALLER; 16], vec![0; 16]])
                .collect(),
            scratch: vec![0; 64],
            task: CALLER,
            left: u64::MAX,
        };
        let done = memory.call(&function, &call, &Partition::new(&call.grid, 1));
        done.err().map_or_else(String::new, |why| {
            let text = why.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.trim_start_matches("the kernel of `loops.nest`: ")
                .to_owned()
        })
    }

    fn load(b: &mut Builder, base: Value, offset: i32) -> Value {
        b.load_splat(Lane::F32, Addr::at(base).plus(offset))
    }

    #[test]
    fn accesses_outside_the_declared_buffer_are_found_though_memory_is_there() {
        let copy = |from: i32, to: i32| {
            problem(1, |b, [input, output, _]| {
                let x = load(b, input, from);
                b.store_first(x, Addr::at(output).plus(to));
            })
        };
        assert_eq!(copy(4, 4), "");
        assert_eq!(copy(8, 0), "4 bytes at 8 of argument 0, which has 8");
        assert_eq!(copy(-4, 0), "4 bytes at -4 of argument 0, which has 8");
        assert_eq!(copy(0, 5), "4 bytes at 5 of argument 1, which has 8");
    }

    #[test]
    fn reads_of_what_nothing_wrote_and_writes_of_inputs_are_found() {
        let reads = problem(1, |b, [_, output, _]| {
            load(b, output, 0);
        });
        assert_eq!(reads, "4 bytes at 0 of argument 1, which nothing wrote");
        let writes = problem(1, |b, [input, ..]| {
            let x = load(b, input, 0);
            b.store_first(x, Addr::at(input));
        });
        assert_eq!(writes, "argument 0 is not to be written");
        let scratch = problem(2, |b, [..]| {
            b.scratch(4, |b, room| {
                load(b, room, 0);
            });
        });
        assert_eq!(
            scratch,
            "4 bytes at 0 of scratch memory, parameter 3, which nothing wrote"
        );
    }

    #[test]
    fn tasks_that_write_the_same_bytes_are_found() {
        let each = |factor: i64| {
            problem(2, |b, [input, output, task]| {
                let x = load(b, input, 0);
                let factor = b.index(factor);
                let at = b.index_op(IndexOp::Mul, task, factor);
                b.store_first(x, Addr::element(output, at, Lane::F32));
            })
        };
        assert_eq!(each(1), "");
        assert_eq!(
            each(0),
            "4 bytes at 0 of argument 1, which another task of the call wrote"
        );
    }
}
