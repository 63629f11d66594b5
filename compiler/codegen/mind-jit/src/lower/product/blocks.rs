//! Loops around the micro-kernel.
//!
//! From the outermost: blocks of rows, blocks of columns, blocks of terms, tiles along a row, tiles along a column. A
//! block of the first operand stays in the L2 cache for all columns, a strip of the second operand in the L1 cache for
//! all rows.

use mind_ir::types::DType;

use crate::lower::scalar::compute_lane;
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

use super::finish::{Finish, finish_tile};
use super::layout::{Panels, Rhs, accumulator};
use super::matrix;
use super::operands::{Operands, Product, Region, element_pointer};
use super::quantised::{self, Multiply, QuantPanels, Spread};
use super::ranges::{in_blocks, in_tiles};
use super::right::Right;
use super::scratch::Scratch;
use super::stage;
use super::tile::{self, Prefetch, Tile, Walk};

/// Prefetch distance for the second operand of products with few rows, which are bandwidth-bound.
const PREFETCH_BYTES: i64 = 2048;

/// Appends a region of the product of the operands at `at`.
///
/// `finish` is called once for each copy of the code, with a complete vector in the computation lanes of the dtype, not
/// yet rounded to it. It applies the epilogue while the vector is in its register, and stores the result.
///
/// # Panics
///
/// Panics if the schedule does not pass its [`check`](super::Schedule::check).
///
/// If the schedule does not pass its [`check`](super::Schedule::check).
pub fn product(
    b: &mut Builder,
    p: &Product,
    at: Operands,
    region: Region,
    finish: &mut Finish<'_>,
) {
    if let Err(error) = p.schedule.check(b.lanes(), &p.rhs) {
        panic!("{error}");
    }
    if p.schedule.uses_amx {
        return matrix::product(b, p, at, region, finish);
    }
    let scratch = Scratch::of(p, b.lanes());
    b.scratch(scratch.bytes(p), |b, memory| {
        let context = Context {
            p,
            at,
            scratch,
            memory,
        };
        in_blocks(b, region.rows, scratch.rows, |b, rows| {
            in_blocks(b, region.columns, scratch.columns, |b, columns| {
                context.block(b, Region { rows, columns }, finish);
            });
        });
    });
}

/// A block of the contracted dimension.
#[derive(Clone, Copy)]
struct Terms {
    first: Value,
    /// The quantisation block that it begins at, if the second operand is block-quantised.
    block: Value,
    count: usize,
    /// Whether accumulators are loaded from partial results.
    goes_on: bool,
    /// Whether accumulators are complete after these terms.
    completes: bool,
}

struct Context<'p> {
    p: &'p Product,
    at: Operands,
    scratch: Scratch,
    /// Points to the scratch memory.
    memory: Value,
}

impl Context<'_> {
    /// Appends all terms of a block of the result.
    fn block(&self, b: &mut Builder, block: Region, finish: &mut Finish<'_>) {
        let (k, size) = (self.p.k, self.scratch.terms);
        let start = b.index(0);
        if size >= k {
            let terms = Terms {
                first: start,
                block: start,
                count: k,
                goes_on: false,
                completes: true,
            };
            return self.terms(b, block, terms, finish);
        }
        self.scratch.clear_partials(b, self.memory, block);
        let before_last = (k - 1) / size * size;
        let bounds = (start, b.index(before_last as i64));
        let blocks = match self.p.rhs {
            Rhs::Quantised(panels) => size / panels.format.elements(),
            Rhs::Rows { .. } | Rhs::Columns { .. } | Rhs::Panels(_) => 0,
        };
        let inits = if blocks > 0 { vec![start] } else { Vec::new() };
        let step = size as i64;
        let (_, left) = b.repeat(LoopKind::Whole, bounds, step, &inits, |b, round| {
            let terms = Terms {
                first: round.index,
                block: round.carried.first().copied().unwrap_or(start),
                count: size,
                goes_on: true,
                completes: false,
            };
            self.terms(b, block, terms, finish);
            let blocks = b.index(blocks as i64);
            let carried = round.carried.iter();
            carried
                .map(|&first| b.index_op(IndexOp::Add, first, blocks))
                .collect()
        });
        let terms = Terms {
            first: bounds.1,
            block: left.first().copied().unwrap_or(start),
            count: k - before_last,
            goes_on: true,
            completes: true,
        };
        self.terms(b, block, terms, finish);
    }

    /// Appends some terms of a block: a row of tiles.
    fn terms(&self, b: &mut Builder, block: Region, terms: Terms, finish: &mut Finish<'_>) {
        let p = self.p;
        if self.scratch.stages_lhs {
            let range = stage::Range {
                rows: block.rows,
                first: terms.first,
                count: terms.count,
            };
            stage::stage(b, p, &self.scratch, (self.at.lhs, self.memory), range);
        }
        let wide = self.scratch.tile_columns;
        in_tiles(b, (p.n, wide), block.columns, &mut |b, place| {
            self.strip(b, block, place, terms, finish);
        });
    }

    /// Appends a column of tiles, `width` columns wide from `column`.
    fn strip(
        &self,
        b: &mut Builder,
        block: Region,
        (column, width): (Value, usize),
        terms: Terms,
        finish: &mut Finish<'_>,
    ) {
        let p = self.p;
        let (right, rhs) = self.rhs(b, (column, width), terms);
        let next = self.next_strip(b, column, terms);
        let height = p.schedule.rows;
        let extents = (p.m, height as usize);
        in_tiles(b, extents, block.rows, &mut |b, (row, rows)| {
            let rows = rows as u32;
            let mut tile = tile_of(
                p,
                &self.scratch,
                b.lanes(),
                &right,
                (rows, width),
                terms.count,
            );
            tile.ahead = match next {
                Some(next) => Prefetch::Lines(self.prefetched_part(b, block, next, row)),
                None if p.schedule.prefetches_rhs => Prefetch::Own(PREFETCH_BYTES),
                None => Prefetch::Nothing,
            };
            let lhs = self.lhs_pointer(b, block, row, terms.first);
            let vectors = tile.strips.len();
            let count = rows as usize * vectors;
            let partials = |b: &mut Builder| {
                (self.scratch).partials(b, self.memory, block, (row, column), vectors)
            };
            let lane = compute_lane(p.dtype);
            let sums: Vec<Value> = if terms.goes_on {
                let from = partials(b);
                from.prefetch_next(b, height);
                (from.addrs(rows).into_iter())
                    .map(|addr| b.load(lane, addr, None))
                    .collect()
            } else {
                vec![b.constant(lane, 0); count]
            };
            let sums = match p.rhs {
                Rhs::Quantised(panels) if !self.scratch.stages_rhs => {
                    let region = decoded_region(panels, p.k, vectors, terms.count);
                    let steps = self.scratch.steps(b, self.memory);
                    let mut user = Multiply::new(&tile, lhs);
                    quantised::decode(b, region, rhs, steps, sums, &mut user)
                }
                _ => tile::chains(b, &tile, lhs, rhs, sums),
            };
            if terms.completes {
                let room = self.scratch.room(b, self.memory);
                return finish_tile(b, (row, column), width, &sums, room, finish);
            }
            let to = partials(b);
            let addrs: Vec<Addr> = to.addrs(rows);
            for (sum, addr) in sums.into_iter().zip(addrs) {
                b.store(sum, addr, None);
            }
        });
    }

    /// Returns the layout of the second operand as tiles read it, and the address of `width` columns from `column`;
    /// packs a copy if the schedule says so.
    fn rhs(
        &self,
        b: &mut Builder,
        (column, width): (Value, usize),
        terms: Terms,
    ) -> (Right, Value) {
        let (p, scratch) = (self.p, &self.scratch);
        if let Rhs::Quantised(panels) = p.rhs {
            return self.quantised(b, panels, (column, width), terms);
        }
        let right = self.unpacked();
        let rhs = right.pointer(b, self.at.rhs, column, terms.first);
        if !scratch.stages_rhs {
            return (right, rhs);
        }
        let wide = scratch.tile_columns;
        let to = scratch.strip(b, self.memory);
        stage::stage_strip(b, &right, (rhs, to), (width, wide), terms.count);
        (right.staged(wide, terms.count), to)
    }

    /// Returns the layout of the second operand, if it is stored as elements.
    fn unpacked(&self) -> Right {
        Right {
            dtype: self.p.dtype,
            layout: self.p.rhs,
            k: self.p.k,
        }
    }

    /// Returns the next strip if tiles prefetch it: its address and its size in bytes, contiguous.
    fn next_strip(&self, b: &mut Builder, column: Value, terms: Terms) -> Option<(Value, usize)> {
        let (p, wide) = (self.p, self.scratch.tile_columns);
        if !p.schedule.prefetches_rhs || p.m <= p.schedule.rows as usize {
            return None;
        }
        let step = b.index(wide as i64);
        let next = b.index_op(IndexOp::Add, column, step);
        match p.rhs {
            Rhs::Panels(panels) => {
                let at = (self.unpacked()).pointer(b, self.at.rhs, next, terms.first);
                Some((at, wide * terms.count * panels.dtype.size()))
            }
            Rhs::Quantised(panels) => {
                let at = panels.pointer(b, self.at.rhs, p.k, (next, terms.block));
                Some((at, panels.bytes(wide, terms.count)))
            }
            // Strided lines are prefetched by the tile that reads them.
            Rhs::Rows { .. } | Rhs::Columns { .. } => None,
        }
    }

    /// Returns the part of the next strip that the tiles of a row prefetch.
    fn prefetched_part(
        &self,
        b: &mut Builder,
        block: Region,
        (next, bytes): (Value, usize),
        row: Value,
    ) -> Value {
        let below = b.index_op(IndexOp::Sub, row, block.rows.0);
        element_pointer(b, DType::U8, next, below, bytes.div_ceil(self.scratch.rows))
    }

    /// Returns a strip of block-quantised numbers, as [`rhs`](Context::rhs) does: dequantised to a copy, or the address
    /// from which tiles dequantise.
    fn quantised(
        &self,
        b: &mut Builder,
        panels: QuantPanels,
        (column, width): (Value, usize),
        terms: Terms,
    ) -> (Right, Value) {
        let (p, scratch) = (self.p, &self.scratch);
        let layout = Rhs::Panels(Panels {
            width: scratch.tile_columns,
            dtype: accumulator(p.dtype),
        });
        let right = Right {
            dtype: p.dtype,
            layout,
            k: terms.count,
        };
        let from = panels.pointer(b, self.at.rhs, p.k, (column, terms.block));
        if !scratch.stages_rhs {
            return (right, from);
        }
        let strips = width.div_ceil(b.lanes() as usize);
        let region = decoded_region(panels, p.k, strips, terms.count);
        let steps = scratch.steps(b, self.memory);
        let to = scratch.strip(b, self.memory);
        let mut user = Spread::new(to, scratch.tile_columns);
        quantised::decode(b, region, from, steps, Vec::new(), &mut user);
        (right, to)
    }

    fn lhs_pointer(&self, b: &mut Builder, block: Region, row: Value, term: Value) -> Value {
        let (p, scratch) = (self.p, &self.scratch);
        if scratch.stages_lhs {
            let row = b.index_op(IndexOp::Sub, row, block.rows.0);
            let layout = scratch.staged;
            return element_pointer(b, accumulator(p.dtype), self.memory, row, layout.row_stride);
        }
        let lhs = element_pointer(b, p.dtype, self.at.lhs, term, p.lhs.k_stride);
        element_pointer(b, p.dtype, lhs, row, p.lhs.row_stride)
    }
}

/// A tile of `rows` rows and `width` columns, and `length` terms.
fn tile_of(
    p: &Product,
    scratch: &Scratch,
    lanes: u32,
    right: &Right,
    (rows, width): (u32, usize),
    length: usize,
) -> Tile {
    let (lhs_dtype, lhs) = if scratch.stages_lhs {
        (accumulator(p.dtype), scratch.staged)
    } else {
        (p.dtype, p.lhs)
    };
    let size = lhs_dtype.size() as i64;
    Tile {
        dtype: accumulator(p.dtype),
        parts: p.parts,
        rows,
        strips: right.strips(lanes as usize, width),
        segments: 1,
        length,
        unroll: right.unroll(p.schedule.unroll, lanes),
        ahead: Prefetch::Nothing,
        lhs: Walk {
            dtype: lhs_dtype,
            row: lhs.row_stride as i64 * size,
            k: lhs.k_stride as i64 * size,
            segment: 0,
        },
        rhs: right.walk(),
    }
}

/// Returns the dequantised region of `strips` vectors of columns and `count` terms.
fn decoded_region(panels: QuantPanels, k: usize, strips: usize, count: usize) -> quantised::Region {
    quantised::Region {
        panels,
        k,
        strips,
        blocks: count / panels.format.elements(),
    }
}
