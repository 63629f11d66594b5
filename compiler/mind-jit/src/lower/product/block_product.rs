//! Products of rows of small integers by panels of blocks.
//!
//! Of 32 terms, integers are multiplied and summed up exactly, then scaled and added to the sum of the column. A few
//! rows take integers out of panels in registers; many read a copy of a strip of columns, a word of four integers in
//! each lane, that is made once for a block of rows.

use std::ops::Range;

use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, IndexOp, Lane, LoopKind, Op, ShiftOp, Value,
};

use super::finish::{Finish, finish_tile};
use super::operands::beyond;
use super::quantised::{
    Factors, Part, QuantPanels, Region, Shape, TERMS, WORDS, moved, parts, scaled,
};
use crate::lower::each::{At, for_each};

/// Rows up to which tiles take integers out of panels, each by itself.
const DIRECT_ROWS: usize = 4;

/// Sums of a tile that stay in registers from part to part.
const KEPT_SUMS: usize = 4;

/// Bytes of the rows of a block, about.
const BLOCK_BYTES: usize = 192 << 10;

/// How words of four bytes are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// Four bytes at a time.
    Bytes,
    /// Two bytes at a time, whose sums of 16 bits are added up while they fit: for integers of few bits.
    Pairs,
    /// Two numbers of 16 bits at a time, widened beforehand.
    Halves,
}

/// A product of `m` rows of `k` integers by the `n` columns of panels, of which every extent is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockProduct {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Terms, whole blocks.
    pub k: usize,
    /// How the columns lie.
    pub panels: QuantPanels,
    /// How words are multiplied; no choice changes a bit of the result.
    pub method: Method,
    /// Rows of a tile.
    pub rows: usize,
    /// Vectors of columns of a tile.
    pub vectors: usize,
}

/// What a product reads.
#[derive(Clone, Copy, Debug)]
pub struct BlockOperands {
    /// Points to the integers, row-major.
    pub lhs: Value,
    /// Points to their scales, row-major.
    pub scale: Value,
    /// Points to the panels.
    pub panels: Value,
}

impl BlockProduct {
    /// The product for vectors of `lanes` lanes.
    pub fn new(
        (m, n, k): (usize, usize, usize),
        panels: QuantPanels,
        (lanes, registers): (usize, usize),
        has_vnni: bool,
    ) -> BlockProduct {
        let step = panels.width / lanes;
        let (rows, vectors) = match m {
            0 | 1 => (1, 4),
            2..=DIRECT_ROWS => (m, 2),
            _ => (if registers > 16 { 8 } else { 4 }, 2),
        };
        let vectors = n.div_ceil(lanes).clamp(1, vectors).next_multiple_of(step);
        BlockProduct {
            m,
            n,
            k,
            panels,
            method: match Shape::of(panels.format).bits {
                _ if has_vnni => Method::Bytes,
                bits if pairs(bits) > 0 => Method::Pairs,
                _ => Method::Halves,
            },
            rows,
            vectors,
        }
    }

    /// Where ranges of columns may begin and end, in vectors of `lanes` lanes: at multiples, and at the end.
    pub fn grain(&self, lanes: u32) -> usize {
        self.vectors * lanes as usize
    }

    fn shape(&self) -> Shape {
        Shape::of(self.panels.format)
    }

    fn is_direct(&self) -> bool {
        self.m <= DIRECT_ROWS
    }

    /// Rows of a block: whole tiles.
    fn block_rows(&self) -> usize {
        let most = (BLOCK_BYTES / self.k.max(1))
            .clamp(16, 64)
            .min(self.m.max(1));
        most.next_multiple_of(self.rows)
    }

    /// Parts of a row.
    fn parts(&self) -> usize {
        self.k / TERMS
    }
}

/// Sums of two products of bytes by integers of `bits` bits without a sign that 16 bits hold, added up.
const fn pairs(bits: u32) -> usize {
    let largest = 2 * 128 * ((1 << bits) - 1);
    i16::MAX as usize / largest
}

/// Appends the columns `columns` of a product; `finish` is called with each complete vector of the result.
pub fn block_product(
    b: &mut Builder,
    p: &BlockProduct,
    at: BlockOperands,
    columns: (Value, Value),
    finish: &mut Finish<'_>,
) {
    let cx = Context::new(p, at, b.lanes() as usize);
    b.scratch(cx.memory.bytes, |b, memory| {
        let rows = (b.index(0), b.index(p.m as i64));
        let size = p.block_rows();
        b.repeat(LoopKind::Rest, rows, size as i64, &[], |b, round| {
            let size = b.index(size as i64);
            let end = b.index_op(IndexOp::Add, round.index, size);
            let end = b.index_op(IndexOp::Min, end, rows.1);
            cx.rows(b, memory, (round.index, end), columns, finish);
            Vec::new()
        });
    });
}

/// Where the scratch memory has what.
struct Memory {
    /// Bytes of the sums of a row, which come first.
    sums: usize,
    /// Where rows of halves begin, and the bytes of one.
    halves: (usize, usize),
    /// Where the sums of a tile are.
    tile: usize,
    /// Where the copy of a strip begins.
    strip: usize,
    bytes: usize,
}

struct Context<'p> {
    p: &'p BlockProduct,
    at: BlockOperands,
    shape: Shape,
    memory: Memory,
    /// Bytes of a vector.
    vector: usize,
}

impl Context<'_> {
    fn new(p: &BlockProduct, at: BlockOperands, lanes: usize) -> Context<'_> {
        let shape = p.shape();
        let vector = lanes * Lane::I32.bytes() as usize;
        let aligned = |bytes: usize| bytes.next_multiple_of(64);
        let block = p.block_rows();
        let sums = p.parts() * shape.groups * 4;
        let halves = (
            aligned(block * sums),
            if p.method == Method::Halves {
                2 * p.k
            } else {
                0
            },
        );
        let tile = aligned(halves.0 + block * halves.1);
        let strip = tile + p.rows * p.vectors * vector;
        let of_part = p.vectors * (WORDS + shape.factors()) * vector;
        let copy = if p.is_direct() {
            0
        } else {
            p.parts() * of_part
        };
        let memory = Memory {
            sums,
            halves,
            tile,
            strip,
            bytes: strip + copy,
        };
        Context {
            p,
            at,
            shape,
            memory,
            vector,
        }
    }

    /// Columns of a block of rows.
    fn rows(
        &self,
        b: &mut Builder,
        memory: Value,
        rows: (Value, Value),
        columns: (Value, Value),
        finish: &mut Finish<'_>,
    ) {
        b.repeat(LoopKind::Rest, rows, 1, &[], |b, round| {
            let inside = b.index_op(IndexOp::Sub, round.index, rows.0);
            let lhs = moved(b, self.at.lhs, round.index, self.p.k);
            let to = moved(b, memory, inside, self.memory.sums);
            self.sum_up(b, lhs, to);
            if self.p.method == Method::Halves {
                let to = b.address(beyond_bytes(memory, self.memory.halves.0));
                let to = moved(b, to, inside, self.memory.halves.1);
                self.widen(b, lhs, to);
            }
            Vec::new()
        });
        let wide = self.p.grain(b.lanes());
        let step = wide as i64;
        let (rest, _) = b.repeat(LoopKind::Whole, columns, step, &[], |b, round| {
            self.strip(b, memory, rows, (round.index, wide), finish);
            Vec::new()
        });
        let tail = self.p.n % wide;
        if tail > 0 {
            b.repeat(LoopKind::Rest, (rest, columns.1), step, &[], |b, round| {
                self.strip(b, memory, rows, (round.index, tail), finish);
                Vec::new()
            });
        }
    }

    /// Sums of the integers of a row for each part, or for each group of each: times the offset of the other side's, or as
    /// minima take them.
    fn sum_up(&self, b: &mut Builder, lhs: Value, to: Value) {
        let (parts, groups) = (self.p.parts(), self.shape.groups);
        let extent = b.index(parts as i64);
        for_each(b, extent, 1, |b, at| {
            for group in 0..groups {
                let zero = b.constant(Lane::I32, 0);
                let ones = b.constant(Lane::I32, 0x0101_0101);
                let words = group * WORDS / groups..(group + 1) * WORDS / groups;
                let sum = words.fold(zero, |sum, word| {
                    let addr = at
                        .strided(b, lhs, Lane::I32, WORDS as i64)
                        .plus(4 * word as i32);
                    let stride = b.index(WORDS as i64);
                    let count = at.count;
                    let lane = Lane::I32;
                    let x = b.op(Op::LoadStrided {
                        lane,
                        addr,
                        stride,
                        count,
                    });
                    b.dot_bytes(ones, x, sum)
                });
                let to = at.addr(to, Lane::I32).plus((4 * group * parts) as i32);
                if self.shape.offset > 0 {
                    let offset = b.constant(Lane::I32, u64::from(self.shape.offset.wrapping_neg()));
                    let sum = b.binary(BinaryOp::Mul, sum, offset);
                    b.store(sum, to, at.count);
                } else if groups == 1 {
                    let sum = b.convert(ConvertOp::IntToFloat, Lane::F32, sum);
                    b.store(sum, to, at.count);
                } else {
                    b.store(sum, to, at.count);
                }
            }
        });
    }

    /// The integers of a row in 16 bits: the first and the third of each word, then, behind all of those, the others.
    fn widen(&self, b: &mut Builder, lhs: Value, to: Value) {
        let words = self.p.k / 4;
        let extent = b.index(words as i64);
        for_each(b, extent, 2, |b, at: At| {
            let x = b.load(Lane::I32, at.addr(lhs, Lane::I32), at.count);
            for (half, left) in [(0, [24, 8]), (1, [16, 0])] {
                let [low, high] = left.map(|left| {
                    let top = if left == 0 {
                        x
                    } else {
                        b.shift(ShiftOp::Shl, x, left)
                    };
                    b.shift(ShiftOp::Sra, top, 24)
                });
                let mask = b.constant(Lane::I32, 0xffff);
                let low = b.binary(BinaryOp::And, low, mask);
                let high = b.shift(ShiftOp::Shl, high, 16);
                let both = b.binary(BinaryOp::Or, low, high);
                let to = at.addr(to, Lane::I32).plus((half * 4 * words) as i32);
                b.store(both, to, at.count);
            }
        });
    }

    /// `width` columns from `column` on, of a block of rows.
    fn strip(
        &self,
        b: &mut Builder,
        memory: Value,
        rows: (Value, Value),
        (column, width): (Value, usize),
        finish: &mut Finish<'_>,
    ) {
        let p = self.p;
        let strips = width.div_ceil(b.lanes() as usize);
        let region = Region {
            panels: p.panels,
            k: p.k,
            strips,
            blocks: p.k / p.panels.format.elements(),
        };
        let zero = b.index(0);
        let from = p.panels.pointer(b, self.at.panels, p.k, (column, zero));
        let copy = b.address(beyond_bytes(memory, self.memory.strip));
        if !p.is_direct() {
            self.copy(b, region, from, copy);
        }
        let mut tile = |b: &mut Builder, row: Value, count: usize| {
            let inside = b.index_op(IndexOp::Sub, row, rows.0);
            let halves = b.address(beyond_bytes(memory, self.memory.halves.0));
            let tile = Tile {
                cx: self,
                rows: count,
                strips,
                lhs: match p.method {
                    Method::Bytes | Method::Pairs => moved(b, self.at.lhs, row, p.k),
                    Method::Halves => moved(b, halves, inside, self.memory.halves.1),
                },
                scale: moved(b, self.at.scale, row, 4 * p.parts()),
                first_sums: moved(b, memory, inside, self.memory.sums),
                results: b.address(beyond_bytes(memory, self.memory.tile)),
            };
            let copy = (!p.is_direct()).then_some(copy);
            let results = tile.sums(b, region, from, copy);
            finish_tile(b, (row, column), width, &results, None, finish);
        };
        let height = p.rows as i64;
        let (rest, _) = b.repeat(LoopKind::Whole, rows, height, &[], |b, round| {
            tile(b, round.index, p.rows);
            Vec::new()
        });
        let tail = p.m % p.rows;
        if tail > 0 {
            b.repeat(LoopKind::Rest, (rest, rows.1), height, &[], |b, round| {
                tile(b, round.index, tail);
                Vec::new()
            });
        }
    }

    /// Bytes of a part of a strip in a copy.
    fn part_bytes(&self, strips: usize) -> usize {
        strips * (WORDS + self.shape.factors()) * self.vector
    }

    /// Copies the parts of a strip.
    fn copy(&self, b: &mut Builder, region: Region, from: Value, to: Value) {
        let bytes = self.part_bytes(region.strips);
        parts(
            b,
            region,
            from,
            Vec::new(),
            &mut |b, part, (first, ahead), _| {
                // A part has as many bytes for each term.
                let to = moved(b, to, first, bytes / TERMS);
                let base = bytes / TERMS * ahead;
                for strip in 0..region.strips {
                    let mut next = base + strip * self.part_bytes(1);
                    let mut store = |b: &mut Builder, value: Value| {
                        let addr = beyond(b, to, next as i64);
                        b.store(value, addr, None);
                        next += self.vector;
                    };
                    for at in 0..WORDS {
                        let word = part.word(b, strip, at);
                        store(b, word);
                    }
                    let factors = part.factors(b, strip);
                    for value in factors.values() {
                        store(b, value);
                    }
                }
                Vec::new()
            },
        );
    }
}

/// A part of a copy.
struct Copied<'c> {
    cx: &'c Context<'c>,
    at: Value,
}

impl Copied<'_> {
    fn load(&self, b: &mut Builder, lane: Lane, strip: usize, index: usize) -> Value {
        let bytes = strip * self.cx.part_bytes(1) + index * self.cx.vector;
        let addr = beyond(b, self.at, bytes as i64);
        b.load(lane, addr, None)
    }
}

impl Part for Copied<'_> {
    fn word(&self, b: &mut Builder, strip: usize, at: usize) -> Value {
        self.load(b, Lane::I32, strip, at)
    }

    fn factors(&self, b: &mut Builder, strip: usize) -> Factors {
        Factors::read(&self.cx.shape, |lane, index| {
            self.load(b, lane, strip, WORDS + index)
        })
    }
}

/// Rows of a block by some vectors of columns.
struct Tile<'c> {
    cx: &'c Context<'c>,
    rows: usize,
    strips: usize,
    /// The integers of the first row.
    lhs: Value,
    /// Its scales.
    scale: Value,
    /// The sums of its integers.
    first_sums: Value,
    /// Memory for the results.
    results: Value,
}

/// Where the first row has what belongs to a part.
#[derive(Clone, Copy)]
struct Here {
    lhs: Value,
    scale: Value,
    sums: Value,
}

impl Here {
    fn read(values: &[Value]) -> Here {
        let &[lhs, scale, sums] = values else {
            unreachable!("three pointers are carried");
        };
        Here { lhs, scale, sums }
    }

    /// The pointers for the next part.
    fn next(self, b: &mut Builder) -> Vec<Value> {
        let steps = [(self.lhs, TERMS), (self.scale, 4), (self.sums, 4)];
        let next = steps.map(|(at, bytes)| b.address(beyond_bytes(at, bytes)));
        next.to_vec()
    }
}

impl Tile<'_> {
    fn count(&self) -> usize {
        self.rows * self.strips
    }

    /// The sums of the tile; parts are those of a copy of the strip, if there is one.
    fn sums(
        &self,
        b: &mut Builder,
        region: Region,
        from: Value,
        copy: Option<Value>,
    ) -> Vec<Value> {
        let zero = b.constant(Lane::F32, 0);
        let zeros = vec![zero; self.count()];
        let keeps = self.count() <= KEPT_SUMS;
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
            [here.next(b), sums].concat()
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
            None => parts(b, region, from, inits, &mut |b, part, _, carried| {
                each(b, part, &carried)
            }),
        };
        if keeps {
            left[3..].to_vec()
        } else {
            self.get(b)
        }
    }

    /// Adds a part to `sums`, or to those in memory.
    fn part(&self, b: &mut Builder, part: &dyn Part, here: Here, sums: &[Value]) -> Vec<Value> {
        let factors: Vec<Factors> = (0..self.strips)
            .map(|strip| part.factors(b, strip))
            .collect();
        let groups = self.cx.shape.groups;
        let mut products: Vec<Value> = Vec::new();
        for group in 0..groups {
            let own = self.group(b, part, here, group);
            products = match group {
                _ if groups == 1 => own,
                0 => self.weighted(b, &factors, 0, own),
                _ => {
                    let own = self.weighted(b, &factors, group, own);
                    let pairs = products.into_iter().zip(own);
                    pairs.map(|(x, y)| b.binary(BinaryOp::Add, x, y)).collect()
                }
            };
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

    /// Exact sums of products of a group.
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
            Method::Halves => {
                for at in words {
                    self.halves(b, part, (here, at), &mut sums);
                }
            }
        }
        sums
    }

    /// Changes `sums` by word `at` of each strip, and that of each row in every lane.
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

    /// Adds the products of words, in sums of 16 bits first.
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
                    match at {
                        at if at == first => product,
                        _ => b.binary(BinaryOp::AddHalves, sum, product),
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

    /// Adds the products of a word, two numbers of 16 bits at a time.
    fn halves(
        &self,
        b: &mut Builder,
        part: &dyn Part,
        (here, at): (Here, usize),
        sums: &mut [Value],
    ) {
        let k = self.cx.p.k;
        let strips = 0..self.strips;
        let words: Vec<Value> = strips.map(|strip| part.word(b, strip, at)).collect();
        let mask = b.constant(Lane::I32, 0x00ff_00ff);
        let even = words
            .iter()
            .map(|&word| b.binary(BinaryOp::And, word, mask));
        let even: Vec<Value> = even.collect();
        let odd = words.iter().map(|&word| {
            let odd = b.shift(ShiftOp::Shr, word, 8);
            b.binary(BinaryOp::And, odd, mask)
        });
        let odd: Vec<Value> = odd.collect();
        for row in 0..self.rows {
            for (half, words) in [&even, &odd].into_iter().enumerate() {
                let addr = beyond(b, here.lhs, (row * 2 * k + half * k + 4 * at) as i64);
                let x = b.load_splat(Lane::I32, addr);
                for (strip, &word) in words.iter().enumerate() {
                    let sum = &mut sums[row * self.strips + strip];
                    let product = b.binary(BinaryOp::MulHalves, word, x);
                    *sum = b.binary(BinaryOp::Add, *sum, product);
                }
            }
        }
    }

    /// Sums times the integer scales of their group.
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

    /// What minima are multiplied by, as `f32`.
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

    /// Where the sum of the integers of a group is.
    fn sum_of(&self, b: &mut Builder, here: Here, row: usize, group: usize) -> Addr {
        let bytes = row * self.cx.memory.sums + 4 * group * self.cx.p.parts();
        beyond(b, here.sums, bytes as i64)
    }

    fn put(&self, b: &mut Builder, sums: &[Value]) {
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

/// `bytes` behind `base`.
fn beyond_bytes(base: Value, bytes: usize) -> Addr {
    Addr::at(base).plus(i32::try_from(bytes).expect("scratch memory has few bytes"))
}
