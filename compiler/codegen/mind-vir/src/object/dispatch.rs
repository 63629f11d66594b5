//! The public functions, which dispatch on the processor's instruction sets.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, Value, types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module};
use cranelift_object::ObjectModule;

use crate::c::Symbol;
use crate::program::Stop;
use crate::target::CodeTarget;

use super::body::anywhere;
use super::cpu::{CPUID, FEATURES, Needs, OSXSAVE, XGETBV};
use super::writer::{BIND_PARAMS, Compiled, RUN_PARAMS, define, signature};
use super::{ALIGN, ObjectError, SLACK};

/// A program and the target that its kernels are compiled for.
pub(super) struct Choice {
    pub(super) target: CodeTarget,
    pub(super) program: Compiled,
}

/// Generates the public functions of a file.
pub(super) struct Dispatcher<'w> {
    pub(super) name: &'w Symbol,
    pub(super) object: &'w mut ObjectModule,
    /// In order of preference: the first one that the processor supports runs.
    pub(super) choices: &'w [Choice],
}

/// The action of a public function on the selected program.
#[derive(Clone, Copy)]
enum Entry {
    /// Returns a size in bytes of its layout.
    Bytes(fn(&Compiled) -> u64),
    /// Calls a function; the parameters at these positions are pointers to be aligned.
    Call(fn(&Compiled) -> FuncId, &'static [usize]),
}

impl Dispatcher<'_> {
    /// Generates the functions.
    ///
    /// # Errors
    ///
    /// Errors if the code generator rejects one.
    pub(super) fn write(mut self) -> Result<(), ObjectError> {
        let choice = self.choice()?;
        let entries = [
            ("bound_bytes", 0, Entry::Bytes(|own| own.layout.bound)),
            (
                "workspace_bytes",
                0,
                Entry::Bytes(|own| own.layout.workspace),
            ),
            ("bind", BIND_PARAMS, Entry::Call(|own| own.bind, &[1, 2])),
            ("run", RUN_PARAMS, Entry::Call(|own| own.run, &[0, 3])),
        ];
        for (name, params, entry) in entries {
            self.public(name, params, entry, choice)?;
        }
        Ok(())
    }

    /// A public function.
    fn public(
        &mut self,
        name: &str,
        params: usize,
        entry: Entry,
        choice: FuncId,
    ) -> Result<(), ObjectError> {
        let result = match entry {
            Entry::Bytes(_) => types::I64,
            Entry::Call(..) => types::I32,
        };
        let mut own: Signature = self.object.make_signature();
        own.params
            .extend((0..params).map(|_| AbiParam::new(types::I64)));
        own.returns.push(AbiParam::new(result));
        let name = self.name.suffixed(name).to_string();
        let id = self.object.declare_function(&name, Linkage::Export, &own)?;
        let choices = self.choices;
        define(self.object, id, own, |mut builder, object| {
            let start = builder.create_block();
            builder.append_block_params_for_function_params(start);
            builder.switch_to_block(start);
            let mut args = builder.block_params(start).to_vec();
            if let Entry::Call(_, memory) = entry {
                for &at in memory {
                    args[at] = aligned(&mut builder, args[at]);
                }
            }
            let chosen = call(&mut builder, object, choice, &[]);
            for (number, choice) in choices.iter().enumerate() {
                let [this, others] = [(); 2].map(|()| builder.create_block());
                let is_it = builder
                    .ins()
                    .icmp_imm(IntCC::Equal, chosen, number as i64 + 1);
                builder.ins().brif(is_it, this, &[], others, &[]);
                builder.switch_to_block(this);
                let result = match entry {
                    Entry::Bytes(bytes) => {
                        let bytes = match bytes(&choice.program) {
                            0 => 0,
                            bytes => bytes + SLACK,
                        };
                        builder.ins().iconst(types::I64, bytes as i64)
                    }
                    Entry::Call(function, _) => {
                        let status = call(&mut builder, object, function(&choice.program), &args);
                        builder.ins().ireduce(types::I32, status)
                    }
                };
                builder.ins().return_(&[result]);
                builder.switch_to_block(others);
            }
            let none = match entry {
                Entry::Bytes(_) => 0,
                Entry::Call(..) => i64::from(Stop::PROCESSOR_LACKS.0),
            };
            let none = builder.ins().iconst(result, none);
            builder.ins().return_(&[none]);
            builder.seal_all_blocks();
            builder.finalize();
            Ok(())
        })
    }

    /// A function that returns the number of the first supported choice, counted from 1; a higher number if there is
    /// none.
    fn choice(&mut self) -> Result<FuncId, ObjectError> {
        let own = signature(self.object, 0);
        let name = self.name.suffixed("choice").to_string();
        let id = self.object.declare_function(&name, Linkage::Local, &own)?;
        let choices = self.choices;
        if !cfg!(target_arch = "x86_64") {
            return define(self.object, id, own, |mut builder, _| {
                let start = builder.create_block();
                builder.switch_to_block(start);
                let first = builder.ins().iconst(types::I64, 1);
                builder.ins().return_(&[first]);
                builder.seal_all_blocks();
                builder.finalize();
                Ok(())
            })
            .map(|()| id);
        }
        let cpuid = self.bytes("cpuid", 3, CPUID)?;
        let xgetbv = self.bytes("xgetbv", 0, XGETBV)?;
        let known = self.variable("chosen")?;
        define(self.object, id, own, |builder, object| {
            let detection = FeatureDetection {
                builder,
                object,
                cpuid,
                xgetbv,
            };
            detection.write(choices, known);
            Ok(())
        })?;
        Ok(id)
    }

    /// A function with this code.
    fn bytes(&mut self, name: &str, params: usize, code: &[u8]) -> Result<FuncId, ObjectError> {
        let own = signature(self.object, params);
        let name = self.name.suffixed(name).to_string();
        let id = self.object.declare_function(&name, Linkage::Local, &own)?;
        self.object.define_function_bytes(id, ALIGN, code, &[])?;
        Ok(id)
    }

    /// A word in writable data, initially 0.
    fn variable(&mut self, name: &str) -> Result<DataId, ObjectError> {
        let name = self.name.suffixed(name).to_string();
        let id = self
            .object
            .declare_data(&name, Linkage::Local, true, false)?;
        let mut description = DataDescription::new();
        description.define_zeroinit(8);
        description.set_align(8);
        self.object.define_data(id, &description)?;
        Ok(id)
    }
}

/// Returns `address` rounded up to the alignment.
fn aligned(builder: &mut FunctionBuilder<'_>, address: Value) -> Value {
    let last = builder.ins().iadd_imm(address, ALIGN as i64 - 1);
    builder.ins().band_imm(last, -(ALIGN as i64))
}

fn call(
    builder: &mut FunctionBuilder<'_>,
    object: &mut ObjectModule,
    function: FuncId,
    args: &[Value],
) -> Value {
    let callee = object.declare_func_in_func(function, builder.func);
    let call = builder.ins().call(callee, args);
    builder.inst_results(call)[0]
}

/// A function that detects the processor's features once; the race between threads is benign, because all of them
/// compute the same value.
struct FeatureDetection<'w> {
    builder: FunctionBuilder<'w>,
    object: &'w mut ObjectModule,
    cpuid: FuncId,
    xgetbv: FuncId,
}

impl FeatureDetection<'_> {
    fn write(mut self, choices: &[Choice], known: DataId) {
        let [start, is_known, detects, states, decides] =
            [(); 5].map(|()| self.builder.create_block());
        let [basic, enabled, features, extensions, further] =
            [(); 5].map(|()| self.builder.append_block_param(decides, types::I32));
        self.builder.switch_to_block(start);
        let known = self.object.declare_data_in_func(known, self.builder.func);
        let known = self.builder.ins().symbol_value(types::I64, known);
        let chosen = self.builder.ins().load(types::I64, anywhere(), known, 0);
        self.builder.ins().brif(chosen, is_known, &[], detects, &[]);
        self.builder.switch_to_block(is_known);
        self.builder.ins().return_(&[chosen]);

        self.builder.switch_to_block(detects);
        let [last, ..] = self.leaf(0, 0);
        let [_, _, found, _] = self.leaf(1, 0);
        let zero = self.builder.ins().iconst(types::I32, 0);
        let switch = self.builder.ins().band_imm(found, i64::from(OSXSAVE));
        let none = [zero; 5].map(Into::into);
        self.builder.ins().brif(switch, states, &[], decides, &none);
        self.builder.switch_to_block(states);
        let states = call(&mut self.builder, self.object, self.xgetbv, &[]);
        let states = self.builder.ins().ireduce(types::I32, states);
        let at_least = IntCC::UnsignedGreaterThanOrEqual;
        let has_leaf = self.builder.ins().icmp_imm(at_least, last, FEATURES as i64);
        let [subleaf, seventh, third, _] = self.leaf(FEATURES, 0);
        let [further_found, ..] = self.leaf(FEATURES, 1);
        let further_found = self.builder.ins().select(subleaf, further_found, zero);
        let [seventh, third, further_found] = [seventh, third, further_found]
            .map(|found| self.builder.ins().select(has_leaf, found, zero));
        let all = [found, states, seventh, third, further_found].map(Into::into);
        self.builder.ins().jump(decides, &all);

        self.builder.switch_to_block(decides);
        let mut chosen = self
            .builder
            .ins()
            .iconst(types::I64, choices.len() as i64 + 1);
        for (number, choice) in choices.iter().enumerate().rev() {
            let needs = Needs::of(choice.target);
            let pairs = [
                (basic, needs.basic),
                (enabled, needs.states),
                (features, needs.features),
                (extensions, needs.extensions),
                (further, needs.further),
            ];
            let mut any = zero;
            for (found, needed) in pairs.into_iter().filter(|&(_, needed)| needed != 0) {
                let needed = self.builder.ins().iconst(types::I32, i64::from(needed));
                let lacks = self.builder.ins().band_not(needed, found);
                any = self.builder.ins().bor(any, lacks);
            }
            let own = self.builder.ins().iconst(types::I64, number as i64 + 1);
            chosen = self.builder.ins().select(any, chosen, own);
        }
        self.builder.ins().store(anywhere(), chosen, known, 0);
        self.builder.ins().return_(&[chosen]);
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    /// Returns the registers eax, ebx, ecx and edx of a CPUID subleaf.
    fn leaf(&mut self, leaf: u64, subleaf: u64) -> [Value; 4] {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 3);
        let slot = self.builder.create_sized_stack_slot(data);
        let leaf = self.builder.ins().iconst(types::I64, leaf as i64);
        let subleaf = self.builder.ins().iconst(types::I64, subleaf as i64);
        let place = self.builder.ins().stack_addr(types::I64, slot, 0);
        call(
            &mut self.builder,
            self.object,
            self.cpuid,
            &[leaf, subleaf, place],
        );
        [0, 4, 8, 12].map(|at| self.builder.ins().stack_load(types::I32, slot, at))
    }
}
