//! Words that are one byte of other words in another place, which one permutation of bytes can make.

use rustc_hash::FxHashMap;

use crate::ir::{BinaryOp, Function, Lane, Op, ShiftOp, Value};

/// A word of zeros but for one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MovedByte {
    /// Where the byte is from.
    pub word: Value,
    /// Which byte of that it is, from the lowest one on.
    pub from: u32,
    /// Which byte it becomes.
    pub to: u32,
}

/// The values of `function` that are a shift of a word, of which a mask leaves one byte.
pub(super) fn moved_bytes(function: &Function) -> FxHashMap<Value, MovedByte> {
    let mut scan = Scan {
        function,
        shifts: FxHashMap::default(),
        found: FxHashMap::default(),
    };
    let body = function.body();
    body.for_each_op(&mut |value, op| scan.operation(value, op));
    scan.found
}

struct Scan<'f> {
    function: &'f Function,
    /// Words shifted by whole bytes, and by how many to the left.
    shifts: FxHashMap<Value, (Value, i32)>,
    found: FxHashMap<Value, MovedByte>,
}

impl Scan<'_> {
    fn operation(&mut self, value: Value, op: &Op) {
        if let Op::Shift(op, word, by) = *op {
            self.shift(value, op, word, by);
        } else if let Op::Binary(BinaryOp::And, word, mask) = *op
            && let Some(moved) = self.masked(word, mask)
        {
            self.found.insert(value, moved);
        }
    }

    fn shift(&mut self, value: Value, op: ShiftOp, word: Value, by: u32) {
        if self.function.lane(word) != Lane::I32 || !by.is_multiple_of(8) {
            return;
        }
        let bytes = (by / 8) as i32;
        let up = match op {
            ShiftOp::Shl => bytes,
            ShiftOp::Shr => -bytes,
            ShiftOp::Sra => return,
        };
        self.shifts.insert(value, (word, up));
    }

    fn masked(&self, shifted: Value, mask: Value) -> Option<MovedByte> {
        let &(word, up) = self.shifts.get(&shifted)?;
        let mask = self.function.constant(mask)? as u32;
        let to = mask.trailing_zeros() / 8;
        let from = to.checked_add_signed(-up)?;
        let is_whole = mask == 0xff_u32.checked_shl(8 * to)?;
        (is_whole && from < 4).then_some(MovedByte { word, from, to })
    }
}
