//! Packing of block-quantised rows into panels.

use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, IndexOp, Lane, LoopKind, Op, Predicate, ShiftOp, Value,
};

use super::super::operands::beyond;
use super::super::pack::for_each_panel;
use super::format::{Facts, Groups, High, Low, Scale};
use super::levels;
use super::panels::{Fields, QuantPanels};

/// The operand to pack: `n` columns, each a contiguous row of blocks with `k` terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QuantPacking {
    /// Columns.
    pub n: usize,
    /// Terms of a column, a multiple of the block size.
    pub k: usize,
    /// The layout of the panels.
    pub panels: QuantPanels,
}

impl QuantPacking {
    /// Returns the number of panels.
    pub const fn count(&self) -> usize {
        self.n.div_ceil(self.panels.width)
    }

    fn row_bytes(&self) -> usize {
        self.panels.format.bytes(self.k)
    }
}

/// Appends the packing of panels `first..end` of the rows at `from` into those at `to`.
///
/// `to` points to all panels, of [`QuantPanels::bytes`] bytes. Columns beyond the last one are zero.
pub fn pack_quantised(
    b: &mut Builder,
    p: &QuantPacking,
    from: Value,
    to: Value,
    panels: (Value, Value),
) {
    for_each_panel(b, (p.n, p.panels.width), panels, |b, index, columns| {
        panel(b, p, from, to, index, columns);
    });
}

/// Packs a panel of `columns` columns.
fn panel(b: &mut Builder, p: &QuantPacking, from: Value, to: Value, index: Value, columns: usize) {
    let lanes = b.lanes() as usize;
    let moved = |b: &mut Builder, base: Value, index: Value, bytes: usize| {
        let bytes = b.index(bytes as i64);
        let index = b.index_op(IndexOp::Mul, index, bytes);
        b.address(Addr::element(base, index, Lane::I8))
    };
    let from = moved(b, from, index, p.panels.width * p.row_bytes());
    let to = moved(b, to, index, p.panels.panel_bytes(p.k));
    let blocks = p.k / p.panels.format.elements();
    let bounds = (b.index(0), b.index(blocks as i64));
    b.repeat(LoopKind::Whole, bounds, 1, &[], |b, round| {
        let from = moved(b, from, round.index, p.panels.format.block_bytes());
        let to = moved(b, to, round.index, p.panels.block_bytes());
        for column in (0..p.panels.width).step_by(lanes) {
            let vector = Vector {
                p,
                from,
                to,
                column,
                present: columns.saturating_sub(column).min(lanes),
            };
            vector.block(b);
        }
        Vec::new()
    });
}

/// The blocks of a vector of columns, `present` of which exist.
struct Vector<'p> {
    p: &'p QuantPacking,
    from: Value,
    to: Value,
    column: usize,
    present: usize,
}

impl Vector<'_> {
    fn block(&self, b: &mut Builder) {
        let (facts, fields) = (Facts::of(self.p.panels.format), self.p.panels.fields());
        match facts.scale {
            Scale::Half(from) => {
                let half = self.read(b, Lane::I16, from);
                self.write(b, half, fields.scale);
            }
            Scale::Exponent(from) => {
                let power = self.power(b, from);
                self.write(b, power, fields.scale);
            }
        }
        if let Some(from) = facts.minimum {
            let half = self.read(b, Lane::I16, from);
            self.write(b, half, fields.minimum);
        }
        match facts.groups {
            Groups::None => {}
            Groups::Signed(from) | Groups::Nibbles(from) => {
                for group in 0..facts.groups.counts().0 {
                    let scale = self.read(b, Lane::I8, from + group);
                    self.write(b, scale, fields.scales + group);
                }
            }
            Groups::SignedSixes(from) => self.signed_sixes(b, from, &fields),
            Groups::Sixes(from) => self.sixes(b, from, &fields),
        }
        match facts.high {
            High::None => {}
            High::Bits(from) => {
                let word = self.word(b, from, facts.high_flip());
                let word = transpose_bits(b, word);
                self.write(b, word, fields.high);
            }
            High::Bytes(from, words) => {
                for word in 0..words {
                    let bits = self.word(b, from + 4 * word, facts.high_flip());
                    self.write(b, bits, fields.high + 4 * word);
                }
            }
        }
        match facts.low {
            Low::Bits(_, from, words) => {
                for word in 0..words {
                    let bits = self.word(b, from + 4 * word, facts.low_flip());
                    self.write(b, bits, fields.low + 4 * word);
                }
            }
            Low::Levels(from, table) => {
                for at in 0..4 {
                    let word = self.word(b, from + 4 * at, 0);
                    for half in 0..2 {
                        let bytes = levels::levels(b, word, 4 * half as u32, table);
                        self.write(b, bytes, fields.low + 4 * (4 * half + at));
                    }
                }
            }
            Low::Digits => {
                let words = levels::digits(b, |b, at| self.word(b, at, 0));
                for (at, word) in words.into_iter().enumerate() {
                    self.write(b, word, fields.low + 4 * at);
                }
            }
        }
    }

    /// Returns the bytes at `at` of each block, as words.
    fn byte(&self, b: &mut Builder, at: usize) -> Value {
        let byte = self.read(b, Lane::I8, at);
        b.convert(ConvertOp::ZeroExtend, Lane::I32, byte)
    }

    /// Returns `2^(e - 128)` for the bytes at `at`.
    fn power(&self, b: &mut Builder, at: usize) -> Value {
        let exponent = self.byte(b, at);
        let [one, two, least] = [1, 2, 0x0020_0000].map(|x| b.constant(Lane::I32, x));
        let normal = b.binary(BinaryOp::Sub, exponent, one);
        let normal = b.shift(ShiftOp::Shl, normal, 23);
        let subnormal = b.binary(BinaryOp::Shift(ShiftOp::Shl), least, exponent);
        let is_subnormal = b.op(Op::Compare(Predicate::Lt, exponent, two));
        let bits = b.op(Op::Select(is_subnormal, subnormal, normal));
        b.convert(ConvertOp::Bits, Lane::F32, bits)
    }

    /// Unpacks sixteen 6-bit scales, minus 32, to bytes: the low four bits of scale `j` are in byte `j % 8`, the first
    /// eight in low nibbles, the high two in byte `8 + j % 4`.
    fn signed_sixes(&self, b: &mut Builder, from: usize, fields: &Fields) {
        let bytes: Vec<Value> = (0..12).map(|at| self.byte(b, from + at)).collect();
        let [low_bits, high_bits, offset] = [15, 3, 32].map(|x| b.constant(Lane::I32, x));
        let moved = |b: &mut Builder, byte: Value, by: usize| match by {
            0 => byte,
            _ => b.shift(ShiftOp::Shr, byte, by as u32),
        };
        for group in 0..16 {
            let low = moved(b, bytes[group % 8], 4 * (group / 8));
            let low = b.binary(BinaryOp::And, low, low_bits);
            let high = moved(b, bytes[8 + group % 4], 2 * (group / 4));
            let high = b.binary(BinaryOp::And, high, high_bits);
            let high = b.shift(ShiftOp::Shl, high, 4);
            let scale = b.binary(BinaryOp::Or, low, high);
            let scale = b.binary(BinaryOp::Sub, scale, offset);
            let byte = b.convert(ConvertOp::Truncate, Lane::I8, scale);
            self.write(b, byte, fields.scales + group);
        }
    }

    /// Unpacks eight 6-bit scales and eight 6-bit minima to bytes: the first four of each are in the low bits of bytes
    /// 0 to 7, the others in the nibbles of bytes 8 to 11 with two high bits in bytes 0 to 7.
    fn sixes(&self, b: &mut Builder, from: usize, fields: &Fields) {
        let bytes: Vec<Value> = (0..12).map(|at| self.byte(b, from + at)).collect();
        let masked = |b: &mut Builder, x: Value, mask: u64| {
            let mask = b.constant(Lane::I32, mask);
            b.binary(BinaryOp::And, x, mask)
        };
        for group in 0..8 {
            let pair = match group {
                0..4 => [bytes[group], bytes[group + 4]].map(|byte| masked(b, byte, 63)),
                _ => {
                    let low = masked(b, bytes[group + 4], 15);
                    let upper = b.shift(ShiftOp::Shr, bytes[group + 4], 4);
                    [(low, bytes[group - 4]), (upper, bytes[group])].map(|(low, high)| {
                        let high = b.shift(ShiftOp::Shr, high, 6);
                        let high = b.shift(ShiftOp::Shl, high, 4);
                        b.binary(BinaryOp::Or, low, high)
                    })
                }
            };
            for (value, field) in pair.into_iter().zip([fields.scales, fields.minima]) {
                let byte = b.convert(ConvertOp::Truncate, Lane::I8, value);
                self.write(b, byte, field + group);
            }
        }
    }

    /// Loads from offset `at` of the block of each column; zero for missing columns.
    fn read(&self, b: &mut Builder, lane: Lane, at: usize) -> Value {
        if self.present == 0 {
            return b.constant(lane, 0);
        }
        let (lanes, row) = (b.lanes() as usize, self.p.row_bytes());
        let count = (self.present < lanes).then(|| b.index(self.present as i64));
        let addr = beyond(b, self.from, (self.column * row + at) as i64);
        let stride = b.index((row / lane.bytes() as usize) as i64);
        b.op(Op::LoadStrided {
            lane,
            addr,
            stride,
            count,
        })
    }

    /// Loads the word at offset `at`, exclusive-or `flip`.
    fn word(&self, b: &mut Builder, at: usize, flip: u64) -> Value {
        // Strides are in elements.
        let word = match self.p.row_bytes() % 4 {
            0 => self.read(b, Lane::I32, at),
            2 => {
                let [low, high] = [at, at + 2].map(|at| {
                    let half = self.read(b, Lane::I16, at);
                    b.convert(ConvertOp::ZeroExtend, Lane::I32, half)
                });
                let high = b.shift(ShiftOp::Shl, high, 16);
                b.binary(BinaryOp::Or, low, high)
            }
            _ => (1..4).fold(self.byte(b, at), |word, place| {
                let byte = self.byte(b, at + place);
                let byte = b.shift(ShiftOp::Shl, byte, 8 * place as u32);
                b.binary(BinaryOp::Or, word, byte)
            }),
        };
        match flip {
            0 => word,
            _ => {
                let flip = b.constant(Lane::I32, flip);
                b.binary(BinaryOp::Xor, word, flip)
            }
        }
    }

    /// Stores a vector to a row of a field.
    fn write(&self, b: &mut Builder, value: Value, field: usize) {
        let size = b.lane(value).bytes() as usize;
        let offset = field * self.p.panels.width + self.column * size;
        let addr = beyond(b, self.to, offset as i64);
        b.store(value, addr, None);
    }
}

/// Moves bit `4 i + byte` of each word to bit `i` of byte `byte`.
fn transpose_bits(b: &mut Builder, word: Value) -> Value {
    let mut all = b.constant(Lane::I32, 0);
    for bit in 0..32u32 {
        let to = 8 * (bit % 4) + bit / 4;
        let one = b.constant(Lane::I32, 1 << to);
        let there = match to.cmp(&bit) {
            std::cmp::Ordering::Less => b.shift(ShiftOp::Shr, word, bit - to),
            std::cmp::Ordering::Equal => word,
            std::cmp::Ordering::Greater => b.shift(ShiftOp::Shl, word, to - bit),
        };
        let there = b.binary(BinaryOp::And, there, one);
        all = b.binary(BinaryOp::Or, all, there);
    }
    all
}
