//! Products of bytes in matrix registers.
//!
//! A tile is multiplied from its first to its last term. It is left where the result is to be, or in scratch memory, and
//! finished from there. From outside in: blocks of columns, whose panels stay in the second-level cache, rows of tiles, tiles
//! side by side.

use mind_core::parts::Parts;
use mind_ir::types::DType;
use mind_vir::ir::{Addr, Builder, ByteProduct, Lane, Rows, Value};
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

/// The fewest rows for which matrix registers pay: a register is loaded for each of them.
const LEAST_ROWS: usize = 8;

impl Schedule {
    /// The schedule in matrix registers for a product of `m × k` by `k × n` words of bytes whose second operand lies as
    /// `rhs` says, or is packed before; `None` where the target has no such registers, or they do not pay.
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
    /// Whether matrix registers take rows of `k` words that lie like this.
    pub fn is_in_rows_of_words(&self, k: usize) -> bool {
        (self.k_stride == 1 || k == 1) && is_short(self.row_stride)
    }
}

/// Whether rows that are as many words apart are no further from each other than matrix registers take.
fn is_short(words: usize) -> bool {
    words.saturating_mul(WORD) <= Rows::MOST_STRIDE as usize
}

/// Whether the bytes of the left and of the right side have a sign; `None` if elements hold no bytes.
const fn signs(parts: Parts) -> Option<[bool; 2]> {
    match parts {
        Parts::Whole | Parts::Halves => None,
        Parts::UnsignedBySigned => Some([false, true]),
        Parts::SignedByUnsigned => Some([true, false]),
    }
}

/// Appends a region of a product in matrix registers, as [`product`](super::product) does.
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

/// A matrix of sums, in rows of columns that are adjacent.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    /// Points to the first one.
    pub start: Value,
    /// Elements from one row to the next.
    pub row_stride: usize,
}

/// Appends a region of a product in matrix registers whose sums are the result; `false` if they cannot be left there.
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

/// Where tiles leave their sums.
enum Leave<'l, 'f> {
    /// In the result.
    InPlace(Sums),
    /// In scratch memory, from where they are handed over.
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
    /// The tile of some rows and columns from each place on.
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
                let to = lying(start, to.row_stride);
                self.multiply(b, (row, rows), (column, columns), to);
            }
            Leave::InRoom(room, finish) => {
                // Panels are filled up with zeros.
                let whole = columns.next_multiple_of(SIDE);
                let to = lying(Addr::at(*room), whole);
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
        to: Rows,
    ) {
        let p = self.p;
        let lhs = element_pointer(b, DType::I32, self.at.lhs, row, p.lhs.row_stride);
        let rhs = element_pointer(b, DType::I32, self.at.rhs, column, p.k);
        b.byte_product(ByteProduct {
            to,
            lhs: lying(Addr::at(lhs), p.lhs.row_stride),
            rhs: lying(Addr::at(rhs), self.panels.width),
            rows: rows as u32,
            columns: columns as u32,
            words: p.k as u32,
            signs: self.signs,
        });
    }
}

/// Rows that are `words` words apart.
fn lying(start: Addr, words: usize) -> Rows {
    Rows {
        start,
        stride: (words * WORD) as u32,
    }
}
