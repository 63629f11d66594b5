//! Loops over the lanes of vectors on the stack.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, types,
};

use crate::ir::{Addr, Lane, ShiftOp, Status, Value};

use super::translate::{Translate, anywhere};
use super::types::{element, vector};

impl Translate<'_, '_> {
    fn slot(&mut self) -> StackSlot {
        const VECTOR_BYTES: u32 = 16;
        const LOG2_ALIGN: u8 = 4;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, VECTOR_BYTES, LOG2_ALIGN);
        self.builder.create_sized_stack_slot(data)
    }

    fn saved(&mut self, x: ir::Value) -> ir::Value {
        let slot = self.slot();
        self.builder.ins().stack_store(x, slot, 0);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    fn lane_limit(&mut self, count: Option<Value>) -> ir::Value {
        match count {
            Some(count) => self.get(count),
            None => {
                let lanes = i64::from(self.function.lanes());
                self.builder.ins().iconst(types::I64, lanes)
            }
        }
    }

    /// Runs `body` with the index of each lane below `limit`.
    fn each_lane(&mut self, limit: ir::Value, body: impl FnOnce(&mut Self, ir::Value)) {
        let [header, inside, exit] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.append_block_param(header, types::I64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().jump(header, &[BlockArg::from(zero)]);
        self.builder.switch_to_block(header);
        let lane = self.builder.block_params(header)[0];
        let again = self.builder.ins().icmp(IntCC::SignedLessThan, lane, limit);
        self.builder.ins().brif(again, inside, &[], exit, &[]);
        self.builder.switch_to_block(inside);
        body(self, lane);
        let next = self.builder.ins().iadd_imm(lane, 1);
        self.builder.ins().jump(header, &[BlockArg::from(next)]);
        self.builder.switch_to_block(exit);
    }

    /// Returns the address of element `index` of the array of `lane` at `base`.
    fn at(&mut self, base: ir::Value, index: ir::Value, lane: Lane) -> ir::Value {
        let shift = i64::from(lane.bytes().trailing_zeros());
        let bytes = self.builder.ins().ishl_imm(index, shift);
        self.builder.ins().iadd(base, bytes)
    }

    /// A vector of the results of `one` for lanes below `limit`; other lanes are zero.
    fn collected(
        &mut self,
        lane: Lane,
        limit: ir::Value,
        one: impl FnOnce(&mut Self, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let zero = self.splat_bits(lane, 0);
        let slot = self.slot();
        self.builder.ins().stack_store(zero, slot, 0);
        let base = self.builder.ins().stack_addr(types::I64, slot, 0);
        self.each_lane(limit, |this, number| {
            let value = one(this, number);
            let to = this.at(base, number, lane);
            this.builder.ins().store(anywhere(), value, to, 0);
        });
        self.builder.ins().stack_load(vector(lane), slot, 0)
    }

    fn element_at(&mut self, base: ir::Value, index: ir::Value, lane: Lane) -> ir::Value {
        let from = self.at(base, index, lane);
        self.builder.ins().load(element(lane), anywhere(), from, 0)
    }

    pub(super) fn load_lanes(&mut self, lane: Lane, addr: &Addr, count: Value) -> ir::Value {
        let (base, limit) = (self.pointer(addr), self.get(count));
        self.collected(lane, limit, |this, number| {
            this.element_at(base, number, lane)
        })
    }

    pub(super) fn store_lanes(&mut self, lane: Lane, x: ir::Value, addr: &Addr, count: Value) {
        let (base, limit, saved) = (self.pointer(addr), self.get(count), self.saved(x));
        self.each_lane(limit, |this, number| {
            let value = this.element_at(saved, number, lane);
            let to = this.at(base, number, lane);
            this.builder.ins().store(anywhere(), value, to, 0);
        });
    }

    pub(super) fn load_strided(
        &mut self,
        lane: Lane,
        addr: &Addr,
        stride: Value,
        count: Option<Value>,
    ) -> ir::Value {
        let (base, stride, limit) = (self.pointer(addr), self.get(stride), self.lane_limit(count));
        self.collected(lane, limit, |this, number| {
            let place = this.builder.ins().imul(number, stride);
            this.element_at(base, place, lane)
        })
    }

    pub(super) fn gather(
        &mut self,
        lane: Lane,
        base: Value,
        places: Value,
        count: Option<Value>,
    ) -> ir::Value {
        let (base, places, limit) = (self.get(base), self.get(places), self.lane_limit(count));
        let places = self.saved(places);
        self.collected(lane, limit, |this, number| {
            let place = this.element_at(places, number, Lane::I32);
            let place = this.builder.ins().sextend(types::I64, place);
            this.element_at(base, place, lane)
        })
    }

    /// Divides lane by lane; an invalid divisor is replaced by 1 first, because the instruction would trap.
    pub(super) fn divide(
        &mut self,
        is_signed: bool,
        lane: Lane,
        lhs: Value,
        rhs: Value,
        count: Option<Value>,
    ) -> ir::Value {
        let (lhs, rhs, limit) = (self.get(lhs), self.get(rhs), self.lane_limit(count));
        let (lhs, rhs) = (self.saved(lhs), self.saved(rhs));
        self.collected(lane, limit, |this, number| {
            let x = this.element_at(lhs, number, lane);
            let y = this.element_at(rhs, number, lane);
            let (x, y) = (
                this.extended(is_signed, lane, x),
                this.extended(is_signed, lane, y),
            );
            let ins = |this: &mut Self, condition, value, number| {
                this.builder.ins().icmp_imm(condition, value, number)
            };
            let is_zero = ins(this, IntCC::Equal, y, 0);
            this.report(is_zero, Status::ZERO_DIVISOR);
            let mut is_bad = is_zero;
            if is_signed {
                let smallest = i64::MIN >> (64 - lane.bits());
                let is_smallest = ins(this, IntCC::Equal, x, smallest);
                let is_minus_one = ins(this, IntCC::Equal, y, -1);
                let overflows = this.builder.ins().band(is_smallest, is_minus_one);
                this.report(overflows, Status::QUOTIENT_OVERFLOW);
                is_bad = this.builder.ins().bor(is_bad, overflows);
            }
            let one = this.builder.ins().iconst(types::I64, 1);
            let zero = this.builder.ins().iconst(types::I64, 0);
            let y = this.builder.ins().select(is_bad, one, y);
            let quotient = if is_signed {
                this.builder.ins().sdiv(x, y)
            } else {
                this.builder.ins().udiv(x, y)
            };
            let quotient = this.builder.ins().select(is_zero, zero, quotient);
            if lane == Lane::I64 {
                quotient
            } else {
                this.builder.ins().ireduce(element(lane), quotient)
            }
        })
    }

    /// Shifts each lane by its own distance.
    pub(super) fn shift_lanes(
        &mut self,
        op: ShiftOp,
        lane: Lane,
        x: ir::Value,
        by: ir::Value,
    ) -> ir::Value {
        let limit = self.lane_limit(None);
        let (xs, amounts) = (self.saved(x), self.saved(by));
        let (width, last) = (i64::from(lane.bits()), i64::from(lane.bits()) - 1);
        self.collected(lane, limit, |this, number| {
            let x = this.element_at(xs, number, lane);
            let by = this.element_at(amounts, number, lane);
            let ins = this.builder.ins();
            let fits = ins.icmp_imm(IntCC::UnsignedLessThan, by, width);
            let most = this.builder.ins().iconst(element(lane), last);
            let by = this.builder.ins().select(fits, by, most);
            let shifted = match op {
                ShiftOp::Shl => this.builder.ins().ishl(x, by),
                ShiftOp::Shr => this.builder.ins().ushr(x, by),
                ShiftOp::Sra => return this.builder.ins().sshr(x, by),
            };
            let zero = this.builder.ins().iconst(element(lane), 0);
            this.builder.ins().select(fits, shifted, zero)
        })
    }

    fn extended(&mut self, is_signed: bool, lane: Lane, x: ir::Value) -> ir::Value {
        match (lane, is_signed) {
            (Lane::I64, _) => x,
            (_, true) => self.builder.ins().sextend(types::I64, x),
            (_, false) => self.builder.ins().uextend(types::I64, x),
        }
    }

    /// Sets `status` in the status of the call if `condition` holds.
    fn report(&mut self, condition: ir::Value, status: Status) {
        let before = self.builder.use_var(self.status);
        let after = self.builder.ins().bor_imm(before, status.0 as i64);
        let status = self.builder.ins().select(condition, after, before);
        self.builder.def_var(self.status, status);
    }
}
