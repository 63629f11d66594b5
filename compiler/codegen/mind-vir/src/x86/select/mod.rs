//! Instruction selection: vector IR to machine code over virtual registers.

mod arith;
mod byte_product;
mod convert;
mod dot_bytes;
mod if_any;
mod index;
mod lookup;
mod memory;
mod steps;
mod transpose;

use iced_x86::Code;
use regalloc2::{Block, Operand, RegClass, VReg};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::ir::{Function, Lane, Loop, LoopKind, Op, Statement, Type, Value};
use crate::mach::{Uses, pressure};
use crate::target::CodeTarget;

use super::codes;
use super::encoding::Encoding;
use super::lanewise::Lanewise;
use super::machine::{Arg, Base, Condition, Machine, Mem, Node, Plain, Test, fixed_def};
use super::pool::Pool;
use super::registers::RDI;
use super::tiles::TileShapes;
use super::view::View;

/// Returns the machine code of `function` for AVX2 or AVX-512, and its constants.
pub(super) fn select(function: &Function, target: CodeTarget) -> (Machine, Pool) {
    let mut select = Select::new(function, target);
    select.function();
    (select.machine, select.pool)
}

/// A vector operand that may come from memory.
#[derive(Clone, Copy, Debug)]
enum Rm {
    Reg(VReg),
    Mem(Mem<VReg>),
}

/// The operand that the index of a loop is compared with.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Reg(VReg),
    Number(i32),
}

/// The key of the mask of the lanes below a count, which is reused within its block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct TailKey {
    count: Value,
    /// 0 if one mask serves lanes of every width.
    bits: u32,
}

/// A candidate for a register that is reserved for the whole function.
#[derive(Clone, Copy, Debug)]
enum Needed {
    Constant(Value),
    /// A look-up table, by its pool offset.
    Table(u32),
}

struct Select<'f> {
    function: &'f Function,
    encoding: Encoding,
    /// Whether the target has VNNI.
    has_vnni: bool,
    /// The number of vector registers.
    registers: usize,
    machine: Machine,
    pool: Pool,
    block: Block,
    values: Vec<Option<VReg>>,
    uses: Uses,
    /// Pool offsets of constants.
    constants: FxHashMap<Value, u32>,
    /// Registers of look-up tables, by pool offset.
    tables: FxHashMap<u32, VReg>,
    /// Constant indices, which are materialised only where they need a register.
    indices: FxHashMap<Value, i64>,
    tails: Vec<(TailKey, VReg)>,
    /// Whether the function has byte products.
    has_byte_products: bool,
    /// The configured tile shapes, if they are known here.
    shapes: Option<TileShapes>,
    /// Loop nesting depth, here and at the definition of each value.
    depth: u32,
    depths: Vec<u32>,
}

impl<'f> Select<'f> {
    fn new(function: &'f Function, code: CodeTarget) -> Select<'f> {
        let target = code.isa.target();
        let mut machine = Machine::with_room(function.value_count());
        let block = machine.new_block(&[]);
        machine.open(block);
        Select {
            function,
            encoding: Encoding::of(target),
            has_vnni: code.has_vnni,
            registers: target.vector_registers as usize,
            machine,
            pool: Pool::new(target.vector_bits as usize / 8),
            block,
            values: vec![None; function.value_count()],
            uses: Uses::of(function, target.vector_bits as usize / 32),
            constants: FxHashMap::default(),
            tables: FxHashMap::default(),
            indices: FxHashMap::default(),
            tails: Vec::new(),
            has_byte_products: function.has_byte_products(),
            shapes: None,
            depth: 0,
            depths: vec![0; function.value_count()],
        }
    }

    fn function(&mut self) {
        let arguments = self.machine.new_vreg(RegClass::Int);
        self.machine.push(Node::Entry, &[fixed_def(arguments, RDI)]);
        for (position, &param) in self.function.params().iter().enumerate() {
            if self.uses.count(param) == 0 {
                continue;
            }
            let value = self.define(param);
            let from = Mem {
                base: Base::Reg(arguments),
                index: None,
                scale: 1,
                disp: 8 * position as i32,
            };
            self.emit(Code::Mov_r64_rm64)
                .def(value, View::Gpr64)
                .mem(from)
                .done();
        }
        self.place_constants();
        let function = self.function;
        self.statements(function.body());
        self.machine.end(self.block, Node::Return, &[], &[]);
    }

    /// Adds every constant to the pool, and assigns spare registers to those that are read most.
    fn place_constants(&mut self) {
        /// Registers reserved for temporaries of an operation.
        const SPARE: usize = 2;
        let peak = pressure::peak(self.function, !self.encoding.has_masks());
        let mut room = self.registers.max(peak + SPARE) - peak - SPARE;
        let constants = self.function.constants().iter();
        let mut needed: SmallVec<[(u32, Needed); 32]> = SmallVec::new();
        for constant in constants.filter(|constant| self.uses.count(constant.value) > 0) {
            let lane = self.function.lane(constant.value);
            let bytes = &constant.bits.to_le_bytes()[..lane.bytes() as usize];
            let offset = self.pool.repeated(bytes);
            self.constants.insert(constant.value, offset);
            let reads = self.uses.usual_count(constant.value);
            if reads > 0 {
                needed.push((reads, Needed::Constant(constant.value)));
            }
        }
        let tables = self.tables_needed().into_iter();
        needed.extend(tables.map(|(offset, reads)| (reads, Needed::Table(offset))));
        needed.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
        for (_, needed) in needed {
            if room == 0 {
                break;
            }
            room -= 1;
            let (vreg, offset) = match needed {
                Needed::Constant(value) => (self.define(value), self.constants[&value]),
                Needed::Table(offset) => (self.table_register(offset), offset),
            };
            self.load_constant(vreg, offset);
        }
    }

    fn load_constant(&mut self, vreg: VReg, offset: u32) {
        if self.pool.is_zero(offset) {
            let view = self.full();
            let code = codes::XOR
                .code(self.encoding)
                .expect("a form for each target");
            let zero = self.emit(code).def(vreg, view);
            return zero.again(0, view).again(0, view).done();
        }
        let (load, _) = codes::moves(self.encoding.vector_bytes(), self.encoding);
        let view = self.full();
        self.emit(load)
            .def(vreg, view)
            .mem(Mem::pool(offset))
            .done();
    }

    /// The whole of a vector register.
    fn full(&self) -> View {
        self.encoding.full()
    }

    /// Bytes of a vector register.
    fn full_bytes(&self) -> u32 {
        self.encoding.vector_bytes()
    }

    fn class(&self, ty: Type) -> RegClass {
        match ty {
            Type::Index | Type::Ptr => RegClass::Int,
            Type::Mask(_) if self.encoding.has_masks() => RegClass::Vector,
            Type::Vector(_) | Type::Mask(_) => RegClass::Float,
        }
    }

    fn new_vector(&mut self) -> VReg {
        self.machine.new_vreg(RegClass::Float)
    }

    fn new_gpr(&mut self) -> VReg {
        self.machine.new_vreg(RegClass::Int)
    }

    /// Returns the register that `value` is defined in.
    fn define(&mut self, value: Value) -> VReg {
        let class = self.class(self.function.ty(value));
        let vreg = self.machine.new_vreg(class);
        self.values[value.index()] = Some(vreg);
        self.depths[value.index()] = self.depth;
        vreg
    }

    /// Returns the register of `value`; a constant without one is loaded.
    fn reg(&mut self, value: Value) -> VReg {
        if let Some(vreg) = self.values[value.index()] {
            return vreg;
        }
        if let Some(&n) = self.indices.get(&value) {
            return self.index_constant(n);
        }
        let offset = self.constants[&value];
        let vreg = self.new_vector();
        self.load_constant(vreg, offset);
        vreg
    }

    /// Returns the location of `value`: a register, or the pool.
    fn rm(&self, value: Value) -> Rm {
        match self.values[value.index()] {
            Some(vreg) => Rm::Reg(vreg),
            None => Rm::Mem(Mem::pool(self.constants[&value])),
        }
    }

    /// Records a read of `value`, and returns whether that was its last use.
    fn dies(&mut self, value: Value) -> bool {
        let last = self.uses.spend(value);
        last && self.depths[value.index()] == self.depth
            && self.values[value.index()].is_some()
            && !self.constants.contains_key(&value)
    }

    #[inline]
    fn emit(&mut self, code: Code) -> Emit<'_> {
        Emit {
            machine: &mut self.machine,
            plain: Plain {
                code,
                args: [None; 5],
                mem: None,
                imm: 0,
                mask: None,
                is_zeroing: false,
            },
        }
    }

    /// Emits a loop over lanes with these operands and temporaries.
    fn lanewise(&mut self, node: Lanewise, operands: &[Operand], temporaries: usize) {
        let mut operands: SmallVec<[Operand; 8]> = SmallVec::from_slice(operands);
        for _ in 0..temporaries {
            operands.push(Operand::reg_def(self.new_gpr()));
        }
        self.machine.push(Node::Lanewise(node), &operands);
    }

    fn statements(&mut self, block: &crate::ir::Block) {
        for statement in &block.statements {
            match statement {
                Statement::Let(value, op) => self.operation(*value, op),
                Statement::Store { value, addr, count } => self.store(*value, addr, *count),
                Statement::StoreFirst { value, addr } => self.store_first(*value, addr),
                Statement::Prefetch(addr) => self.prefetch(addr),
                Statement::ByteProduct(product) => self.byte_product(product),
                Statement::Loop(node) => self.repeat(node),
                Statement::IfAny(node) => self.if_any(node),
            }
        }
    }

    fn operation(&mut self, value: Value, op: &Op) {
        if self.uses.count(value) == 0 && !matches!(op, Op::IntDiv { .. }) {
            return;
        }
        self.select(value, op);
        // Multiply-adds choose an operand that dies, and record their reads themselves.
        if matches!(op, Op::Fma(..)) {
            return;
        }
        if let Some(word) = self.uses.read_instead(value) {
            self.uses.spend(word);
            return;
        }
        op.for_each_operand(|operand| {
            self.uses.spend(operand);
        });
    }

    fn select(&mut self, value: Value, op: &Op) {
        match *op {
            Op::Index(n) => {
                self.indices.insert(value, n);
            }
            Op::IndexOp(op, a, b) => self.index_op(value, op, a, b),
            Op::Address(addr) => self.address(value, &addr),
            Op::Load { lane, addr, count } => self.load(value, lane, &addr, count),
            Op::LoadSplat { lane, addr } => self.load_splat(value, lane, &addr),
            Op::LoadStrided {
                lane,
                addr,
                stride,
                count,
            } => self.load_strided(value, lane, &addr, stride, count),
            Op::Gather {
                lane,
                base,
                places,
                count,
            } => self.gather(value, lane, base, places, count),
            Op::Unary(op, a) => self.unary(value, op, a),
            Op::Binary(op, a, b) => self.binary(value, op, a, b),
            Op::Fma(a, b, c) => self.fma(value, a, b, c),
            Op::DotBytes(a, b, c) => self.dot_bytes(value, a, b, c),
            Op::IntDiv {
                signed,
                lhs,
                rhs,
                count,
            } => self.divide(value, signed, lhs, rhs, count),
            Op::Below(lane, count) => {
                let mask = self.tail(count, lane);
                self.bind(value, mask);
            }
            Op::Compare(predicate, a, b) => self.compare(value, predicate, a, b),
            Op::MaskOp(op, a, b) => self.mask_op(value, op, a, b),
            Op::Select(mask, a, b) => self.choose(value, mask, a, b),
            Op::Shift(op, a, n) => self.shift(value, op, a, n),
            Op::Convert(op, to, a) => self.convert(value, op, to, a),
            Op::LanesDown(a, n) => self.lanes_down(value, a, n),
            Op::Splat(a) => self.splat(value, a),
            Op::Transpose {
                odd,
                block,
                first,
                second,
            } => self.transpose(value, odd, block, first, second),
        }
    }

    /// Returns the bound and the condition of the back edge of a loop.
    fn bound(&mut self, node: &Loop) -> (Bound, Condition) {
        let (ahead, condition) = match node.kind {
            LoopKind::Whole => (node.step, Condition::LessOrEqual),
            LoopKind::Rest => (0, Condition::Less),
        };
        let upper = self.indices.get(&node.upper);
        let number = upper.and_then(|upper| upper.checked_sub(ahead));
        let number = number.and_then(|number| i32::try_from(number).ok());
        if let Some(number) = number {
            return (Bound::Number(number), condition);
        }
        let upper = self.reg(node.upper);
        let bound = match node.kind {
            LoopKind::Whole => self.plus(upper, -ahead),
            LoopKind::Rest => upper,
        };
        (Bound::Reg(bound), condition)
    }

    /// Returns whether the trip count of a loop is known to be at least 1.
    fn surely_runs(&self, node: &Loop, bound: Bound, condition: Condition) -> bool {
        match (bound, self.indices.get(&node.lower)) {
            (Bound::Number(bound), Some(&lower)) => match condition {
                Condition::Less => lower < bound.into(),
                Condition::LessOrEqual => lower <= bound.into(),
            },
            _ => false,
        }
    }

    /// Emits a rotated loop: the test is at its end, and a guard precedes it.
    ///
    /// Critical edges are split, because the allocator places its moves on edges.
    fn repeat(&mut self, node: &Loop) {
        self.shapes_of_loop(node);
        let lower = self.reg(node.lower);
        let (bound, condition) = self.bound(node);
        let runs = self.surely_runs(node, bound, condition);
        // Block arguments, the index first.
        let mut first: Carried = smallvec![lower];
        first.extend(node.carried.iter().map(|carried| self.reg(carried.init)));
        let (tails, shapes) = (self.tails.len(), self.shapes);

        self.depth += 1;
        let index = self.define(node.index);
        let mut params: Carried = smallvec![index];
        params.extend(
            node.carried
                .iter()
                .map(|carried| self.define(carried.param)),
        );
        let compare = |a: VReg| -> (Node, SmallVec<[Operand; 2]>) {
            let mut operands: SmallVec<[Operand; 2]> = smallvec![Operand::reg_use(a)];
            let number = match bound {
                Bound::Number(number) => Some(number),
                Bound::Reg(reg) => {
                    operands.push(Operand::reg_use(reg));
                    None
                }
            };
            (Node::Branch(Test::Compare(condition, number)), operands)
        };

        let guard = self.block;
        let enter = self.machine.new_block(&[]);
        let body = self.machine.new_block(&params);
        self.machine.is_header[body.index()] = true;
        let (entry, operands) = if runs {
            (Node::Jump, SmallVec::new())
        } else {
            compare(lower)
        };
        self.machine.push(entry, &operands);
        self.machine.open(enter);
        self.machine.end(enter, Node::Jump, &[], &[(body, &first)]);

        self.machine.open(body);
        self.block = body;
        self.statements(&node.body);
        let next = self.plus(index, node.step);
        let mut nexts: Carried = smallvec![next];
        nexts.extend(node.carried.iter().map(|carried| self.reg(carried.next)));
        self.depth -= 1;
        self.tails.truncate(tails);
        self.shapes = shapes;

        let latch = self.machine.new_block(&[]);
        let done = self.machine.new_block(&[]);
        let skip = (!runs).then(|| self.machine.new_block(&[]));
        let mut results: Carried = smallvec![self.define(node.last)];
        results.extend(
            node.carried
                .iter()
                .map(|carried| self.define(carried.result)),
        );
        let exit = self.machine.new_block(&results);
        let (branch, operands) = compare(next);
        let succs: [(Block, &[VReg]); 2] = [(latch, &[]), (done, &[])];
        self.machine.end(self.block, branch, &operands, &succs);
        self.machine.link(guard, &[(enter, &[])]);
        if let Some(skip) = skip {
            self.machine.link(guard, &[(skip, &[])]);
        }
        let ends = [
            Some((latch, body, &nexts)),
            Some((done, exit, &nexts)),
            skip.map(|skip| (skip, exit, &first)),
        ];
        for (block, to, args) in ends.into_iter().flatten() {
            self.machine.open(block);
            self.machine.end(block, Node::Jump, &[], &[(to, args)]);
        }
        self.machine.open(exit);
        self.block = exit;
    }
}

/// The index of a loop and its loop-carried values.
type Carried = SmallVec<[VReg; 8]>;

/// Collects the operands of an instruction, in encoding order.
#[must_use = "its operands belong to the node that `done` adds"]
struct Emit<'m> {
    machine: &'m mut Machine,
    plain: Plain,
}

impl Emit<'_> {
    #[inline]
    fn arg(mut self, arg: Arg) -> Self {
        let free = self.plain.args.iter_mut().find(|arg| arg.is_none());
        *free.expect("five operands at most") = Some(arg);
        self
    }

    #[inline]
    fn operand(&mut self, operand: Operand) -> u8 {
        self.machine.push_operand(operand)
    }

    #[inline]
    fn def(mut self, vreg: VReg, view: View) -> Self {
        let place = self.operand(Operand::reg_def(vreg));
        self.arg(Arg::Reg(place, view))
    }

    /// A result tied to the operand number `input`; the instruction names them once.
    #[inline]
    fn replace(mut self, vreg: VReg, input: VReg, view: View) -> Self {
        let input = self.operand(Operand::reg_use(input));
        let place = self.operand(Operand::reg_reuse_def(vreg, input as usize));
        self.arg(Arg::Reg(place, view))
    }

    /// A repeated register operand, by its index.
    #[inline]
    fn again(self, place: u8, view: View) -> Self {
        self.arg(Arg::Reg(place, view))
    }

    #[inline]
    fn reg(mut self, vreg: VReg, view: View) -> Self {
        let place = self.operand(Operand::reg_use(vreg));
        self.arg(Arg::Reg(place, view))
    }

    #[inline]
    fn mem(mut self, mem: Mem<VReg>) -> Self {
        let base = match mem.base {
            Base::Reg(vreg) => Base::Reg(self.operand(Operand::reg_use(vreg))),
            Base::Pool(offset) => Base::Pool(offset),
        };
        let index = mem.index.map(|vreg| self.operand(Operand::reg_use(vreg)));
        self.plain.mem = Some(Mem {
            base,
            index,
            scale: mem.scale,
            disp: mem.disp,
        });
        self.arg(Arg::Mem)
    }

    #[inline]
    fn rm(self, rm: Rm, view: View) -> Self {
        match rm {
            Rm::Reg(vreg) => self.reg(vreg, view),
            Rm::Mem(mem) => self.mem(mem),
        }
    }

    #[inline]
    fn imm8(mut self, imm: u8) -> Self {
        self.plain.imm = i64::from(imm);
        self.arg(Arg::Imm8)
    }

    #[inline]
    fn imm32(mut self, imm: i32) -> Self {
        self.plain.imm = i64::from(imm);
        self.arg(Arg::Imm32)
    }

    #[inline]
    fn imm64(mut self, imm: i64) -> Self {
        self.plain.imm = imm;
        self.arg(Arg::Imm64)
    }

    /// Predicates the instruction on `mask`, with its own merging.
    #[inline]
    fn masked(mut self, mask: VReg) -> Self {
        let place = self.operand(Operand::reg_use(mask));
        self.plain.mask = Some(place);
        self
    }

    /// Predicates the instruction on `mask` and zeroes inactive lanes.
    #[inline]
    fn zeroed(mut self, mask: VReg) -> Self {
        self.plain.is_zeroing = true;
        self.masked(mask)
    }

    #[inline]
    fn done(self) {
        self.machine.push_node(Node::Plain(self.plain));
    }
}

/// Returns the size in bytes of a vector of `lane` in this function.
fn bytes(function: &Function, lane: Lane) -> u32 {
    function.lanes() * lane.bytes()
}
