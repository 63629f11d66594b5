//! Packing rows of blocks into panels.

use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, IndexOp, Lane, LoopKind, Op, ShiftOp, Value,
};

use super::super::operands::beyond;
use super::super::pack::for_each_panel;
use super::format::{Facts, Groups, High};
use super::panels::{Fields, QuantPanels};

/// What is packed: `n` columns, each a row of blocks of `k` terms, one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QuantPacking {
    /// Columns.
    pub n: usize,
    /// Terms of a column, a multiple of those of a block.
    pub k: usize,
    /// How the columns are to lie.
    pub panels: QuantPanels,
}

impl QuantPacking {
    /// How many panels there are.
    pub const fn count(&self) -> usize {
        self.n.div_ceil(self.panels.width)
    }

    fn row_bytes(&self) -> usize {
        self.panels.format.bytes(self.k)
    }
}

/// Appends the packing of panels `first..end` of the rows at `from` into those at `to`.
///
/// `to` points to all panels, of [`QuantPanels::bytes`] bytes. Columns beyond the last one become zero.
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

/// One panel, of which `columns` columns are there.
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

/// The blocks of a vector of columns, of which `present` are there.
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
        let Fields { scale, minimum, .. } = fields;
        let halves = [(Some(facts.scale), scale), (facts.minimum, minimum)];
        for (from, field) in halves {
            if let Some(from) = from {
                let half = self.read(b, Lane::I16, from);
                self.write(b, half, field);
            }
        }
        match facts.groups {
            Groups::None => {}
            Groups::Signed(from) => {
                for group in 0..facts.groups.counts().0 {
                    let scale = self.read(b, Lane::I8, from + group);
                    self.write(b, scale, fields.scales + group);
                }
            }
            Groups::Sixes(from) => self.sixes(b, from, &fields),
        }
        match facts.high {
            High::None => {}
            High::Bits(from) => {
                let word = self.word(b, from, facts.high_flip());
                let word = apart(b, word);
                self.write(b, word, fields.high);
            }
            High::Bytes(from, words) => {
                for word in 0..words {
                    let bits = self.word(b, from + 4 * word, facts.high_flip());
                    self.write(b, bits, fields.high + 4 * word);
                }
            }
        }
        for word in 0..facts.low.1 {
            let bits = self.word(b, facts.low.0 + 4 * word, facts.low_flip());
            self.write(b, bits, fields.low + 4 * word);
        }
    }

    /// Six bits of eight scales and eight minima as bytes: the first four of each stand in the low bits of
    /// bytes 0 to 7, the others in the nibbles of bytes 8 to 11 with two high bits in bytes 0 to 7.
    fn sixes(&self, b: &mut Builder, from: usize, fields: &Fields) {
        let bytes: Vec<Value> = (0..12)
            .map(|at| {
                let byte = self.read(b, Lane::I8, from + at);
                b.convert(ConvertOp::ZeroExtend, Lane::I32, byte)
            })
            .collect();
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

    /// What stands at byte `at` of the block of each column; zero where there is no column.
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

    /// The word at byte `at`, with the bits of `flip` exchanged.
    fn word(&self, b: &mut Builder, at: usize, flip: u64) -> Value {
        let word = if self.p.row_bytes().is_multiple_of(4) {
            self.read(b, Lane::I32, at)
        } else {
            // Blocks have an even number of bytes.
            let [low, high] = [at, at + 2].map(|at| {
                let half = self.read(b, Lane::I16, at);
                b.convert(ConvertOp::ZeroExtend, Lane::I32, half)
            });
            let high = b.shift(ShiftOp::Shl, high, 16);
            b.binary(BinaryOp::Or, low, high)
        };
        match flip {
            0 => word,
            _ => {
                let flip = b.constant(Lane::I32, flip);
                b.binary(BinaryOp::Xor, word, flip)
            }
        }
    }

    /// Writes a vector into a row of a field.
    fn write(&self, b: &mut Builder, value: Value, field: usize) {
        let size = b.lane(value).bytes() as usize;
        let offset = field * self.p.panels.width + self.column * size;
        let addr = beyond(b, self.to, offset as i64);
        b.store(value, addr, None);
    }
}

/// Bit `4 i + byte` of each word at bit `i` of byte `byte`.
fn apart(b: &mut Builder, word: Value) -> Value {
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
