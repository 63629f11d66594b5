//! Conversions of narrow integers to `F32` that one table permutation computes, for example of 4-bit weights.

use rustc_hash::FxHashMap;

use crate::ir::{BinaryOp, ConvertOp, Function, Lane, Op, ShiftOp, Value};

/// A conversion of a bit field of a word to a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    /// The word.
    pub word: Value,
    /// The lowest bit of the field.
    pub from: u32,
    field: Field,
}

/// How the low bits of a word are decoded; bits above the field are ignored.
#[derive(Clone, Copy, Debug)]
struct Field {
    bits: u32,
    is_signed: bool,
    /// Added to the decoded integer.
    added: i32,
}

impl Lookup {
    /// Returns the table: the result for each of the `entries` values of the index bits.
    pub fn table(&self, entries: usize) -> Vec<f32> {
        (0..entries as i32)
            .map(|content| self.field.number(content) as f32)
            .collect()
    }
}

impl Field {
    fn number(self, content: i32) -> i32 {
        let above = 32 - self.bits;
        let top = content << above;
        let number = match self.is_signed {
            true => top >> above,
            false => (top as u32 >> above) as i32,
        };
        number.wrapping_add(self.added)
    }
}

/// Returns the conversions of `function` that a table of `entries` numbers can compute, by their results.
pub(super) fn lookups(function: &Function, entries: usize) -> FxHashMap<Value, Lookup> {
    let mut scan = Scan {
        function,
        bits: entries.ilog2(),
        integers: FxHashMap::default(),
        found: FxHashMap::default(),
    };
    let body = function.body();
    body.for_each_op(&mut |value, op| scan.operation(value, op));
    scan.found
}

struct Scan<'f> {
    function: &'f Function,
    /// Index width in bits of the table.
    bits: u32,
    /// Words that decode a bit field of another word, and those shifted to the left.
    integers: FxHashMap<Value, Integer>,
    found: FxHashMap<Value, Lookup>,
}

#[derive(Clone, Copy, Debug)]
enum Integer {
    Raised(Value, u32),
    Few(Lookup),
}

impl Scan<'_> {
    fn operation(&mut self, value: Value, op: &Op) {
        if let Op::Convert(ConvertOp::IntToFloat, Lane::F32, a) = *op {
            if let Some(Integer::Few(lookup)) = self.integers.get(&a) {
                self.found.insert(value, *lookup);
            }
            return;
        }
        if let Some(integer) = self.integer(op) {
            self.integers.insert(value, integer);
        }
    }

    fn integer(&self, op: &Op) -> Option<Integer> {
        if let Op::Binary(BinaryOp::And, word, mask) = *op {
            return self.masked(word, mask);
        }
        if let Op::Binary(BinaryOp::Sub, number, by) = *op {
            return self.less(number, by);
        }
        if let Op::Shift(ShiftOp::Shl, word, by) = *op {
            return self.are_words(word).then_some(Integer::Raised(word, by));
        }
        if let Op::Shift(ShiftOp::Sra, raised, by) = *op {
            return self.extended(raised, by);
        }
        None
    }

    /// The lowest bits of a word, as an unsigned number.
    fn masked(&self, word: Value, mask: Value) -> Option<Integer> {
        let mask = self.constant(mask).filter(|_| self.are_words(word))?;
        let bits = mask.trailing_ones();
        let is_field = (1..=self.bits).contains(&bits) && mask == (1 << bits) - 1;
        is_field.then_some(Integer::Few(Lookup {
            word,
            from: 0,
            field: Field {
                bits,
                is_signed: false,
                added: 0,
            },
        }))
    }

    /// A narrow integer minus a constant.
    fn less(&self, number: Value, by: Value) -> Option<Integer> {
        let by = self.constant(by).filter(|_| self.are_words(number))?;
        let Some(Integer::Few(mut lookup)) = self.integers.get(&number).copied() else {
            return None;
        };
        lookup.field.added = lookup.field.added.wrapping_sub(by as i32);
        Some(Integer::Few(lookup))
    }

    /// The top bits of a word shifted to the left, as a signed integer.
    fn extended(&self, raised: Value, by: u32) -> Option<Integer> {
        let Some(Integer::Raised(word, up)) = self.integers.get(&raised).copied() else {
            return None;
        };
        let bits = 32 - by;
        (up <= by && bits <= self.bits).then_some(Integer::Few(Lookup {
            word,
            from: by - up,
            field: Field {
                bits,
                is_signed: true,
                added: 0,
            },
        }))
    }

    fn are_words(&self, value: Value) -> bool {
        self.function.lane(value) == Lane::I32
    }

    fn constant(&self, value: Value) -> Option<u32> {
        self.function.constant(value).map(|bits| bits as u32)
    }
}
