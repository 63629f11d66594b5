//! Tiles in AMX tile registers.
//!
//! The sums of several parts are stored to memory before each row loads, scales and accumulates them, because loading a
//! tile right after it was written stalls.

use mind_vir::ir::{Addr, BinaryOp, Builder, ByteProduct, Lane, LoopKind, Value, WordRows};

use super::super::operands::beyond;
use super::super::quantised::{Factors, Part, TERMS, WORDS, moved, scaled};
use super::tile::{Here, Tile};
use super::{Context, Copied, beyond_bytes};

/// Parts that are multiplied before their sums are loaded.
pub(super) const TOGETHER: usize = 4;

impl Context<'_> {
    /// Converts the integers of a word, which are unsigned after adding their offset, to signed ones without the
    /// offset.
    pub(super) fn with_signs(&self, b: &mut Builder, word: Value) -> Value {
        let every = |byte: u32| u64::from(byte) * 0x0101_0101;
        let raised = match self.shape.offset {
            0 => return word,
            offset => 0x80 - offset,
        };
        // No byte carries, because the integers are signed 8-bit numbers.
        let word = match raised {
            0 => word,
            raised => {
                let by = b.constant(Lane::I32, every(raised));
                b.binary(BinaryOp::Add, word, by)
            }
        };
        let signs = b.constant(Lane::I32, every(0x80));
        b.binary(BinaryOp::Xor, word, signs)
    }
}

impl Tile<'_> {
    /// Stores the sums of the tile over all parts of a packed copy.
    pub(super) fn in_matrices(&self, b: &mut Builder, copy: Value) {
        let zero = b.constant(Lane::F32, 0);
        self.put(b, &vec![zero; self.count()]);
        let (parts, bytes) = (self.cx.p.parts(), self.cx.part_bytes(self.strips));
        let whole = parts / TOGETHER * TOGETHER;
        let bounds = (b.index(0), b.index(whole as i64));
        let inits = [self.lhs, self.scale, self.first_sums];
        let step = TOGETHER as i64;
        let (_, left) = b.repeat(LoopKind::Whole, bounds, step, &inits, |b, round| {
            let at = moved(b, copy, round.index, bytes);
            let here = Here::read(round.carried);
            self.together(b, here, at, TOGETHER);
            here.after(b, TOGETHER)
        });
        if whole < parts {
            let at = moved(b, copy, bounds.1, bytes);
            self.together(b, Here::read(&left), at, parts - whole);
        }
    }

    /// Adds `count` parts, the first of which is at `copy`.
    fn together(&self, b: &mut Builder, here: Here, copy: Value, count: usize) {
        let bytes = self.cx.part_bytes(self.strips);
        let copies: Vec<Value> = (0..count)
            .map(|part| b.address(beyond_bytes(copy, part * bytes)))
            .collect();
        for (part, &copy) in copies.iter().enumerate() {
            let lhs = b.address(beyond_bytes(here.lhs, part * TERMS));
            for strip in 0..self.strips {
                self.multiply(b, lhs, copy, (part, strip));
            }
        }
        let mut factors: Vec<Vec<Factors>> = Vec::new();
        for &at in &copies {
            let part = Copied { cx: self.cx, at };
            factors.push(
                (0..self.strips)
                    .map(|strip| part.factors(b, strip))
                    .collect(),
            );
        }
        for row in 0..self.rows {
            self.add(b, here, row, &factors);
        }
    }

    /// Multiplies the rows of a part by its words of a strip.
    fn multiply(&self, b: &mut Builder, lhs: Value, copy: Value, (part, strip): (usize, usize)) {
        let cx = self.cx;
        let word_rows = |start: Addr, stride: usize| WordRows {
            start,
            stride: stride as u32,
        };
        b.byte_product(ByteProduct {
            to: word_rows(self.product(part, 0, strip), self.strips * cx.vector),
            lhs: word_rows(Addr::at(lhs), cx.p.k),
            rhs: word_rows(beyond_bytes(copy, strip * cx.part_bytes(1)), cx.vector),
            rows: self.rows as u32,
            columns: (cx.vector / ByteProduct::WORD as usize) as u32,
            words: WORDS as u32,
            signs: [true, cx.shape.offset > 0],
        });
    }

    /// Returns the address of the products of a row and a strip of a part.
    fn product(&self, part: usize, row: usize, strip: usize) -> Addr {
        let at = (part * self.rows + row) * self.strips + strip;
        beyond_bytes(self.products, at * self.cx.vector)
    }

    /// Accumulates the products of a row over parts; `factors` are the scales of each part and strip.
    fn add(&self, b: &mut Builder, here: Here, row: usize, factors: &[Vec<Factors>]) {
        let cx = self.cx;
        let of_row = |b: &mut Builder, start: Value, bytes: usize, part: usize| {
            let addr = beyond(b, start, (row * bytes + 4 * part) as i64);
            b.load_splat(Lane::F32, addr)
        };
        let owns: Vec<Addr> = (0..self.strips)
            .map(|strip| beyond_bytes(self.results, (row * self.strips + strip) * cx.vector))
            .collect();
        let mut sums: Vec<Value> = owns
            .iter()
            .map(|&own| b.load(Lane::F32, own, None))
            .collect();
        for (part, factors) in factors.iter().enumerate() {
            let scale = of_row(b, here.scale, 4 * cx.p.parts(), part);
            let minima = (cx.shape.has_minima).then(|| of_row(b, here.sums, cx.memory.sums, part));
            for (strip, (sum, factors)) in sums.iter_mut().zip(factors).enumerate() {
                let product = b.load(Lane::I32, self.product(part, row, strip), None);
                let scaled = scaled(b, factors, product, minima);
                *sum = b.fma(scale, scaled, *sum);
            }
        }
        for (own, sum) in owns.into_iter().zip(sums) {
            b.store(sum, own, None);
        }
    }
}
