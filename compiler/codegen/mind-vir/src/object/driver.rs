//! Compiles the steps of a program to one function.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, types};
use cranelift_module::{DataId, FuncId};
use rustc_hash::FxHashMap;

use crate::program::{Axis, Base, Call, Evaluate, Gather, Region, Step, Stop, Transfer};

use super::ObjectError;
use super::body::{Body, anywhere};
use super::layout::Layout;
use super::routine;
use super::writer::Compiled;

/// The functions and data that the steps of a program use.
pub(super) struct ProgramItems {
    pub(super) kernels: Vec<FuncId>,
    /// The functions of routines, by number.
    pub(super) routines: FxHashMap<usize, FuncId>,
    pub(super) constants: DataId,
    pub(super) literals: Vec<DataId>,
    /// The number of weights that come before `literals`.
    pub(super) params: usize,
    pub(super) layout: Layout,
    pub(super) regions: Vec<Compiled>,
    pub(super) max_steps: u64,
}

/// The memory of the generated function.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// The addresses of weights, at bind time.
    pub(super) params: Option<Value>,
    pub(super) bound: Value,
    pub(super) workspace: Value,
    /// The addresses of the arrays of a run.
    pub(super) inputs: Option<Value>,
    pub(super) outputs: Option<Value>,
}

/// A function that runs steps and returns the status bits.
pub(super) struct Driver<'w> {
    pub(super) body: Body<'w>,
    pub(super) memory: Memory,
}

impl<'w> Driver<'w> {
    /// Returns a driver that appends to `body` and works on `memory`.
    pub(super) fn new(body: Body<'w>, memory: Memory) -> Self {
        Driver { body, memory }
    }

    /// Returns the body and the result of the function, which is 0.
    pub(super) fn finish(mut self) -> (Body<'w>, Value) {
        let done = self.body.word(0);
        (self.body, done)
    }

    /// Appends `steps`.
    ///
    /// # Errors
    ///
    /// Errors if a step has no code.
    pub(super) fn steps(
        &mut self,
        items: &ProgramItems,
        steps: &[Step],
    ) -> Result<(), ObjectError> {
        // All calls share one argument array, because a call ends before the next one begins.
        let args = self
            .body
            .words(steps.iter().map(arguments).max().unwrap_or(0));
        for step in steps {
            match step {
                Step::Call(call) => self.call(items, call, args),
                Step::Gather(gather) => self.gather(items, gather),
                Step::Transfer(Transfer { from, to }) => {
                    let bytes = from.bytes as u64;
                    let [to, from] = [to, from].map(|region| self.address(items, region));
                    self.body.copy(to, from, bytes);
                }
                Step::Control(control) => self.control(items, control),
                Step::Evaluate(call) => self.evaluate(items, call)?,
            }
        }
        Ok(())
    }

    /// Calls a kernel for each task of its grid; a range is one task.
    fn call(&mut self, items: &ProgramItems, call: &Call, args: StackSlot) {
        let mut at = 0;
        for region in &call.args {
            let address = self.address(items, region);
            self.body.put(args, at, address);
            at += 1;
        }
        let mut loops = Vec::new();
        for axis in &call.grid {
            match *axis {
                Axis::Each(extent) => {
                    loops.push((at, extent as u64));
                    at += 1;
                }
                Axis::Range { extent, .. } => {
                    let (first, end) = (self.body.word(0), self.body.word(extent as i64));
                    self.body.put(args, at, first);
                    self.body.put(args, at + 1, end);
                    at += 2;
                }
            }
        }
        if call.has_scratch {
            let scratch = self.scratch(items);
            self.body.put(args, at, scratch);
        }
        self.tasks(items.kernels[call.kernel], args, &loops);
    }

    /// Calls the function of a routine.
    ///
    /// # Errors
    ///
    /// Errors if the routine has no function.
    fn evaluate(&mut self, items: &ProgramItems, call: &Evaluate) -> Result<(), ObjectError> {
        let function = items.routines.get(&call.routine);
        let function = *function.ok_or(ObjectError::NoCode { op: call.op })?;
        let regions = call.operands.iter().chain(&call.results);
        let arrays: Vec<Value> = regions.map(|region| self.address(items, region)).collect();
        let arrays = self.body.list(&arrays);
        let memory = self.scratch(items);
        let status = self.body.invoke(function, &[arrays, memory]);
        self.body.check(status);
        Ok(())
    }

    /// Returns the scratch memory of a step.
    fn scratch(&mut self, items: &ProgramItems) -> Value {
        self.body.moved(self.memory.workspace, items.layout.scratch)
    }

    /// Calls a kernel for each index of `loops`, which pair the position of the index argument with its extent.
    fn tasks(&mut self, kernel: FuncId, args: StackSlot, loops: &[(usize, u64)]) {
        match loops {
            [] => {
                let args = self.body.ins().stack_addr(types::I64, args, 0);
                let status = self.body.invoke(kernel, &[args]);
                self.body.check(status);
            }
            [(at, extent), inner @ ..] => self.repeat(*extent, |driver, index| {
                driver.body.put(args, *at, index);
                driver.tasks(kernel, args, inner);
            }),
        }
    }

    /// Copies slices, after all indices have been checked.
    fn gather(&mut self, items: &ProgramItems, gather: &Gather) {
        let regions = [gather.data, gather.indices, gather.result];
        let [data, indices, result] = regions.map(|region| self.address(items, &region));
        let size = gather.index_dtype.size() as i64;
        let index = |driver: &mut Self, at: Value| {
            let place = driver.body.scaled(indices, at, size);
            routine::index(&mut driver.body, gather.index_dtype, place)
        };
        let (count, slice) = (gather.count as u64, gather.slice as i64);
        self.repeat(count, |driver, at| {
            let index = index(driver, at);
            let extent = gather.extent as i64;
            let beyond = IntCC::UnsignedGreaterThanOrEqual;
            let is_outside = driver.body.ins().icmp_imm(beyond, index, extent);
            driver.body.stop_if(is_outside, Stop::INDEX_OUT_OF_BOUNDS);
        });
        self.repeat(gather.outer as u64, |driver, group| {
            let from = driver
                .body
                .scaled(data, group, gather.extent as i64 * slice);
            let to = driver
                .body
                .scaled(result, group, gather.count as i64 * slice);
            driver.repeat(count, |driver, at| {
                let index = index(driver, at);
                let from = driver.body.scaled(from, index, slice);
                let to = driver.body.scaled(to, at, slice);
                driver.body.copy(to, from, gather.slice as u64);
            });
        });
    }

    /// Returns the address of the first byte of `region`.
    pub(super) fn address(&mut self, items: &ProgramItems, region: &Region) -> Value {
        let listed = |driver: &mut Self, list: Option<Value>, at: u32| {
            let list = list.expect("steps read the arrays that their function is handed");
            let offset = 8 * at as i32;
            driver.body.ins().load(types::I64, anywhere(), list, offset)
        };
        let base = match region.base {
            Base::Input(at) => listed(self, self.memory.inputs, at),
            Base::Output(at) => listed(self, self.memory.outputs, at),
            Base::Param(at) => match (at as usize).checked_sub(items.params) {
                Some(own) => self.body.data(items.literals[own]),
                None => listed(self, self.memory.params, at),
            },
            Base::Constants => self.body.data(items.constants),
            Base::Bound => self.memory.bound,
            Base::Workspace => self.memory.workspace,
        };
        self.body.moved(base, region.offset)
    }

    /// Runs `body` for each index below `count`.
    pub(super) fn repeat(&mut self, count: u64, body: impl FnOnce(&mut Self, Value)) {
        let index = self.body.open_repeat(count);
        body(self, index);
        self.body.close(1);
    }

    /// Runs `then` if `condition` holds, and `otherwise` if not.
    pub(super) fn choose(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let [first, second, after] = [(); 3].map(|()| self.body.builder.create_block());
        self.body.ins().brif(condition, first, &[], second, &[]);
        self.body.builder.switch_to_block(first);
        then(self);
        self.body.ins().jump(after, &[]);
        self.body.builder.switch_to_block(second);
        otherwise(self);
        self.body.ins().jump(after, &[]);
        self.body.builder.switch_to_block(after);
    }
}

/// Returns the maximum number of argument words of a kernel that a step calls.
fn arguments(step: &Step) -> usize {
    match step {
        Step::Call(call) => call.args.len() + 2 * call.grid.len() + 1,
        Step::Gather(_) | Step::Transfer(_) | Step::Evaluate(_) | Step::Control(_) => 0,
    }
}
