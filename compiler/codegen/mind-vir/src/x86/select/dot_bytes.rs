//! Dot products of bytes.

use regalloc2::VReg;

use crate::ir::{BinaryOp, Lane, ShiftOp, Value};

use super::super::codes;
use super::{Rm, Select};

impl Select<'_> {
    pub(super) fn dot_bytes(&mut self, value: Value, a: Value, b: Value, c: Value) {
        let (x, sum) = (self.reg(a), self.reg(c));
        let result = if self.has_vnni {
            let y = self.rm(b);
            self.fused_bytes(x, y, sum)
        } else {
            let y = self.reg(b);
            self.bytes_as_halves(x, y, sum)
        };
        self.bind(value, result);
    }

    /// The result is tied to the addend.
    fn fused_bytes(&mut self, x: VReg, y: Rm, sum: VReg) -> VReg {
        let code = codes::DOT_BYTES.code(self.encoding);
        let code = code.expect("a form for each target");
        let (result, view) = (self.new_vector(), self.full());
        self.emit(code)
            .replace(result, sum, view)
            .reg(x, view)
            .rm(y, view)
            .done();
        result
    }

    /// Even and odd bytes are widened to 16 bits; their products are added in pairs.
    fn bytes_as_halves(&mut self, x: VReg, y: VReg, sum: VReg) -> VReg {
        let row = |op| codes::binary(op, Lane::I32).expect("a row");
        let (multiply, add) = (row(BinaryOp::MulHalves), row(BinaryOp::Add));
        let low = self.pooled(Lane::I16, 0x00ff);
        let even_x = self.two(codes::AND, x, low);
        let odd_x = self.shifted(ShiftOp::Shr, Lane::I16, x, 8);
        let raised_y = self.shifted(ShiftOp::Shl, Lane::I16, y, 8);
        let even_y = self.shifted(ShiftOp::Sra, Lane::I16, raised_y, 8);
        let odd_y = self.shifted(ShiftOp::Sra, Lane::I16, y, 8);
        let even = self.two(multiply, even_x, Rm::Reg(even_y));
        let odd = self.two(multiply, odd_x, Rm::Reg(odd_y));
        let products = self.two(add, even, Rm::Reg(odd));
        self.two(add, sum, Rm::Reg(products))
    }
}
