//! Loads and stores.

use iced_x86::Code;
use regalloc2::{Operand, RegClass, VReg};

use crate::ir::{Addr, Lane, Value};

use super::super::codes;
use super::super::lanewise::{Lanewise, LanewiseOp};
use super::super::machine::{Mem, Node};
use super::super::non_temporal::NonTemporalStore;
use super::super::view::View;
use super::{Select, TailKey, bytes};
use crate::x86::encoding::Encoding;

impl Select<'_> {
    fn view(&self, bytes: u32) -> View {
        match bytes {
            64 => View::Zmm,
            32 => View::Ymm,
            _ => View::Xmm,
        }
    }

    fn node(&self, kind: LanewiseOp, lane: Lane, count: Option<Value>) -> Lanewise {
        Lanewise {
            kind,
            lane,
            lanes: self.function.lanes(),
            has_count: count.is_some(),
            encoding: self.encoding,
        }
    }

    /// Returns the mask of the lanes below `count`: a mask register, or a vector for lanes of the width of `lane`.
    pub(super) fn tail(&mut self, count: Value, lane: Lane) -> VReg {
        let bits = if self.encoding.has_masks() {
            0
        } else {
            lane.bits()
        };
        let key = TailKey { count, bits };
        if let Some(&(_, vreg)) = self.tails.iter().find(|(known, _)| *known == key) {
            return vreg;
        }
        let known = self.indices.get(&count).copied();
        let mask = match (known, self.encoding) {
            (Some(known), Encoding::Evex) => self.mask_of_first(known),
            (Some(known), Encoding::Vex) => self.vector_of_first(known, lane),
            (None, Encoding::Evex) => {
                let count = self.reg(count);
                self.mask_below(count)
            }
            (None, Encoding::Vex) => {
                let count = self.reg(count);
                self.vector_below(count, lane)
            }
        };
        self.tails.push((key, mask));
        mask
    }

    /// The mask of the first `count` lanes.
    fn mask_of_first(&mut self, count: i64) -> VReg {
        let ones = match count {
            ..=0 => 0,
            64.. => u64::MAX,
            _ => u64::MAX >> (64 - count),
        };
        let low = self.index_constant(ones as i64);
        self.mask_from(low)
    }

    /// The first `count` lanes as a vector.
    fn vector_of_first(&mut self, count: i64, lane: Lane) -> VReg {
        let size = i64::from(lane.bytes());
        let bytes = i64::from(self.full_bytes());
        let set = (count.clamp(0, bytes / size) * size) as usize;
        let mask = self.pool.vector(vec![0xff; set]);
        let vector = self.new_vector();
        self.load_constant(vector, mask);
        vector
    }

    fn mask_below(&mut self, count: VReg) -> VReg {
        let (ones, low) = (self.new_gpr(), self.new_gpr());
        self.emit(Code::Mov_r64_imm64)
            .def(ones, View::Gpr64)
            .imm64(-1)
            .done();
        let bzhi = self.emit(Code::VEX_Bzhi_r64_rm64_r64).def(low, View::Gpr64);
        bzhi.reg(ones, View::Gpr64).reg(count, View::Gpr64).done();
        self.mask_from(low)
    }

    /// A mask register with the bits of a general one.
    fn mask_from(&mut self, low: VReg) -> VReg {
        let mask = self.machine.new_vreg(RegClass::Vector);
        self.emit(Code::VEX_Kmovq_kr_r64)
            .def(mask, View::Mask)
            .reg(low, View::Gpr64)
            .done();
        mask
    }

    fn vector_below(&mut self, count: VReg, lane: Lane) -> VReg {
        let numbers = (0..256 / lane.bits()).flat_map(|number| {
            let bytes = u64::from(number).to_le_bytes();
            bytes[..lane.bytes() as usize].to_vec()
        });
        let numbers = self.pool.vector(numbers.collect());
        let (low, all, mask) = (self.new_vector(), self.new_vector(), self.new_vector());
        let spread = match lane.bits() {
            8 => Code::VEX_Vpbroadcastb_ymm_xmmm8,
            16 => Code::VEX_Vpbroadcastw_ymm_xmmm16,
            32 => Code::VEX_Vpbroadcastd_ymm_xmmm32,
            _ => Code::VEX_Vpbroadcastq_ymm_xmmm64,
        };
        let compare = codes::compare_vex(lane, false);
        self.emit(Code::VEX_Vmovq_xmm_rm64)
            .def(low, View::Xmm)
            .reg(count, View::Gpr64)
            .done();
        self.emit(spread)
            .def(all, View::Ymm)
            .reg(low, View::Xmm)
            .done();
        let compare = self.emit(compare).def(mask, View::Ymm).reg(all, View::Ymm);
        compare.mem(Mem::pool(numbers)).done();
        mask
    }

    pub(super) fn load(&mut self, value: Value, lane: Lane, addr: &Addr, count: Option<Value>) {
        let size = bytes(self.function, lane);
        let Some(count) = count else {
            let mem = self.memory(addr);
            let (load, _) = codes::moves(size, self.encoding);
            let (result, view) = (self.define(value), self.view(size));
            return self.emit(load).def(result, view).mem(mem).done();
        };
        if self.encoding.has_masks() {
            let (mask, mem) = (self.tail(count, lane), self.memory(addr));
            let (load, _) = codes::masked_moves(lane);
            let result = self.define(value);
            return self
                .emit(load)
                .def(result, View::Zmm)
                .mem(mem)
                .zeroed(mask)
                .done();
        }
        if lane.bits() >= 32 {
            let (mask, mem) = (self.tail(count, lane), self.memory(addr));
            let (load, _) = codes::vector_masked_moves(lane, size);
            let (result, view) = (self.define(value), self.view(size));
            return self
                .emit(load)
                .def(result, view)
                .reg(mask, view)
                .mem(mem)
                .done();
        }
        let (pointer, number) = (self.pointer(addr), self.reg(count));
        let operands = [
            Operand::reg_def(self.define(value)),
            Operand::reg_use_at_end(pointer),
            Operand::reg_use_at_end(number),
        ];
        self.lanewise(self.node(LanewiseOp::Load, lane, Some(count)), &operands, 2);
    }

    pub(super) fn store(&mut self, value: Value, addr: &Addr, count: Option<Value>) {
        let lane = self.function.lane(value);
        let size = bytes(self.function, lane);
        let vector = self.reg(value);
        self.uses.spend(value);
        let view = self.view(size);
        let Some(count) = count else {
            if size >= 16 && self.function.streamed().contains(&addr.base) {
                return self.stream(vector, addr, size);
            }
            let mem = self.memory(addr);
            let (_, store) = codes::moves(size, self.encoding);
            return self.emit(store).mem(mem).reg(vector, view).done();
        };
        if self.encoding.has_masks() {
            let (mask, mem) = (self.tail(count, lane), self.memory(addr));
            let (_, store) = codes::masked_moves(lane);
            return self
                .emit(store)
                .mem(mem)
                .reg(vector, View::Zmm)
                .masked(mask)
                .done();
        }
        if let Some(&known) = self.indices.get(&count) {
            let known = known.clamp(0, self.function.lanes().into()) as u32;
            return self.store_bytes(vector, addr, known * lane.bytes());
        }
        if lane.bits() >= 32 {
            let (mask, mem) = (self.tail(count, lane), self.memory(addr));
            let (_, store) = codes::vector_masked_moves(lane, size);
            return self
                .emit(store)
                .mem(mem)
                .reg(mask, view)
                .reg(vector, view)
                .done();
        }
        let (pointer, number) = (self.pointer(addr), self.reg(count));
        let operands = [vector, pointer, number].map(Operand::reg_use_at_end);
        self.lanewise(
            self.node(LanewiseOp::Store, lane, Some(count)),
            &operands,
            2,
        );
    }

    /// A store of the first bytes of a vector, in pieces, because on some processors a masked store takes a hundred
    /// cycles.
    fn store_bytes(&mut self, vector: VReg, addr: &Addr, count: u32) {
        let (mut left, mut done, mut low) = (count, 0, vector);
        for piece in [32, 16, 8, 4, 2, 1] {
            if left < piece {
                continue;
            }
            let (code, takes_lane) = codes::store_low_vex(piece);
            let (mem, view) = (self.memory(&addr.plus(done)), self.view(piece));
            let store = self.emit(code).mem(mem).reg(low, view);
            if takes_lane {
                store.imm8(0).done()
            } else {
                store.done()
            }
            left -= piece;
            done += piece as i32;
            if left > 0 {
                low = self.without_first(low, piece);
            }
        }
    }

    /// The bytes of a vector after the first `count`, which is 16, or less for a 16-byte vector.
    fn without_first(&mut self, vector: VReg, count: u32) -> VReg {
        let rest = self.new_vector();
        let (code, view, amount) = match count {
            16 => (Code::VEX_Vextracti128_xmmm128_ymm_imm8, View::Ymm, 1),
            _ => (Code::VEX_Vpsrldq_xmm_xmm_imm8, View::Xmm, count as u8),
        };
        let part = self.emit(code).def(rest, View::Xmm).reg(vector, view);
        part.imm8(amount).done();
        rest
    }

    /// A store that is non-temporal if its address is aligned.
    fn stream(&mut self, vector: VReg, addr: &Addr, size: u32) {
        let node = NonTemporalStore {
            size,
            encoding: self.encoding,
        };
        let operands = [vector, self.pointer(addr)].map(Operand::reg_use);
        self.machine.push(Node::NonTemporalStore(node), &operands);
    }

    pub(super) fn store_first(&mut self, value: Value, addr: &Addr) {
        let lane = self.function.lane(value);
        let (vector, mem) = (self.reg(value), self.memory(addr));
        self.uses.spend(value);
        let (code, takes_lane) = codes::store_first(lane, self.encoding);
        let store = self.emit(code).mem(mem).reg(vector, View::Xmm);
        if takes_lane {
            store.imm8(0).done()
        } else {
            store.done()
        }
    }

    pub(super) fn prefetch(&mut self, addr: &Addr) {
        let mem = self.memory(addr);
        self.emit(Code::Prefetcht0_m8).mem(mem).done();
    }

    pub(super) fn load_splat(&mut self, value: Value, lane: Lane, addr: &Addr) {
        let mem = self.memory(addr);
        let (result, view) = (self.define(value), self.full());
        self.emit(codes::splat(lane, self.encoding))
            .def(result, view)
            .mem(mem)
            .done();
    }

    pub(super) fn load_strided(
        &mut self,
        value: Value,
        lane: Lane,
        addr: &Addr,
        stride: Value,
        count: Option<Value>,
    ) {
        let (pointer, stride) = (self.pointer(addr), self.reg(stride));
        let distance = self.new_gpr();
        let size = lane.bytes() as i32;
        let scale = self
            .emit(Code::Imul_r64_rm64_imm32)
            .def(distance, View::Gpr64);
        scale.reg(stride, View::Gpr64).imm32(size).done();
        let mut operands = vec![
            Operand::reg_def(self.define(value)),
            Operand::reg_use_at_end(pointer),
            Operand::reg_use_at_end(distance),
        ];
        operands.extend(count.map(|count| Operand::reg_use_at_end(self.reg(count))));
        self.lanewise(
            self.node(LanewiseOp::LoadStrided, lane, count),
            &operands,
            3,
        );
    }

    pub(super) fn gather(
        &mut self,
        value: Value,
        lane: Lane,
        base: Value,
        places: Value,
        count: Option<Value>,
    ) {
        let (base, places) = (self.reg(base), self.reg(places));
        let mut operands = vec![
            Operand::reg_def(self.define(value)),
            Operand::reg_use_at_end(base),
            Operand::reg_use_at_end(places),
        ];
        operands.extend(count.map(|count| Operand::reg_use_at_end(self.reg(count))));
        self.lanewise(self.node(LanewiseOp::Gather, lane, count), &operands, 2);
    }

    pub(super) fn divide(
        &mut self,
        value: Value,
        is_signed: bool,
        lhs: Value,
        rhs: Value,
        count: Option<Value>,
    ) {
        let (lhs, rhs) = (self.reg(lhs), self.reg(rhs));
        let mut operands = vec![
            Operand::reg_def(self.define(value)),
            Operand::reg_use_at_end(lhs),
            Operand::reg_use_at_end(rhs),
        ];
        operands.extend(count.map(|count| Operand::reg_use_at_end(self.reg(count))));
        let node = self.node(
            LanewiseOp::Divide { is_signed },
            lane_of(self, value),
            count,
        );
        self.lanewise(node, &operands, 2);
    }
}

fn lane_of(select: &Select<'_>, value: Value) -> Lane {
    select.function.lane(value)
}
