//! The steps of a program as one function.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, MemFlags, StackSlot, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{DataId, FuncId, Module};
use cranelift_object::ObjectModule;

use crate::program::{Axis, Base, Call, Gather, IndexType, Region, Step, Stop, Transfer};

use super::ObjectError;
use super::layout::Layout;
use super::writer::Compiled;

/// What the steps of a program call and read.
pub(super) struct Parts {
    pub(super) kernels: Vec<FuncId>,
    pub(super) constants: DataId,
    pub(super) literals: Vec<DataId>,
    /// The number of weights before `literals`.
    pub(super) params: usize,
    pub(super) layout: Layout,
    pub(super) regions: Vec<Compiled>,
    pub(super) max_steps: u64,
}

/// The memory of the function that is written.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// The addresses of weights, while they are bound.
    pub(super) params: Option<Value>,
    pub(super) bound: Value,
    pub(super) workspace: Value,
    /// The addresses of the arrays of a run.
    pub(super) inputs: Option<Value>,
    pub(super) outputs: Option<Value>,
}

/// A function that does steps; it returns the bits of a status.
pub(super) struct Driver<'w> {
    pub(super) builder: FunctionBuilder<'w>,
    object: &'w mut ObjectModule,
    pub(super) memory: Memory,
    entry: Block,
    /// Returns its parameter.
    exit: Block,
}

/// Accesses that cannot trap and may be at any address.
pub(super) fn anywhere() -> MemFlags {
    MemFlags::new().with_notrap()
}

impl<'w> Driver<'w> {
    /// A function of the signature that `builder` has.
    pub(super) fn new(mut builder: FunctionBuilder<'w>, object: &'w mut ObjectModule) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let exit = builder.create_block();
        builder.append_block_param(exit, types::I64);
        let nowhere = builder.block_params(entry)[0];
        Driver {
            builder,
            object,
            memory: Memory {
                params: None,
                bound: nowhere,
                workspace: nowhere,
                inputs: None,
                outputs: None,
            },
            entry,
            exit,
        }
    }

    /// The parameters of the function, of which there are as many.
    pub(super) fn params<const COUNT: usize>(&self) -> [Value; COUNT] {
        let params = self.builder.block_params(self.entry);
        std::array::from_fn(|at| params[at])
    }

    /// Ends the function: it returns 0.
    pub(super) fn finish(mut self) {
        let done = self.word(0);
        self.stop(done);
        self.builder.switch_to_block(self.exit);
        let status = self.builder.block_params(self.exit)[0];
        self.builder.ins().return_(&[status]);
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    /// Adds `steps`.
    ///
    /// # Errors
    ///
    /// A step without code.
    pub(super) fn steps(&mut self, parts: &Parts, steps: &[Step]) -> Result<(), ObjectError> {
        for step in steps {
            match step {
                Step::Call(call) => self.call(parts, call),
                Step::Gather(gather) => self.gather(parts, gather),
                Step::Transfer(Transfer { from, to }) => {
                    let bytes = from.bytes as u64;
                    let [to, from] = [to, from].map(|region| self.address(parts, region));
                    self.copy(to, from, bytes);
                }
                Step::Control(control) => self.control(parts, control),
                Step::Evaluate(call) => return Err(ObjectError::NoCode { op: call.op }),
            }
        }
        Ok(())
    }

    /// Calls a kernel for each task of its grid; ranges are one task.
    fn call(&mut self, parts: &Parts, call: &Call) {
        let most = call.args.len() + 2 * call.grid.len() + 1;
        let args = self.words(most);
        let mut at = 0;
        for region in &call.args {
            let address = self.address(parts, region);
            self.put(args, at, address);
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
                    let (first, end) = (self.word(0), self.word(extent as i64));
                    self.put(args, at, first);
                    self.put(args, at + 1, end);
                    at += 2;
                }
            }
        }
        if call.has_scratch {
            let scratch = self.moved(self.memory.workspace, parts.layout.scratch);
            self.put(args, at, scratch);
        }
        self.tasks(parts.kernels[call.kernel], args, &loops);
    }

    /// Calls a kernel for each index of `loops`, which name the argument that the index is.
    fn tasks(&mut self, kernel: FuncId, args: StackSlot, loops: &[(usize, u64)]) {
        match loops {
            [] => {
                let args = self.builder.ins().stack_addr(types::I64, args, 0);
                let status = self.invoke(kernel, &[args]);
                self.check(status);
            }
            [(at, extent), inner @ ..] => self.repeat(*extent, |driver, index| {
                driver.put(args, *at, index);
                driver.tasks(kernel, args, inner);
            }),
        }
    }

    /// Copies slices, after all indices have been checked.
    fn gather(&mut self, parts: &Parts, gather: &Gather) {
        let regions = [gather.data, gather.indices, gather.result];
        let [data, indices, result] = regions.map(|region| self.address(parts, &region));
        let size = gather.index_dtype.size() as i64;
        let index = |driver: &mut Self, at: Value| {
            let place = driver.scaled(indices, at, size);
            let ins = driver.builder.ins();
            match gather.index_dtype {
                IndexType::I32 => ins.sload32(anywhere(), place, 0),
                IndexType::I64 => ins.load(types::I64, anywhere(), place, 0),
            }
        };
        let (count, slice) = (gather.count as u64, gather.slice as i64);
        self.repeat(count, |driver, at| {
            let index = index(driver, at);
            let extent = gather.extent as i64;
            let beyond = IntCC::UnsignedGreaterThanOrEqual;
            let is_outside = driver.builder.ins().icmp_imm(beyond, index, extent);
            driver.stop_if(is_outside, Stop::INDEX_OUT_OF_BOUNDS);
        });
        self.repeat(gather.outer as u64, |driver, group| {
            let from = driver.scaled(data, group, gather.extent as i64 * slice);
            let to = driver.scaled(result, group, gather.count as i64 * slice);
            driver.repeat(count, |driver, at| {
                let index = index(driver, at);
                let from = driver.scaled(from, index, slice);
                let to = driver.scaled(to, at, slice);
                driver.copy(to, from, gather.slice as u64);
            });
        });
    }

    /// The address of the first byte of `region`.
    pub(super) fn address(&mut self, parts: &Parts, region: &Region) -> Value {
        let listed = |driver: &mut Self, list: Option<Value>, at: u32| {
            let list = list.expect("steps read the arrays that their function is handed");
            let offset = 8 * at as i32;
            driver
                .builder
                .ins()
                .load(types::I64, anywhere(), list, offset)
        };
        let base = match region.base {
            Base::Input(at) => listed(self, self.memory.inputs, at),
            Base::Output(at) => listed(self, self.memory.outputs, at),
            Base::Param(at) => match (at as usize).checked_sub(parts.params) {
                Some(own) => self.data(parts.literals[own]),
                None => listed(self, self.memory.params, at),
            },
            Base::Constants => self.data(parts.constants),
            Base::Bound => self.memory.bound,
            Base::Workspace => self.memory.workspace,
        };
        self.moved(base, region.offset)
    }

    fn data(&mut self, data: DataId) -> Value {
        let global = self.object.declare_data_in_func(data, self.builder.func);
        self.builder.ins().symbol_value(types::I64, global)
    }

    /// Calls a function of the file; what it returns.
    pub(super) fn invoke(&mut self, function: FuncId, args: &[Value]) -> Value {
        let callee = self
            .object
            .declare_func_in_func(function, self.builder.func);
        let call = self.builder.ins().call(callee, args);
        self.builder.inst_results(call)[0]
    }

    /// Copies bytes to as many others, which they do not overlap.
    pub(super) fn copy(&mut self, to: Value, from: Value, bytes: u64) {
        let config = self.object.target_config();
        self.builder
            .emit_small_memory_copy(config, to, from, bytes, 1, 1, true, anywhere());
    }

    /// Memory for `count` words.
    pub(super) fn words(&mut self, count: usize) -> StackSlot {
        let bytes = 8 * count.max(1) as u32;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        self.builder.create_sized_stack_slot(data)
    }

    pub(super) fn put(&mut self, slot: StackSlot, at: usize, value: Value) {
        self.builder.ins().stack_store(value, slot, 8 * at as i32);
    }

    pub(super) fn word(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    /// `base`, plus an offset in bytes.
    pub(super) fn moved(&mut self, base: Value, offset: u64) -> Value {
        match offset {
            0 => base,
            offset => self.builder.ins().iadd_imm(base, offset as i64),
        }
    }

    /// `base`, plus `at` times a size.
    pub(super) fn scaled(&mut self, base: Value, at: Value, size: i64) -> Value {
        let bytes = self.builder.ins().imul_imm(at, size);
        self.builder.ins().iadd(base, bytes)
    }

    /// Runs `body` for each index below `count`.
    pub(super) fn repeat(&mut self, count: u64, body: impl FnOnce(&mut Self, Value)) {
        let [header, inner, after] = [(); 3].map(|()| self.builder.create_block());
        let index = self.builder.append_block_param(header, types::I64);
        let zero = self.word(0);
        self.builder.ins().jump(header, &[BlockArg::from(zero)]);
        self.builder.switch_to_block(header);
        let below = IntCC::UnsignedLessThan;
        let goes_on = self.builder.ins().icmp_imm(below, index, count as i64);
        self.builder.ins().brif(goes_on, inner, &[], after, &[]);
        self.builder.switch_to_block(inner);
        body(self, index);
        let next = self.builder.ins().iadd_imm(index, 1);
        self.builder.ins().jump(header, &[BlockArg::from(next)]);
        self.builder.switch_to_block(after);
    }

    /// Returns `status`; what comes next is never reached.
    pub(super) fn stop(&mut self, status: Value) {
        self.builder
            .ins()
            .jump(self.exit, &[BlockArg::from(status)]);
    }

    /// Returns `status` unless it is 0.
    pub(super) fn check(&mut self, status: Value) {
        let next = self.builder.create_block();
        let args = [BlockArg::from(status)];
        self.builder.ins().brif(status, self.exit, &args, next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Returns `status` if `condition` holds.
    pub(super) fn stop_if(&mut self, condition: Value, status: Stop) {
        let next = self.builder.create_block();
        let status = self.word(i64::from(status.0));
        let args = [BlockArg::from(status)];
        self.builder
            .ins()
            .brif(condition, self.exit, &args, next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Runs `then` if `condition` holds, and `otherwise` if not.
    pub(super) fn choose(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let [first, second, after] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().brif(condition, first, &[], second, &[]);
        self.builder.switch_to_block(first);
        then(self);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(second);
        otherwise(self);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }
}
