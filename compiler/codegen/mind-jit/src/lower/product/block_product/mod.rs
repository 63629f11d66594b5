//! Products of int8 rows by block-quantised panels.
//!
//! Groups of 32 terms are multiplied and accumulated exactly in integers, then scaled and added to the sum of the
//! column. With few rows, integers are unpacked from panels in registers; with many, a strip of columns is unpacked
//! once per block of rows to a copy with four integers per lane.

use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, IndexOp, Lane, LoopKind, Op, ShiftOp, Value, WordRows,
};

use mind_vir::target::{CodeTarget, TargetInfo};

mod matrices;
mod tile;

use super::finish::{Finish, finish_rows, finish_tile};
use super::operands::beyond;
use super::quantised::{Factors, Part, QuantPanels, Region, Shape, TERMS, WORDS, moved, parts};
use super::ranges::in_tiles;
use matrices::TOGETHER;
use tile::Tile;

use crate::lower::each::{At, for_each};

/// Number of rows up to which each tile unpacks integers itself.
const DIRECT_ROWS: usize = 4;

/// Rows of a tile in AMX registers.
const MATRIX_ROWS: usize = 16;

/// Minimum number of rows for which AMX is faster.
const LEAST_MATRIX_ROWS: usize = 32;

/// Approximate size of a block of rows.
const BLOCK_BYTES: usize = 192 << 10;

/// The same for AMX, because processors that have it have larger caches.
const MATRIX_BLOCK_BYTES: usize = 512 << 10;

/// The instruction that multiplies 4-byte words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Method {
    /// Four bytes at a time (VNNI).
    Bytes,
    /// Two bytes at a time, with 16-bit sums accumulated while they cannot overflow: for narrow integers.
    Pairs,
    /// Two 16-bit numbers at a time, widened first.
    Halves,
    /// A part of several rows and columns at a time (AMX).
    Matrices,
}

/// A product of `m` rows of `k` integers by the `n` columns of panels, with known extents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockProduct {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Terms; a multiple of the block size.
    pub k: usize,
    /// The layout of the columns.
    pub panels: QuantPanels,
    /// The instruction; every choice gives the same bits.
    pub method: Method,
    /// Rows of a tile.
    pub rows: usize,
    /// Vectors of columns of a tile.
    pub vectors: usize,
}

/// The operands of a product.
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
    /// Returns the product for vectors of `target`.
    pub fn new(
        (m, n, k): (usize, usize, usize),
        panels: QuantPanels,
        target: &TargetInfo,
    ) -> BlockProduct {
        let lanes = target.lanes(Lane::F32.bits()) as usize;
        let step = panels.width / lanes;
        let takes_matrices = CodeTarget::from(target).multiplies_bytes()
            && Shape::of(panels.format).groups == 1
            && m >= LEAST_MATRIX_ROWS
            && k <= WordRows::MOST_STRIDE as usize;
        let (rows, vectors) = match m {
            0 | 1 => (1, 4),
            2..=DIRECT_ROWS => (m, 2),
            _ if takes_matrices => (MATRIX_ROWS, 2),
            _ => (if target.vector_registers > 16 { 8 } else { 4 }, 2),
        };
        let vectors = n.div_ceil(lanes).clamp(1, vectors).next_multiple_of(step);
        BlockProduct {
            m,
            n,
            k,
            panels,
            method: match Shape::of(panels.format).bits {
                _ if takes_matrices => Method::Matrices,
                _ if target.has_vnni => Method::Bytes,
                bits if pairs(bits) > 0 => Method::Pairs,
                _ => Method::Halves,
            },
            rows,
            vectors,
        }
    }

    /// Returns the alignment of ranges of columns, for vectors of `lanes` lanes.
    pub fn grain(&self, lanes: u32) -> usize {
        self.vectors * lanes as usize
    }

    fn shape(&self) -> Shape {
        Shape::of(self.panels.format)
    }

    fn is_direct(&self) -> bool {
        self.m <= DIRECT_ROWS
    }

    /// Returns whether the sums of the integers of each part of a row are needed: for minima, or because integers have
    /// an offset.
    fn sums_up(&self) -> bool {
        let shape = self.shape();
        shape.has_minima || shape.offset > 0 && self.method != Method::Matrices
    }

    /// Returns the rows of a block, a multiple of the tile height.
    fn block_rows(&self) -> usize {
        let (bytes, rows) = match self.method {
            Method::Matrices => (MATRIX_BLOCK_BYTES, 256),
            Method::Bytes | Method::Pairs | Method::Halves => (BLOCK_BYTES, 64),
        };
        let most = (bytes / self.k.max(1)).clamp(16, rows).min(self.m.max(1));
        most.next_multiple_of(self.rows)
    }

    /// Returns the number of parts of a row.
    fn parts(&self) -> usize {
        self.k / TERMS
    }
}

/// Returns how many sums of two products of bytes by unsigned `bits`-bit integers can be accumulated in 16 bits.
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

/// The layout of scratch memory, in bytes.
struct Memory {
    /// Size of the sums of a row, which come first.
    sums: usize,
    /// Offset of widened rows, and the size of one.
    halves: (usize, usize),
    /// Offset of the accumulators of a tile.
    tile: usize,
    /// Offset of the sums that AMX stores.
    products: usize,
    /// Offset of the copy of a strip.
    strip: usize,
    bytes: usize,
}

struct Context<'p> {
    p: &'p BlockProduct,
    at: BlockOperands,
    shape: Shape,
    memory: Memory,
    /// Size of a vector in bytes.
    vector: usize,
}

impl Context<'_> {
    fn new(p: &BlockProduct, at: BlockOperands, lanes: usize) -> Context<'_> {
        let shape = p.shape();
        let vector = lanes * Lane::I32.bytes() as usize;
        let aligned = |bytes: usize| bytes.next_multiple_of(64);
        let block = p.block_rows();
        let sums = if p.sums_up() {
            p.parts() * shape.groups * 4
        } else {
            0
        };
        let halves = (
            aligned(block * sums),
            if p.method == Method::Halves {
                2 * p.k
            } else {
                0
            },
        );
        let tile = aligned(halves.0 + block * halves.1);
        let of_tile = p.rows * p.vectors * vector;
        let products = tile + of_tile;
        let strip = match p.method {
            Method::Matrices => products + TOGETHER * of_tile,
            Method::Bytes | Method::Pairs | Method::Halves => products,
        };
        let of_part = p.vectors * (words_of(p.method) + shape.factors()) * vector;
        let copy = if p.is_direct() {
            0
        } else {
            p.parts() * of_part
        };
        let memory = Memory {
            sums,
            halves,
            tile,
            products,
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

    /// Appends the columns of a block of rows.
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
            if self.p.sums_up() {
                let to = moved(b, memory, inside, self.memory.sums);
                self.sum_up(b, lhs, to);
            }
            if self.p.method == Method::Halves {
                let to = b.address(beyond_bytes(memory, self.memory.halves.0));
                let to = moved(b, to, inside, self.memory.halves.1);
                self.widen(b, lhs, to);
            }
            Vec::new()
        });
        let wide = self.p.grain(b.lanes());
        in_tiles(b, (self.p.n, wide), columns, &mut |b, place| {
            self.strip(b, memory, rows, place, finish);
        });
    }

    /// Computes the sums of the integers of a row for each part, or each group: multiplied by the offset of the other
    /// operand, or as needed by minima.
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

    /// Widens the integers of a row to 16 bits: first the even elements of each word of four, then the odd ones.
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

    /// Appends `width` columns from `column` of a block of rows.
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
        in_tiles(b, (p.m, p.rows), rows, &mut |b, (row, count)| {
            let inside = b.index_op(IndexOp::Sub, row, rows.0);
            let halves = b.address(beyond_bytes(memory, self.memory.halves.0));
            let tile = Tile {
                cx: self,
                rows: count,
                strips,
                lhs: match p.method {
                    Method::Bytes | Method::Pairs | Method::Matrices => {
                        moved(b, self.at.lhs, row, p.k)
                    }
                    Method::Halves => moved(b, halves, inside, self.memory.halves.1),
                },
                scale: moved(b, self.at.scale, row, 4 * p.parts()),
                first_sums: moved(b, memory, inside, self.memory.sums),
                results: b.address(beyond_bytes(memory, self.memory.tile)),
                products: b.address(beyond_bytes(memory, self.memory.products)),
            };
            if p.method == Method::Matrices {
                tile.in_matrices(b, copy);
                let sums = (Lane::F32, tile.results);
                return finish_rows(b, (row, column), (count, width), sums, finish);
            }
            let copy = (!p.is_direct()).then_some(copy);
            let results = tile.sums(b, region, from, copy);
            finish_tile(b, (row, column), width, &results, None, finish);
        });
    }

    /// Returns the size in bytes of a part of a strip in a copy.
    fn part_bytes(&self, strips: usize) -> usize {
        strips * (words_of(self.p.method) + self.shape.factors()) * self.vector
    }

    /// Unpacks the parts of a strip.
    fn copy(&self, b: &mut Builder, region: Region, from: Value, to: Value) {
        let bytes = self.part_bytes(region.strips);
        parts(b, region, from, vec![to], &mut |b, part, carried| {
            let to = carried[0];
            for strip in 0..region.strips {
                let mut next = strip * self.part_bytes(1);
                let mut store = |b: &mut Builder, value: Value| {
                    b.store(value, beyond_bytes(to, next), None);
                    next += self.vector;
                };
                for at in 0..WORDS {
                    match self.p.method {
                        Method::Bytes | Method::Pairs => {
                            let word = part.word(b, strip, at);
                            store(b, word);
                        }
                        Method::Matrices => {
                            let word = part.word(b, strip, at);
                            let word = self.with_signs(b, word);
                            store(b, word);
                        }
                        Method::Halves => {
                            for halves in part.halves(b, strip, at) {
                                store(b, halves);
                            }
                        }
                    }
                }
                for value in part.factors(b, strip).values() {
                    store(b, value);
                }
            }
            vec![b.address(beyond_bytes(to, bytes))]
        });
    }
}

/// Returns the vectors of a copy per word of a part.
const fn words_of(method: Method) -> usize {
    match method {
        Method::Bytes | Method::Pairs | Method::Matrices => WORDS,
        Method::Halves => 2 * WORDS,
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

    fn halves(&self, b: &mut Builder, strip: usize, at: usize) -> [Value; 2] {
        [2 * at, 2 * at + 1].map(|at| self.load(b, Lane::I32, strip, at))
    }

    fn factors(&self, b: &mut Builder, strip: usize) -> Factors {
        Factors::read(&self.cx.shape, |lane, index| {
            self.load(b, lane, strip, words_of(self.cx.p.method) + index)
        })
    }
}

/// Returns the address `bytes` after `base`.
fn beyond_bytes(base: Value, bytes: usize) -> Addr {
    Addr::at(base).plus(i32::try_from(bytes).expect("scratch memory has few bytes"))
}
