//! Statements and loops as blocks of Cranelift's IR.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, BlockArg, InstBuilder, MemFlags, Signature, UserFuncName, types,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};

use crate::ir::{Addr, Function, IfAny, IndexOp, Lane, Loop, LoopKind, Op, Statement, Value};

use super::types::{element, vector};

/// Returns the function in Cranelift's IR. Its parameter is a pointer to the arguments; it returns the status.
pub(super) fn translate(function: &Function, isa: &dyn TargetIsa) -> ir::Function {
    let convention = if cfg!(target_arch = "x86_64") {
        CallConv::SystemV
    } else {
        isa.default_call_conv()
    };
    let mut signature = Signature::new(convention);
    signature.params.push(AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    let mut target = ir::Function::with_name_signature(UserFuncName::default(), signature);
    let mut context = FunctionBuilderContext::new();
    let mut builder = FunctionBuilder::new(&mut target, &mut context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let status = builder.declare_var(types::I64);
    let zero = builder.ins().iconst(types::I64, 0);
    builder.def_var(status, zero);
    let arguments = builder.block_params(entry)[0];
    let mut translate = Translate {
        function,
        builder,
        values: vec![None; function.value_count()],
        status,
    };
    translate.function(arguments);
    translate.builder.seal_all_blocks();
    translate.builder.finalize();
    target
}

pub(super) struct Translate<'f, 'b> {
    pub function: &'f Function,
    pub builder: FunctionBuilder<'b>,
    values: Vec<Option<ir::Value>>,
    pub status: Variable,
}

/// Flags of accesses that cannot trap and may be unaligned.
pub(super) fn anywhere() -> MemFlags {
    MemFlags::new().with_notrap()
}

impl Translate<'_, '_> {
    fn function(&mut self, arguments: ir::Value) {
        let function = self.function;
        for (position, &param) in function.params().iter().enumerate() {
            let offset = 8 * position as i32;
            let value = self
                .builder
                .ins()
                .load(types::I64, anywhere(), arguments, offset);
            self.define(param, value);
        }
        for constant in function.constants() {
            let lane = function.lane(constant.value);
            let value = self.splat_bits(lane, constant.bits);
            self.define(constant.value, value);
        }
        self.statements(function.body());
        let status = self.builder.use_var(self.status);
        self.builder.ins().return_(&[status]);
    }

    pub fn define(&mut self, value: Value, target: ir::Value) {
        self.values[value.index()] = Some(target);
    }

    /// Returns Cranelift's value for `value`.
    pub fn get(&self, value: Value) -> ir::Value {
        self.values[value.index()].expect("verified values are defined before they are used")
    }

    fn statements(&mut self, block: &crate::ir::Block) {
        for statement in &block.statements {
            match statement {
                Statement::Let(value, op) => {
                    let result = self.operation(*value, op);
                    self.define(*value, result);
                }
                Statement::Store { value, addr, count } => {
                    let (lane, vector) = (self.function.lane(*value), self.get(*value));
                    match count {
                        None => self.store(lane, vector, addr),
                        Some(count) => self.store_lanes(lane, vector, addr, *count),
                    }
                }
                Statement::StoreFirst { value, addr } => {
                    let (lane, vector) = (self.function.lane(*value), self.get(*value));
                    let (address, offset) = self.address(addr);
                    let first = self.builder.ins().extractlane(vector, 0);
                    debug_assert_eq!(self.builder.func.dfg.value_type(first), element(lane));
                    self.builder.ins().store(anywhere(), first, address, offset);
                }
                Statement::Prefetch(_) => {}
                Statement::ByteProduct(_) => {
                    unreachable!("functions with byte-products are refused")
                }
                Statement::Loop(node) => self.repeat(node),
                Statement::IfAny(node) => self.if_any(node),
            }
        }
    }

    /// Returns the address as a base and a constant offset.
    pub fn address(&mut self, addr: &Addr) -> (ir::Value, i32) {
        let base = self.get(addr.base);
        let Some(index) = addr.index else {
            return (base, addr.offset);
        };
        let index = self.get(index);
        let shift = i64::from(addr.scale.trailing_zeros());
        let bytes = self.builder.ins().ishl_imm(index, shift);
        (self.builder.ins().iadd(base, bytes), addr.offset)
    }

    /// Returns the address as one value.
    pub fn pointer(&mut self, addr: &Addr) -> ir::Value {
        let (address, offset) = self.address(addr);
        self.builder.ins().iadd_imm(address, i64::from(offset))
    }

    fn repeat(&mut self, node: &Loop) {
        let upper = self.get(node.upper);
        let (bound, condition) = match node.kind {
            LoopKind::Whole => {
                let bound = self.builder.ins().iadd_imm(upper, -node.step);
                (bound, IntCC::SignedLessThanOrEqual)
            }
            LoopKind::Rest => (upper, IntCC::SignedLessThan),
        };
        let [header, body, exit] = std::array::from_fn(|_| self.builder.create_block());
        let inits = node.carried.iter().map(|carried| carried.init);
        let inits: Vec<ir::Value> = [node.lower]
            .into_iter()
            .chain(inits)
            .map(|value| self.get(value))
            .collect();
        for &init in &inits {
            let ty = self.builder.func.dfg.value_type(init);
            self.builder.append_block_param(header, ty);
        }
        let jump_args = |values: &[ir::Value]| {
            values
                .iter()
                .copied()
                .map(BlockArg::from)
                .collect::<Vec<_>>()
        };
        self.builder.ins().jump(header, &jump_args(&inits));
        self.builder.switch_to_block(header);
        let params = self.builder.block_params(header).to_vec();
        let again = self.builder.ins().icmp(condition, params[0], bound);
        self.builder.ins().brif(again, body, &[], exit, &[]);

        self.builder.switch_to_block(body);
        self.define(node.index, params[0]);
        for (carried, &param) in node.carried.iter().zip(&params[1..]) {
            self.define(carried.param, param);
        }
        self.statements(&node.body);
        let next = self.builder.ins().iadd_imm(params[0], node.step);
        let nexts = node.carried.iter().map(|carried| self.get(carried.next));
        let nexts: Vec<ir::Value> = [next].into_iter().chain(nexts).collect();
        self.builder.ins().jump(header, &jump_args(&nexts));

        self.builder.switch_to_block(exit);
        self.define(node.last, params[0]);
        for (carried, &param) in node.carried.iter().zip(&params[1..]) {
            self.define(carried.result, param);
        }
    }

    fn if_any(&mut self, node: &IfAny) {
        let mask = self.get(node.mask);
        let [body, exit] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.set_cold_block(body);
        let mut otherwise = Vec::new();
        for merged in &node.merged {
            let value = self.get(merged.otherwise);
            otherwise.push(BlockArg::from(value));
            let ty = self.builder.func.dfg.value_type(value);
            let result = self.builder.append_block_param(exit, ty);
            self.define(merged.result, result);
        }
        let is_needed = self.builder.ins().vany_true(mask);
        self.builder
            .ins()
            .brif(is_needed, body, &[], exit, &otherwise);

        self.builder.switch_to_block(body);
        self.statements(&node.body);
        let mut chosen = Vec::new();
        for merged in &node.merged {
            let lane = self.function.lane(merged.computed);
            let (a, b) = (self.get(merged.computed), self.get(merged.otherwise));
            chosen.push(BlockArg::from(self.select(lane, mask, a, b)));
        }
        self.builder.ins().jump(exit, &chosen);
        self.builder.switch_to_block(exit);
    }

    fn operation(&mut self, value: Value, op: &Op) -> ir::Value {
        let lane_of = |value: Value| self.function.lane(value);
        match *op {
            Op::Index(n) => self.builder.ins().iconst(types::I64, n),
            Op::IndexOp(op, a, b) => {
                let (a, b) = (self.get(a), self.get(b));
                let ins = self.builder.ins();
                match op {
                    IndexOp::Add => ins.iadd(a, b),
                    IndexOp::Sub => ins.isub(a, b),
                    IndexOp::Mul => ins.imul(a, b),
                    IndexOp::Min => ins.smin(a, b),
                    IndexOp::Max => ins.smax(a, b),
                }
            }
            Op::Address(addr) => self.pointer(&addr),
            Op::Load {
                lane,
                addr,
                count: None,
            } => self.load(lane, &addr),
            Op::Load {
                lane,
                addr,
                count: Some(count),
            } => self.load_lanes(lane, &addr, count),
            Op::LoadSplat { lane, addr } => {
                let (address, offset) = self.address(&addr);
                let element = element(lane);
                let element = self
                    .builder
                    .ins()
                    .load(element, anywhere(), address, offset);
                self.builder.ins().splat(vector(lane), element)
            }
            Op::LoadStrided {
                lane,
                addr,
                stride,
                count,
            } => self.load_strided(lane, &addr, stride, count),
            Op::Gather {
                lane,
                base,
                places,
                count,
            } => self.gather(lane, base, places, count),
            Op::Unary(op, a) => self.unary(op, a),
            Op::Binary(op, a, b) => self.binary(op, lane_of(a), a, b),
            Op::Fma(a, b, c) => {
                let (a, b, c) = (self.get(a), self.get(b), self.get(c));
                self.builder.ins().fma(a, b, c)
            }
            Op::DotBytes(a, b, c) => {
                let [x, y, sum] = [a, b, c].map(|value| self.get(value));
                self.dot_bytes(x, y, sum)
            }
            Op::IntDiv {
                signed,
                lhs,
                rhs,
                count,
            } => self.divide(signed, lane_of(lhs), lhs, rhs, count),
            Op::Below(lane, count) => self.below(lane.int(), count),
            Op::Compare(predicate, a, b) => self.compare(predicate, lane_of(a), a, b),
            Op::MaskOp(op, a, b) => self.mask_op(op, a, b),
            Op::Select(mask, a, b) => {
                let (mask, a, b) = (self.get(mask), self.get(a), self.get(b));
                let lane = lane_of(value);
                self.select(lane, mask, a, b)
            }
            Op::Shift(op, a, n) => self.shift(op, a, n),
            Op::Convert(op, to, a) => {
                let (from, x) = (lane_of(a), self.get(a));
                self.convert(op, from, to, x)
            }
            Op::Splat(a) => {
                let (lane, x) = (self.function.lane(a), self.get(a));
                self.splat(lane, x)
            }
            Op::Transpose {
                odd,
                block,
                first,
                second,
            } => {
                let lane = self.function.lane(first);
                let (x, y) = (self.get(first), self.get(second));
                self.transpose(lane, odd, block, x, y)
            }
            Op::LanesDown(a, n) => {
                let (lane, x) = (lane_of(a), self.get(a));
                self.lanes_down(lane, x, n)
            }
        }
    }

    /// Returns the size in bytes of a vector of `lane` in this function.
    pub fn bytes(&self, lane: Lane) -> u32 {
        self.function.lanes() * lane.bytes()
    }
}
