//! Products of int8 matrices in AMX tile registers.
//!
//! The accumulators of a tile are complete before it is stored, to the result or to scratch memory for the epilogue.
//! From the outermost: blocks of columns, whose panels stay in the L2 cache, rows of tiles, tiles along a row.

use mind_core::parts::Parts;
use mind_ir::types::DType;
use mind_vir::ir::{Addr, Builder, ByteProduct, Lane, Value, WordRows};
use mind_vir::target::{CodeTarget, TargetInfo};

use super::finish::{Finish, finish_rows};
use super::layout::{Lhs, Panels, Rhs};
use super::operands::{Operands, Product, Region, element_pointer};
use super::ranges::{in_blocks, in_tiles};
use super::schedule::Schedule;

/// Bytes of a word of four terms, and of a sum.
const WORD: usize = ByteProduct::WORD as usize;

/// Columns of a matrix register.
const SIDE: usize = 16;

/// Minimum number of rows for which AMX is faster, because a panel is loaded for each row of tiles.
const LEAST_ROWS: usize = 8;

impl Schedule {
    /// Returns the AMX schedule for a product of `m × k` by `k × n` words of bytes whose second operand has the layout
    /// `rhs`, or is packed first; `None` if the target has no AMX or it is not faster.
    pub fn in_matrices(
        target: &TargetInfo,
        parts: Parts,
        (m, n, k): (usize, usize, usize),
        rhs: Rhs,
    ) -> Option<Schedule> {
        let most = ByteProduct::MOST as usize;
        let width = match rhs {
            Rhs::Panels(panels) => panels.width,
            Rhs::Rows { .. } | Rhs::Columns { .. } => n.next_multiple_of(SIDE).clamp(SIDE, most),
            Rhs::Quantised(_) => return None,
        };
        let is_possible = CodeTarget::from(target).multiplies_bytes()
            && signs(parts).is_some()
            && (width == SIDE || width == most)
            && k > 0;
        if !is_possible || m < LEAST_ROWS {
            return None;
        }
        let panels = Panels {
            width,
            dtype: DType::I32,
        };
        let of_block = target.l2_bytes / 2 / (k * WORD);
        Some(Schedule {
            rows: m.min(most) as u32,
            vectors: (width / SIDE) as u32,
            unroll: 1,
            mc: m,
            nc: (of_block / width * width).clamp(width, n.max(width)),
            kc: k,
            stages_lhs: false,
            stages_rhs: false,
            prefetches_rhs: false,
            stages_output: false,
            packed: (!matches!(rhs, Rhs::Panels(_))).then_some(panels),
            uses_amx: true,
        })
    }
}

impl Lhs {
    /// Returns whether AMX can load rows of `k` words in this layout.
    pub fn is_in_rows_of_words(&self, k: usize) -> bool {
        (self.k_stride == 1 || k == 1) && is_short(self.row_stride)
    }
}

/// Returns whether a row stride of `words` words is within the limit of AMX loads.
fn is_short(words: usize) -> bool {
    words.saturating_mul(WORD) <= WordRows::MOST_STRIDE as usize
}

/// Returns whether the bytes of the first and of the second operand are signed; `None` if the elements are not bytes.
const fn signs(parts: Parts) -> Option<[bool; 2]> {
    match parts {
        Parts::Whole | Parts::Halves => None,
        Parts::UnsignedBySigned => Some([false, true]),
        Parts::SignedByUnsigned => Some([true, false]),
    }
}

/// Appends a region of a product in AMX tile registers, as [`product`](super::product) does.
pub(super) fn product(
    b: &mut Builder,
    p: &Product,
    at: Operands,
    region: Region,
    finish: &mut Finish<'_>,
) {
    let (height, width) = p.grain(b.lanes());
    b.scratch(height * width * WORD, |b, room| {
        let mut leave = Leave::InRoom(room, finish);
        append(b, p, at, region, &mut leave);
    });
}

/// A matrix of sums with contiguous rows.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// Points to the first one.
    pub start: Value,
    /// Row stride, in elements.
    pub row_stride: usize,
}

/// Appends a region of a product in AMX registers that stores sums directly to the result; returns `false` if the
/// layout does not allow it.
pub fn product_in_place(
    b: &mut Builder,
    p: &Product,
    at: Operands,
    region: Region,
    to: Sums,
) -> bool {
    let is_possible = p.schedule.uses_amx && is_short(to.row_stride);
    if is_possible {
        append(b, p, at, region, &mut Leave::InPlace(to));
    }
    is_possible
}

/// The destination of sums.
enum Leave<'l, 'f> {
    /// The result.
    InPlace(Sums),
    /// Scratch memory, followed by the epilogue.
    InRoom(Value, &'l mut Finish<'f>),
}

fn append(b: &mut Builder, p: &Product, at: Operands, region: Region, leave: &mut Leave<'_, '_>) {
    let (Rhs::Panels(panels), Some(signs)) = (p.rhs, signs(p.parts)) else {
        unreachable!("matrix registers multiply bytes by panels");
    };
    let tiles = Tiles {
        p,
        at,
        panels,
        signs,
    };
    in_blocks(b, region.columns, p.schedule.nc, |b, columns| {
        in_tiles(
            b,
            (p.m, p.schedule.rows as usize),
            region.rows,
            &mut |b, row| {
                in_tiles(b, (p.n, panels.width), columns, &mut |b, column| {
                    tiles.tile(b, row, column, leave);
                });
            },
        );
    });
}

struct Tiles<'p> {
    p: &'p Product,
    at: Operands,
    panels: Panels,
    signs: [bool; 2],
}

impl Tiles<'_> {
    /// Appends the tile of these rows and columns.
    fn tile(
        &self,
        b: &mut Builder,
        (row, rows): (Value, usize),
        (column, columns): (Value, usize),
        leave: &mut Leave<'_, '_>,
    ) {
        match leave {
            Leave::InPlace(to) => {
                let below = element_pointer(b, DType::I32, to.start, row, to.row_stride);
                let start = Addr::element(below, column, Lane::I32);
                let to = word_rows(start, to.row_stride);
                self.multiply(b, (row, rows), (column, columns), to);
            }
            Leave::InRoom(room, finish) => {
                // Panels are padded with zeros.
                let whole = columns.next_multiple_of(SIDE);
                let to = word_rows(Addr::at(*room), whole);
                self.multiply(b, (row, rows), (column, whole), to);
                finish_rows(
                    b,
                    (row, column),
                    (rows, columns),
                    (Lane::I32, *room),
                    finish,
                );
            }
        }
    }

    fn multiply(
        &self,
        b: &mut Builder,
        (row, rows): (Value, usize),
        (column, columns): (Value, usize),
        to: WordRows,
    ) {
        let p = self.p;
        let lhs = element_pointer(b, DType::I32, self.at.lhs, row, p.lhs.row_stride);
        let rhs = element_pointer(b, DType::I32, self.at.rhs, column, p.k);
        b.byte_product(ByteProduct {
            to,
            lhs: word_rows(Addr::at(lhs), p.lhs.row_stride),
            rhs: word_rows(Addr::at(rhs), self.panels.width),
            rows: rows as u32,
            columns: columns as u32,
            words: p.k as u32,
            signs: self.signs,
        });
    }
}

/// Rows with a stride of `words` words.
fn word_rows(start: Addr, words: usize) -> WordRows {
    WordRows {
        start,
        stride: (words * WORD) as u32,
    }
}
