//! Indices and addresses.

use iced_x86::Code;
use regalloc2::VReg;

use crate::ir::{Addr, IndexOp, Value};

use super::super::machine::{Base, Mem};
use super::super::view::View;
use super::Select;

impl Select<'_> {
    /// Returns a constant index that fits an immediate.
    pub(super) fn immediate(&self, value: Value) -> Option<i32> {
        let n = self.indices.get(&value)?;
        i32::try_from(*n).ok()
    }

    /// Loads a constant index into a register.
    pub(super) fn index_constant(&mut self, n: i64) -> VReg {
        let result = self.new_gpr();
        match u32::try_from(n) {
            Ok(small) => {
                let small = small as i32;
                self.emit(Code::Mov_r32_imm32)
                    .def(result, View::Gpr32)
                    .imm32(small)
                    .done();
            }
            Err(_) => self
                .emit(Code::Mov_r64_imm64)
                .def(result, View::Gpr64)
                .imm64(n)
                .done(),
        }
        result
    }

    /// Arithmetic on an index and an immediate.
    fn index_op_immediate(&mut self, value: Value, op: IndexOp, a: Value, n: i32) -> bool {
        let disp = match op {
            IndexOp::Add => n,
            IndexOp::Sub if n != i32::MIN => -n,
            IndexOp::Mul => {
                let x = self.reg(a);
                let result = self.define(value);
                // Shifts keep the multiplier ports free for vector instructions.
                if let Some(by) = power_of_two(n) {
                    let shift = self.emit(Code::Shl_rm64_imm8);
                    shift.replace(result, x, View::Gpr64).imm8(by).done();
                    return true;
                }
                let multiply = self.emit(Code::Imul_r64_rm64_imm32);
                let multiply = multiply.def(result, View::Gpr64).reg(x, View::Gpr64);
                multiply.imm32(n).done();
                return true;
            }
            _ => return false,
        };
        let x = self.reg(a);
        let result = self.define(value);
        let sum = Mem {
            base: Base::Reg(x),
            index: None,
            scale: 1,
            disp,
        };
        let add = self.emit(Code::Lea_r64_m).def(result, View::Gpr64);
        add.mem(sum).done();
        true
    }

    pub(super) fn index_op(&mut self, value: Value, op: IndexOp, a: Value, b: Value) {
        if let Some(n) = self.immediate(b)
            && self.index_op_immediate(value, op, a, n)
        {
            return;
        }
        let (x, y) = (self.reg(a), self.reg(b));
        let result = self.define(value);
        match op {
            IndexOp::Add => {
                let sum = Mem {
                    base: Base::Reg(x),
                    index: Some(y),
                    scale: 1,
                    disp: 0,
                };
                self.emit(Code::Lea_r64_m)
                    .def(result, View::Gpr64)
                    .mem(sum)
                    .done();
            }
            IndexOp::Sub | IndexOp::Mul => {
                let code = match op {
                    IndexOp::Sub => Code::Sub_r64_rm64,
                    _ => Code::Imul_r64_rm64,
                };
                self.emit(code)
                    .replace(result, x, View::Gpr64)
                    .reg(y, View::Gpr64)
                    .done();
            }
            IndexOp::Min | IndexOp::Max => {
                let code = match op {
                    IndexOp::Min => Code::Cmovg_r64_rm64,
                    _ => Code::Cmovl_r64_rm64,
                };
                // The allocator may insert moves between the two, which do not change flags.
                self.emit(Code::Cmp_r64_rm64)
                    .reg(x, View::Gpr64)
                    .reg(y, View::Gpr64)
                    .done();
                self.emit(code)
                    .replace(result, x, View::Gpr64)
                    .reg(y, View::Gpr64)
                    .done();
            }
        }
    }

    pub(super) fn address(&mut self, value: Value, addr: &Addr) {
        let mem = self.memory(addr);
        let result = self.define(value);
        self.emit(Code::Lea_r64_m)
            .def(result, View::Gpr64)
            .mem(mem)
            .done();
    }

    /// `a + n`.
    pub(super) fn plus(&mut self, a: VReg, n: i64) -> VReg {
        let result = self.new_gpr();
        // Loop steps fit 32 bits.
        let n = n as i32;
        self.emit(Code::Add_rm64_imm32)
            .replace(result, a, View::Gpr64)
            .imm32(n)
            .done();
        result
    }

    /// Returns an address as a memory operand.
    pub(super) fn memory(&mut self, addr: &Addr) -> Mem<VReg> {
        Mem {
            base: Base::Reg(self.reg(addr.base)),
            index: addr.index.map(|index| self.reg(index)),
            scale: addr.scale,
            disp: addr.offset,
        }
    }

    /// Computes an address in a register.
    pub(super) fn pointer(&mut self, addr: &Addr) -> VReg {
        let mem = self.memory(addr);
        let result = self.new_gpr();
        self.emit(Code::Lea_r64_m)
            .def(result, View::Gpr64)
            .mem(mem)
            .done();
        result
    }
}

/// Returns the logarithm of `n` if it is a power of two.
fn power_of_two(n: i32) -> Option<u8> {
    let n = u32::try_from(n).ok()?;
    n.is_power_of_two().then(|| n.trailing_zeros() as u8)
}
