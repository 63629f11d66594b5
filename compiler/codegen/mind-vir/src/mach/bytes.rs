//! Words that contain one byte of another word, moved, because one byte permutation computes them.

use rustc_hash::FxHashMap;

use crate::ir::{BinaryOp, Function, Lane, Op, ShiftOp, Value};

/// A word with one byte of another word; its other bytes are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MovedByte {
    /// The source word.
    pub word: Value,
    /// The index of the source byte, from the lowest one.
    pub from: u32,
    /// The index of the destination byte.
    pub to: u32,
}

/// Returns the values of `function` that shift a word and mask one byte of it.
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
    /// Words shifted by whole bytes, with the distance to the left.
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
