//! A register tile: the accumulators of some rows by some vectors of columns.

use std::ops::Range;

use mind_vir::ir::{Addr, BinaryOp, Builder, ConvertOp, Lane, LoopKind, Value};

use super::super::operands::beyond;
use super::super::quantised::{Factors, Part, Region, TERMS, WORDS, moved, parts, scaled};
use super::{Context, Copied, Method, beyond_bytes, pairs};

/// The number of accumulators that stay in registers between parts.
const MAX_REGISTER_SUMS: usize = 4;

/// Rows of a block by some vectors of columns.
pub(super) struct Tile<'c> {
    pub(super) cx: &'c Context<'c>,
    pub(super) rows: usize,
    pub(super) strips: usize,
    /// The integers of the first row.
    pub(super) lhs: Value,
    /// Its scales.
    pub(super) scale: Value,
    /// The sums of its integers.
    pub(super) first_sums: Value,
    /// Memory for the results.
    pub(super) results: Value,
    /// Memory for the sums that AMX stores.
    pub(super) products: Value,
}

/// Pointers of the first row for the current part.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) lhs: Value,
    pub(super) scale: Value,
    pub(super) sums: Value,
}

impl Here {
    pub(super) fn read(values: &[Value]) -> Here {
        let &[lhs, scale, sums] = values else {
            unreachable!("three pointers are carried");
        };
        Here { lhs, scale, sums }
    }

    /// Returns the pointers `parts` parts later.
    pub(super) fn after(self, b: &mut Builder, parts: usize) -> Vec<Value> {
        let steps = [(self.lhs, TERMS), (self.scale, 4), (self.sums, 4)];
        let next = steps.map(|(at, bytes)| b.address(beyond_bytes(at, bytes * parts)));
        next.to_vec()
    }
}

impl Tile<'_> {
    pub(super) fn count(&self) -> usize {
        self.rows * self.strips
    }

    /// Returns the sums of the tile; parts come from the copy of the strip, if there is one.
    pub(super) fn sums(
        &self,
        b: &mut Builder,
        region: Region,
        from: Value,
        copy: Option<Value>,
    ) -> Vec<Value> {
        let zero = b.constant(Lane::F32, 0);
        let zeros = vec![zero; self.count()];
        let keeps = self.count() <= MAX_REGISTER_SUMS;
        if !keeps {
            self.put(b, &zeros);
        }
        let mut inits = vec![self.lhs, self.scale, self.first_sums];
        if keeps {
            inits.extend(zeros);
        }
        let each = |b: &mut Builder, part: &dyn Part, carried: &[Value]| {
            let (here, sums) = carried.split_at(3);
            let here = Here::read(here);
            let sums = self.part(b, part, here, sums);
            [here.after(b, 1), sums].concat()
        };
        let left = match copy {
            Some(copy) => {
                let bytes = self.cx.part_bytes(self.strips);
                let bounds = (b.index(0), b.index(self.cx.p.parts() as i64));
                let (_, left) = b.repeat(LoopKind::Whole, bounds, 1, &inits, |b, round| {
                    let at = moved(b, copy, round.index, bytes);
                    let part = Copied { cx: self.cx, at };
                    each(b, &part, round.carried)
                });
                left
            }
            None => parts(b, region, from, inits, &mut |b, part, carried| {
                each(b, part, &carried)
            }),
        };
        if keeps {
            left[3..].to_vec()
        } else {
            self.get(b)
        }
    }

    /// Accumulates a part to `sums`, or to those in memory.
    fn part(&self, b: &mut Builder, part: &dyn Part, here: Here, sums: &[Value]) -> Vec<Value> {
        let factors: Vec<Factors> = (0..self.strips)
            .map(|strip| part.factors(b, strip))
            .collect();
        let mut products = self.group(b, part, here, 0);
        if self.cx.shape.groups == 2 {
            let first = self.weighted(b, &factors, 0, products);
            let last = self.group(b, part, here, 1);
            let last = self.weighted(b, &factors, 1, last);
            let pairs = first.into_iter().zip(last);
            products = pairs.map(|(x, y)| b.binary(BinaryOp::Add, x, y)).collect();
        }
        let mut next = Vec::new();
        for row in 0..self.rows {
            let addr = beyond(b, here.scale, (row * 4 * self.cx.p.parts()) as i64);
            let scale = b.load_splat(Lane::F32, addr);
            for (strip, factors) in factors.iter().enumerate() {
                let at = row * self.strips + strip;
                let minima = self.minima(b, here, row, factors);
                let scaled = scaled(b, factors, products[at], minima);
                let own = beyond_bytes(self.results, at * self.cx.vector);
                let sum = match sums.get(at) {
                    Some(&sum) => sum,
                    None => b.load(Lane::F32, own, None),
                };
                let sum = b.fma(scale, scaled, sum);
                if sums.is_empty() {
                    b.store(sum, own, None);
                } else {
                    next.push(sum);
                }
            }
        }
        next
    }

    /// Returns the exact sums of products of a group.
    fn group(&self, b: &mut Builder, part: &dyn Part, here: Here, group: usize) -> Vec<Value> {
        let groups = self.cx.shape.groups;
        let mut sums = Vec::with_capacity(self.count());
        for row in 0..self.rows {
            let first = match self.cx.shape.offset {
                0 => b.constant(Lane::I32, 0),
                _ => {
                    let addr = self.sum_of(b, here, row, group);
                    b.load_splat(Lane::I32, addr)
                }
            };
            sums.extend(vec![first; self.strips]);
        }
        let words = group * WORDS / groups..(group + 1) * WORDS / groups;
        match self.cx.p.method {
            Method::Bytes => {
                for at in words {
                    let products = |b: &mut Builder, x, word, sum| b.dot_bytes(word, x, sum);
                    self.each(b, part, (here, at), &mut sums, products);
                }
            }
            Method::Pairs => self.pairs(b, part, (here, words), &mut sums),
            Method::Matrices => unreachable!("matrix registers have separate code"),
            Method::Halves => {
                for at in words {
                    self.halves(b, part, (here, at), &mut sums);
                }
            }
        }
        sums
    }

    /// Updates `sums` with word `at` of each strip and the word of each row, broadcast.
    fn each(
        &self,
        b: &mut Builder,
        part: &dyn Part,
        (here, at): (Here, usize),
        sums: &mut [Value],
        mut change: impl FnMut(&mut Builder, Value, Value, Value) -> Value,
    ) {
        let strips = 0..self.strips;
        let words: Vec<Value> = strips.map(|strip| part.word(b, strip, at)).collect();
        for row in 0..self.rows {
            let addr = beyond(b, here.lhs, (row * self.cx.p.k + 4 * at) as i64);
            let x = b.load_splat(Lane::I32, addr);
            for (strip, &word) in words.iter().enumerate() {
                let sum = &mut sums[row * self.strips + strip];
                *sum = change(b, x, word, *sum);
            }
        }
    }

    /// Accumulates the products of words, first in 16 bits.
    fn pairs(
        &self,
        b: &mut Builder,
        part: &dyn Part,
        (here, words): (Here, Range<usize>),
        sums: &mut [Value],
    ) {
        let most = pairs(self.cx.shape.bits);
        let (mut first, end) = (words.start, words.end);
        while first < end {
            let last = (first + most).min(end);
            let mut halves = sums.to_vec();
            for at in first..last {
                self.each(b, part, (here, at), &mut halves, |b, x, word, sum| {
                    let product = b.binary(BinaryOp::MulBytes, word, x);
                    if at == first {
                        product
                    } else {
                        b.binary(BinaryOp::AddHalves, sum, product)
                    }
                });
            }
            let ones = b.constant(Lane::I32, 0x0001_0001);
            for (sum, halves) in sums.iter_mut().zip(halves) {
                let both = b.binary(BinaryOp::MulHalves, halves, ones);
                *sum = b.binary(BinaryOp::Add, *sum, both);
            }
            first = last;
        }
    }

    /// Accumulates the products of a word, two 16-bit numbers at a time.
    fn halves(
        &self,
        b: &mut Builder,
        part: &dyn Part,
        (here, at): (Here, usize),
        sums: &mut [Value],
    ) {
        let k = self.cx.p.k;
        let strips = 0..self.strips;
        let words: Vec<[Value; 2]> = strips.map(|strip| part.halves(b, strip, at)).collect();
        for row in 0..self.rows {
            for half in 0..2 {
                let addr = beyond(b, here.lhs, (row * 2 * k + half * k + 4 * at) as i64);
                let x = b.load_splat(Lane::I32, addr);
                for (strip, word) in words.iter().enumerate() {
                    let sum = &mut sums[row * self.strips + strip];
                    let product = b.binary(BinaryOp::MulHalves, word[half], x);
                    *sum = b.binary(BinaryOp::Add, *sum, product);
                }
            }
        }
    }

    /// Multiplies sums by the integer scales of their group.
    fn weighted(
        &self,
        b: &mut Builder,
        factors: &[Factors],
        group: usize,
        sums: Vec<Value>,
    ) -> Vec<Value> {
        let each = sums.into_iter().enumerate();
        let each = each.map(|(at, sum)| match factors[at % self.strips].scales {
            Some(scales) => b.binary(BinaryOp::Mul, sum, scales[group]),
            None => sum,
        });
        each.collect()
    }

    /// Returns the factor of minima, as `f32`.
    fn minima(&self, b: &mut Builder, here: Here, row: usize, factors: &Factors) -> Option<Value> {
        factors.minimum?;
        let Some(minima) = factors.minima else {
            let addr = self.sum_of(b, here, row, 0);
            return Some(b.load_splat(Lane::F32, addr));
        };
        let [first, last] = [0, 1].map(|group| {
            let addr = self.sum_of(b, here, row, group);
            let sum = b.load_splat(Lane::I32, addr);
            b.binary(BinaryOp::Mul, sum, minima[group])
        });
        let sum = b.binary(BinaryOp::Add, first, last);
        Some(b.convert(ConvertOp::IntToFloat, Lane::F32, sum))
    }

    /// Returns the address of the sum of the integers of a group.
    fn sum_of(&self, b: &mut Builder, here: Here, row: usize, group: usize) -> Addr {
        let bytes = row * self.cx.memory.sums + 4 * group * self.cx.p.parts();
        beyond(b, here.sums, bytes as i64)
    }

    pub(super) fn put(&self, b: &mut Builder, sums: &[Value]) {
        for (at, &sum) in sums.iter().enumerate() {
            let addr = beyond_bytes(self.results, at * self.cx.vector);
            b.store(sum, addr, None);
        }
    }

    fn get(&self, b: &mut Builder) -> Vec<Value> {
        let each = (0..self.count()).map(|at| {
            let addr = beyond_bytes(self.results, at * self.cx.vector);
            b.load(Lane::F32, addr, None)
        });
        each.collect()
    }
}
