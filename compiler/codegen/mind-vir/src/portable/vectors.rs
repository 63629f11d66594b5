//! Operations on 128-bit vectors.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, ConstantData, Endianness, InstBuilder, MemFlags, types};

use crate::ir::{Addr, BinaryOp, ConvertOp, Lane, MaskOp, Predicate, ShiftOp, UnaryOp, Value};

use super::translate::{Translate, anywhere};
use super::types::{element, vector};

impl Translate<'_, '_> {
    /// Casts the 128 bits to lanes of another type.
    pub(super) fn cast(&mut self, lane: Lane, x: ir::Value) -> ir::Value {
        let ty = vector(lane);
        if self.builder.func.dfg.value_type(x) == ty {
            return x;
        }
        let flags = MemFlags::new().with_endianness(Endianness::Little);
        self.builder.ins().bitcast(ty, flags, x)
    }

    fn constant_bytes(&mut self, lane: Lane, bytes: [u8; 16]) -> ir::Value {
        let data = ConstantData::from(bytes.as_slice());
        let constant = self.builder.func.dfg.constants.insert(data);
        self.builder.ins().vconst(vector(lane), constant)
    }

    /// A vector with `bits` in every lane.
    pub(super) fn splat_bits(&mut self, lane: Lane, bits: u64) -> ir::Value {
        let size = lane.bytes() as usize;
        let repeated = bits.to_le_bytes()[..size].repeat(16 / size);
        self.constant_bytes(lane, repeated.try_into().expect("16 bytes"))
    }

    pub(super) fn load(&mut self, lane: Lane, addr: &Addr) -> ir::Value {
        let (address, offset) = self.address(addr);
        let (whole, narrow) = match self.bytes(lane) {
            16 => {
                return self
                    .builder
                    .ins()
                    .load(vector(lane), anywhere(), address, offset);
            }
            8 => (Lane::I64, types::I64),
            4 => (Lane::I32, types::I32),
            _ => (Lane::I32, types::I16),
        };
        let loaded = self.builder.ins().load(narrow, anywhere(), address, offset);
        let scalar = if narrow == types::I16 {
            self.builder.ins().uextend(types::I32, loaded)
        } else {
            loaded
        };
        let filled = self.builder.ins().scalar_to_vector(vector(whole), scalar);
        self.cast(lane, filled)
    }

    pub(super) fn store(&mut self, lane: Lane, x: ir::Value, addr: &Addr) {
        let (address, offset) = self.address(addr);
        let whole = match self.bytes(lane) {
            16 => {
                self.builder.ins().store(anywhere(), x, address, offset);
                return;
            }
            8 => Lane::I64,
            4 => Lane::I32,
            _ => Lane::I16,
        };
        let filled = self.cast(whole, x);
        let scalar = self.builder.ins().extractlane(filled, 0);
        self.builder
            .ins()
            .store(anywhere(), scalar, address, offset);
    }

    pub(super) fn unary(&mut self, op: UnaryOp, a: Value) -> ir::Value {
        let x = self.get(a);
        match op {
            UnaryOp::Neg => self.builder.ins().fneg(x),
            UnaryOp::Abs => self.builder.ins().fabs(x),
            UnaryOp::Sqrt => self.builder.ins().sqrt(x),
            UnaryOp::Floor => self.builder.ins().floor(x),
            UnaryOp::Ceil => self.builder.ins().ceil(x),
            UnaryOp::Trunc => self.builder.ins().trunc(x),
            UnaryOp::Round => self.builder.ins().nearest(x),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, lane: Lane, a: Value, b: Value) -> ir::Value {
        let (x, y) = (self.get(a), self.get(b));
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let (x, y) = (self.cast(lane.int(), x), self.cast(lane.int(), y));
                let ins = self.builder.ins();
                let result = match op {
                    BinaryOp::And => ins.band(x, y),
                    BinaryOp::Or => ins.bor(x, y),
                    _ => ins.bxor(x, y),
                };
                self.cast(lane, result)
            }
            BinaryOp::Min | BinaryOp::Max | BinaryOp::UMin | BinaryOp::UMax => {
                self.extremum(op, lane, x, y)
            }
            BinaryOp::Maximum => self.builder.ins().fmax(x, y),
            BinaryOp::Scale => {
                let [first, second] = self.factors(lane, y);
                let scaled = self.builder.ins().fmul(x, first);
                self.builder.ins().fmul(scaled, second)
            }
            BinaryOp::ScaleSum => {
                let [first, second] = self.factors(lane, y);
                let scaled = self.builder.ins().fma(x, first, first);
                self.builder.ins().fmul(scaled, second)
            }
            BinaryOp::MulHalves => self.multiply_halves(x, y),
            BinaryOp::MulBytes => self.multiply_pairs(x, y),
            BinaryOp::AddHalves => {
                let (x, y) = (self.cast(Lane::I16, x), self.cast(Lane::I16, y));
                let sum = self.builder.ins().iadd(x, y);
                self.cast(Lane::I32, sum)
            }
            BinaryOp::Div => self.builder.ins().fdiv(x, y),
            BinaryOp::Add if lane.is_float() => self.builder.ins().fadd(x, y),
            BinaryOp::Sub if lane.is_float() => self.builder.ins().fsub(x, y),
            BinaryOp::Mul if lane.is_float() => self.builder.ins().fmul(x, y),
            BinaryOp::Add => self.builder.ins().iadd(x, y),
            BinaryOp::Sub => self.builder.ins().isub(x, y),
            BinaryOp::Mul if lane == Lane::I8 => self.multiply_bytes(x, y),
            BinaryOp::Mul => self.builder.ins().imul(x, y),
            BinaryOp::Shift(op) => self.shift_lanes(op, lane, x, y),
        }
    }

    /// Splits the exponent operand of [`BinaryOp::Scale`] into two powers of two whose product is the factor.
    fn factors(&mut self, lane: Lane, k: ir::Value) -> [ir::Value; 2] {
        let k = self.cast(lane.int(), k);
        let floor = self.builder.ins().ushr_imm(k, 1);
        let ceil = self.builder.ins().isub(k, floor);
        [floor, ceil].map(|half| {
            let power = self
                .builder
                .ins()
                .ishl_imm(half, i64::from(lane.fraction_bits()));
            self.cast(lane, power)
        })
    }

    /// Dot product of the 16-bit halves of each 32-bit lane.
    fn multiply_halves(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let [low, high] = [16, 0].map(|left| {
            let halves = [x, y].map(|value| {
                let raised = self.builder.ins().ishl_imm(value, left);
                self.builder.ins().sshr_imm(raised, 16)
            });
            self.builder.ins().imul(halves[0], halves[1])
        });
        self.builder.ins().iadd(low, high)
    }

    /// For each 16-bit half, the dot product of two bytes, unsigned in `x` and signed in `y`, saturated to 16 bits.
    fn multiply_pairs(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let [low, high] = [[24, 16], [8, 0]].map(|lefts| {
            let [first, last] = lefts.map(|left| {
                let [x, y] = [x, y].map(|value| self.builder.ins().ishl_imm(value, left));
                let x = self.builder.ins().ushr_imm(x, 24);
                let y = self.builder.ins().sshr_imm(y, 24);
                self.builder.ins().imul(x, y)
            });
            let sum = self.builder.ins().iadd(first, last);
            let least = self.splat_bits(Lane::I32, u64::from(i32::from(i16::MIN) as u32));
            let most = self.splat_bits(Lane::I32, i16::MAX as u64);
            let sum = self.builder.ins().smax(sum, least);
            self.builder.ins().smin(sum, most)
        });
        let mask = self.splat_bits(Lane::I32, 0xffff);
        let low = self.builder.ins().band(low, mask);
        let high = self.builder.ins().ishl_imm(high, 16);
        self.builder.ins().bor(low, high)
    }

    /// `sum` plus, in each 32-bit lane, the dot product of the unsigned bytes of `x` and the signed bytes of `y`.
    pub(super) fn dot_bytes(&mut self, x: ir::Value, y: ir::Value, sum: ir::Value) -> ir::Value {
        [24, 16, 8, 0].into_iter().fold(sum, |sum, left| {
            let [x, y] = [x, y].map(|value| self.builder.ins().ishl_imm(value, left));
            let x = self.builder.ins().ushr_imm(x, 24);
            let y = self.builder.ins().sshr_imm(y, 24);
            let product = self.builder.ins().imul(x, y);
            self.builder.ins().iadd(sum, product)
        })
    }

    fn extremum(&mut self, op: BinaryOp, lane: Lane, x: ir::Value, y: ir::Value) -> ir::Value {
        let less = match op {
            BinaryOp::Min => Predicate::Lt,
            BinaryOp::Max => Predicate::Lt,
            _ => Predicate::ULt,
        };
        let (first, second) = match op {
            BinaryOp::Min | BinaryOp::UMin => (x, y),
            _ => (y, x),
        };
        let mask = self.compared(less, lane, first, second);
        self.select(lane, mask, x, y)
    }

    /// Products of the even and of the odd bytes, in 16 bits each.
    fn multiply_bytes(&mut self, x: ir::Value, y: ir::Value) -> ir::Value {
        let (x, y) = (self.cast(Lane::I16, x), self.cast(Lane::I16, y));
        let low = self.splat_bits(Lane::I16, 0x00ff);
        let high = self.splat_bits(Lane::I16, 0xff00);
        let even = self.builder.ins().imul(x, y);
        let even = self.builder.ins().band(even, low);
        let x = self.builder.ins().ushr_imm(x, 8);
        let y = self.builder.ins().band(y, high);
        let odd = self.builder.ins().imul(x, y);
        let joined = self.builder.ins().bor(even, odd);
        self.cast(Lane::I8, joined)
    }

    pub(super) fn compare(
        &mut self,
        predicate: Predicate,
        lane: Lane,
        a: Value,
        b: Value,
    ) -> ir::Value {
        let (x, y) = (self.get(a), self.get(b));
        self.compared(predicate, lane, x, y)
    }

    /// A comparison; returns all ones or all zeros in each lane.
    pub(super) fn compared(
        &mut self,
        predicate: Predicate,
        lane: Lane,
        x: ir::Value,
        y: ir::Value,
    ) -> ir::Value {
        let float = |predicate| match predicate {
            Predicate::Eq => FloatCC::Equal,
            Predicate::Lt | Predicate::ULt => FloatCC::LessThan,
            Predicate::Le => FloatCC::LessThanOrEqual,
            Predicate::Unordered => FloatCC::Unordered,
        };
        if lane.is_float() {
            return self.builder.ins().fcmp(float(predicate), x, y);
        }
        match predicate {
            Predicate::Eq => self.builder.ins().icmp(IntCC::Equal, x, y),
            Predicate::Lt => self.builder.ins().icmp(IntCC::SignedLessThan, x, y),
            Predicate::Le => self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, x, y),
            Predicate::ULt => {
                let sign = self.splat_bits(lane, lane.sign());
                let (x, y) = (
                    self.builder.ins().bxor(x, sign),
                    self.builder.ins().bxor(y, sign),
                );
                self.builder.ins().icmp(IntCC::SignedLessThan, x, y)
            }
            Predicate::Unordered => unreachable!("verified lanes are floats"),
        }
    }

    pub(super) fn mask_op(&mut self, op: MaskOp, a: Value, b: Value) -> ir::Value {
        let (x, y) = (self.get(a), self.get(b));
        let ins = self.builder.ins();
        match op {
            MaskOp::And => ins.band(x, y),
            MaskOp::Or => ins.bor(x, y),
            MaskOp::AndNot => ins.band_not(x, y),
        }
    }

    /// The lanes below a count.
    pub(super) fn below(&mut self, lane: Lane, count: Value) -> ir::Value {
        let size = lane.bytes() as usize;
        let numbers =
            (0..16 / size as u64).flat_map(|number| number.to_le_bytes()[..size].to_vec());
        let numbers: Vec<u8> = numbers.collect();
        let numbers = self.constant_bytes(lane, numbers.try_into().expect("16 bytes"));
        let mut count = self.get(count);
        if lane != Lane::I64 {
            count = self.builder.ins().ireduce(element(lane), count);
        }
        let count = self.builder.ins().splat(vector(lane), count);
        self.builder
            .ins()
            .icmp(IntCC::SignedLessThan, numbers, count)
    }

    /// `a` where the mask holds, else `b`.
    pub(super) fn select(
        &mut self,
        lane: Lane,
        mask: ir::Value,
        a: ir::Value,
        b: ir::Value,
    ) -> ir::Value {
        let (a, b) = (self.cast(lane.int(), a), self.cast(lane.int(), b));
        let chosen = self.builder.ins().bitselect(mask, a, b);
        self.cast(lane, chosen)
    }

    pub(super) fn shift(&mut self, op: ShiftOp, a: Value, n: u32) -> ir::Value {
        let (x, n) = (self.get(a), i64::from(n));
        match op {
            ShiftOp::Shl => self.builder.ins().ishl_imm(x, n),
            ShiftOp::Shr => self.builder.ins().ushr_imm(x, n),
            ShiftOp::Sra => self.builder.ins().sshr_imm(x, n),
        }
    }

    pub(super) fn convert(
        &mut self,
        op: ConvertOp,
        from: Lane,
        to: Lane,
        x: ir::Value,
    ) -> ir::Value {
        match op {
            ConvertOp::Bits => self.cast(to, x),
            ConvertOp::HalfToF32 => self.half_to_f32(x),
            ConvertOp::F32ToHalf => self.f32_to_half(x),
            ConvertOp::Float if to == Lane::F64 => self.builder.ins().fvpromote_low(x),
            ConvertOp::Float => self.builder.ins().fvdemote(x),
            ConvertOp::SignExtend => self.sign_extend(from, to, x),
            ConvertOp::ZeroExtend => self.zero_extend(from, to, x),
            ConvertOp::Truncate => self.truncate(from, to, x),
            ConvertOp::FloatToInt => self.float_to_int(from, x),
            ConvertOp::IntToFloat if to == Lane::F64 => {
                let wide = self.builder.ins().swiden_low(x);
                self.builder.ins().fcvt_from_sint(types::F64X2, wide)
            }
            ConvertOp::IntToFloat => self.builder.ins().fcvt_from_sint(types::F32X4, x),
        }
    }

    /// Rounds toward zero to 32 bits; values out of range are replaced by the least number first.
    fn float_to_int(&mut self, from: Lane, x: ir::Value) -> ir::Value {
        let (limit, least) = match from {
            Lane::F64 => (2f64.powi(31).to_bits(), (-(2f64.powi(31))).to_bits()),
            Lane::F32 | Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => (
                2f32.powi(31).to_bits().into(),
                (-(2f32.powi(31))).to_bits().into(),
            ),
        };
        let (limit, least) = (self.splat_bits(from, limit), self.splat_bits(from, least));
        let fits = self.compared(Predicate::Lt, from, x, limit);
        let x = self.select(from, fits, x, least);
        if from == Lane::F32 {
            return self.builder.ins().fcvt_to_sint_sat(types::I32X4, x);
        }
        let wide = self.builder.ins().fcvt_to_sint_sat(types::I64X2, x);
        let zero = self.splat_bits(Lane::I64, 0);
        self.builder.ins().snarrow(wide, zero)
    }

    fn sign_extend(&mut self, from: Lane, to: Lane, x: ir::Value) -> ir::Value {
        let (mut x, mut lane) = (x, from);
        while lane != to {
            x = self.builder.ins().swiden_low(x);
            lane = match lane {
                Lane::I8 => Lane::I16,
                Lane::I16 => Lane::I32,
                _ => Lane::I64,
            };
        }
        x
    }

    /// Permutes bytes: `source` returns the source index of each byte; `None` gives zero.
    fn bytes_from(&mut self, x: ir::Value, source: impl Fn(usize) -> Option<usize>) -> ir::Value {
        let bytes = self.cast(Lane::I8, x);
        let zero = self.splat_bits(Lane::I8, 0);
        /// The first byte of the second operand.
        const ZERO: u8 = 16;
        let order: Vec<u8> = (0..16)
            .map(|place| source(place).map_or(ZERO, |byte| byte as u8))
            .collect();
        let order = self
            .builder
            .func
            .dfg
            .immediates
            .push(ConstantData::from(order.as_slice()));
        self.builder.ins().shuffle(bytes, zero, order)
    }

    pub(super) fn zero_extend(&mut self, from: Lane, to: Lane, x: ir::Value) -> ir::Value {
        let (narrow, wide) = (from.bytes() as usize, to.bytes() as usize);
        let bytes = self.bytes_from(x, |place| {
            let (lane, byte) = (place / wide, place % wide);
            (byte < narrow).then_some(lane * narrow + byte)
        });
        self.cast(to, bytes)
    }

    pub(super) fn truncate(&mut self, from: Lane, to: Lane, x: ir::Value) -> ir::Value {
        let (wide, narrow) = (from.bytes() as usize, to.bytes() as usize);
        let bytes = self.bytes_from(x, |place| {
            let (lane, byte) = (place / narrow, place % narrow);
            (lane * wide < 16).then_some(lane * wide + byte)
        });
        self.cast(to, bytes)
    }

    /// Broadcasts the first lane.
    pub(super) fn splat(&mut self, lane: Lane, x: ir::Value) -> ir::Value {
        let first = self.builder.ins().extractlane(x, 0);
        self.builder.ins().splat(vector(lane), first)
    }

    /// Interleaves every other block of both.
    pub(super) fn transpose(
        &mut self,
        lane: Lane,
        odd: bool,
        block: u32,
        x: ir::Value,
        y: ir::Value,
    ) -> ir::Value {
        const BYTES: u32 = 16;
        let block = block * lane.bytes();
        let order = (0..BYTES).map(|place| {
            let pair = place / (2 * block) * (2 * block);
            let inside = pair + place % block + if odd { block } else { 0 };
            let of_second = place - pair >= block;
            (inside + if of_second { BYTES } else { 0 }) as u8
        });
        let order = ConstantData::from(order.collect::<Vec<u8>>().as_slice());
        let order = self.builder.func.dfg.immediates.push(order);
        let (x, y) = (self.cast(Lane::I8, x), self.cast(Lane::I8, y));
        let mixed = self.builder.ins().shuffle(x, y, order);
        self.cast(lane, mixed)
    }

    pub(super) fn lanes_down(&mut self, lane: Lane, x: ir::Value, n: u32) -> ir::Value {
        let (end, distance) = (self.bytes(lane) as usize, (n * lane.bytes()) as usize);
        let bytes = self.bytes_from(x, |place| {
            (place + distance < end).then_some(place + distance)
        });
        self.cast(lane, bytes)
    }
}
