//! Builder of a Cranelift function with structured control flow: loops and branches are opened and closed.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, MemFlags, StackSlot, StackSlotData, StackSlotKind, Type, Value,
    types,
};
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder, Variable};
use cranelift_module::{DataId, FuncId, Module};
use cranelift_object::ObjectModule;

use crate::program::Stop;

/// A function whose parameters and result are 64-bit words.
pub(super) struct Body<'w> {
    pub(super) builder: FunctionBuilder<'w>,
    object: &'w mut ObjectModule,
    entry: Block,
    /// The exit block, which returns its parameter.
    exit: Block,
    /// The open scopes, the innermost last.
    scopes: Vec<Scope>,
}

/// An open loop or branch.
struct Scope {
    /// The header of a loop, with the next value of its counter if it has one.
    again: Option<(Block, Option<Value>)>,
    after: Block,
}

/// Flags of accesses that cannot trap and may be unaligned.
pub(super) fn anywhere() -> MemFlags {
    MemFlags::new().with_notrap()
}

impl<'w> Body<'w> {
    /// A function of the signature that `builder` has.
    pub(super) fn new(mut builder: FunctionBuilder<'w>, object: &'w mut ObjectModule) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let exit = builder.create_block();
        builder.append_block_param(exit, types::I64);
        Body {
            builder,
            object,
            entry,
            exit,
            scopes: Vec::new(),
        }
    }

    /// Returns the parameters of the function, whose number must be `COUNT`.
    pub(super) fn params<const COUNT: usize>(&self) -> [Value; COUNT] {
        let params = self.builder.block_params(self.entry);
        std::array::from_fn(|at| params[at])
    }

    /// Ends the function: it returns `result`.
    pub(super) fn finish(mut self, result: Value) {
        debug_assert!(self.scopes.is_empty(), "all that was opened is closed");
        self.stop(result);
        self.builder.switch_to_block(self.exit);
        let result = self.builder.block_params(self.exit)[0];
        self.builder.ins().return_(&[result]);
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    /// Adds an instruction.
    pub(super) fn ins(&mut self) -> FuncInstBuilder<'_, 'w> {
        self.builder.ins()
    }

    /// Returns the address of an array of the file.
    pub(super) fn data(&mut self, data: DataId) -> Value {
        let global = self.object.declare_data_in_func(data, self.builder.func);
        self.ins().symbol_value(types::I64, global)
    }

    /// Calls a function of the file and returns its result.
    pub(super) fn invoke(&mut self, function: FuncId, args: &[Value]) -> Value {
        let callee = self
            .object
            .declare_func_in_func(function, self.builder.func);
        let call = self.ins().call(callee, args);
        self.builder.inst_results(call)[0]
    }

    /// Copies bytes between ranges that do not overlap.
    pub(super) fn copy(&mut self, to: Value, from: Value, bytes: u64) {
        let config = self.object.target_config();
        self.builder
            .emit_small_memory_copy(config, to, from, bytes, 1, 1, true, anywhere());
    }

    /// Returns a stack slot for `count` words.
    pub(super) fn words(&mut self, count: usize) -> StackSlot {
        let bytes = 8 * count.max(1) as u32;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        self.builder.create_sized_stack_slot(data)
    }

    /// Stores a word.
    pub(super) fn put(&mut self, slot: StackSlot, at: usize, value: Value) {
        self.ins().stack_store(value, slot, 8 * at as i32);
    }

    /// Returns the address of an array of words.
    pub(super) fn list(&mut self, words: &[Value]) -> Value {
        let list = self.words(words.len());
        for (at, &word) in words.iter().enumerate() {
            self.put(list, at, word);
        }
        self.ins().stack_addr(types::I64, list, 0)
    }

    pub(super) fn word(&mut self, value: i64) -> Value {
        self.ins().iconst(types::I64, value)
    }

    /// Returns `base` plus an offset in bytes.
    pub(super) fn moved(&mut self, base: Value, offset: u64) -> Value {
        match offset {
            0 => base,
            offset => self.ins().iadd_imm(base, offset as i64),
        }
    }

    /// Returns `base` plus `at` times `size`.
    pub(super) fn scaled(&mut self, base: Value, at: Value, size: i64) -> Value {
        let bytes = self.ins().imul_imm(at, size);
        self.ins().iadd(base, bytes)
    }

    /// Declares a variable with an initial value.
    pub(super) fn variable(&mut self, ty: Type, value: Value) -> Variable {
        let variable = self.builder.declare_var(ty);
        self.builder.def_var(variable, value);
        variable
    }

    /// Returns the current value of a variable.
    pub(super) fn get(&mut self, variable: Variable) -> Value {
        self.builder.use_var(variable)
    }

    pub(super) fn set(&mut self, variable: Variable, value: Value) {
        self.builder.def_var(variable, value);
    }

    /// Opens a loop and returns its counter, which runs from `first` to `end` (exclusive), both signed.
    pub(super) fn open_count(&mut self, first: Value, end: Value) -> Value {
        let [header, inner, after] = [(); 3].map(|()| self.builder.create_block());
        let index = self.builder.append_block_param(header, types::I64);
        self.ins().jump(header, &[BlockArg::from(first)]);
        self.builder.switch_to_block(header);
        let goes_on = self.ins().icmp(IntCC::SignedLessThan, index, end);
        self.ins().brif(goes_on, inner, &[], after, &[]);
        self.builder.switch_to_block(inner);
        self.scopes.push(Scope {
            again: Some((header, Some(index))),
            after,
        });
        index
    }

    /// Opens a loop and returns its counter, which runs from 0 to `count` (exclusive).
    pub(super) fn open_repeat(&mut self, count: u64) -> Value {
        let (first, end) = (self.word(0), self.word(count as i64));
        self.open_count(first, end)
    }

    /// Opens a loop that runs while `condition`, which is evaluated before each iteration, holds.
    pub(super) fn open_while(&mut self, condition: impl FnOnce(&mut Self) -> Value) {
        let [header, inner, after] = [(); 3].map(|()| self.builder.create_block());
        self.ins().jump(header, &[]);
        self.builder.switch_to_block(header);
        let goes_on = condition(self);
        self.ins().brif(goes_on, inner, &[], after, &[]);
        self.builder.switch_to_block(inner);
        self.scopes.push(Scope {
            again: Some((header, None)),
            after,
        });
    }

    /// Opens a branch that runs if `condition` holds.
    pub(super) fn open_if(&mut self, condition: Value) {
        let [inner, after] = [(); 2].map(|()| self.builder.create_block());
        self.ins().brif(condition, inner, &[], after, &[]);
        self.builder.switch_to_block(inner);
        let again = None;
        self.scopes.push(Scope { again, after });
    }

    /// Closes `levels` loops and branches, the innermost first.
    pub(super) fn close(&mut self, levels: usize) {
        for _ in 0..levels {
            let Scope { again, after } = self.scopes.pop().expect("something is open");
            match again {
                Some((header, Some(index))) => {
                    let next = self.ins().iadd_imm(index, 1);
                    self.ins().jump(header, &[BlockArg::from(next)]);
                }
                Some((header, None)) => {
                    self.ins().jump(header, &[]);
                }
                None => {
                    self.ins().jump(after, &[]);
                }
            }
            self.builder.switch_to_block(after);
        }
    }

    /// Returns `result`; code after it is unreachable.
    fn stop(&mut self, result: Value) {
        let exit = self.exit;
        self.ins().jump(exit, &[BlockArg::from(result)]);
    }

    /// Returns `status` unless it is 0.
    pub(super) fn check(&mut self, status: Value) {
        self.return_if(status, status);
    }

    /// Returns `status` if `condition` holds.
    pub(super) fn stop_if(&mut self, condition: Value, status: Stop) {
        let status = self.word(i64::from(status.0));
        self.return_if(condition, status);
    }

    /// Returns `result` if `condition` holds.
    pub(super) fn return_if(&mut self, condition: Value, result: Value) {
        let next = self.builder.create_block();
        let (exit, args) = (self.exit, [BlockArg::from(result)]);
        self.ins().brif(condition, exit, &args, next, &[]);
        self.builder.switch_to_block(next);
    }
}
