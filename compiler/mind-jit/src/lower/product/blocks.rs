//! The loops around the micro-kernel.

use crate::lower::each::At;
use crate::lower::scalar::compute_lane;
use crate::vir::{Builder, LoopKind, Value};

use super::operands::{Operands, Product, Region, Rhs, Spot, accumulator, element_pointer};
use super::schedule::Schedule;
use super::tile::{self, Strip, Tile, Walk};

impl Product {
    /// Where ranges of rows and columns may begin and end, in vectors of `lanes` lanes: at multiples of these
    /// numbers, and at the end.
    pub fn grain(&self, lanes: u32) -> (usize, usize) {
        let Schedule { rows, vectors, .. } = self.schedule;
        (rows as usize, (vectors * lanes) as usize)
    }

    /// Bytes of scratch memory that a call needs, aligned to 64.
    pub fn scratch_bytes(&self) -> usize {
        0
    }
}

/// Appends a region of the product of the operands at `at`.
///
/// `finish` is called for each place that code is needed for, with a complete vector in the lanes that the
/// dtype is worked on in, not yet rounded to the dtype. It stores the result, and does before whatever is to
/// be done while it is in its register.
///
/// # Panics
///
/// If the schedule does not pass its [`check`](Schedule::check).
pub fn product(
    b: &mut Builder,
    p: &Product,
    at: Operands,
    region: Region,
    finish: &mut dyn FnMut(&mut Builder, Spot, Value),
) {
    if let Err(error) = p.schedule.check(b.lanes(), &p.rhs) {
        panic!("{error}");
    }
    let (_, wide) = p.grain(b.lanes());
    let columns = region.columns;
    let (rest, _) = b.repeat(LoopKind::Whole, columns, wide as i64, &[], |b, round| {
        strip_of_tiles(b, p, at, region.rows, (round.index, wide), finish);
        Vec::new()
    });
    let tail = p.n % wide;
    if tail > 0 {
        b.repeat(
            LoopKind::Rest,
            (rest, columns.1),
            wide as i64,
            &[],
            |b, round| {
                strip_of_tiles(b, p, at, region.rows, (round.index, tail), finish);
                Vec::new()
            },
        );
    }
}

/// Tiles one below the other, of `width` columns from `column` on.
fn strip_of_tiles(
    b: &mut Builder,
    p: &Product,
    at: Operands,
    rows: (Value, Value),
    (column, width): (Value, usize),
    finish: &mut dyn FnMut(&mut Builder, Spot, Value),
) {
    let rhs = match p.rhs {
        Rhs::Rows { .. } => element_pointer(b, p.dtype, at.rhs, column, 1),
        Rhs::Columns { n_stride } => element_pointer(b, p.dtype, at.rhs, column, n_stride),
        Rhs::Panels(panels) => element_pointer(b, panels.dtype, at.rhs, column, p.k),
    };
    let height = p.schedule.rows;
    let mut tile = |b: &mut Builder, row: Value, rows: u32| {
        let tile = tile(p, b.lanes(), rows, width);
        let lhs = element_pointer(b, p.dtype, at.lhs, row, p.lhs.row_stride);
        let zero = b.constant(compute_lane(p.dtype), 0);
        let sums = vec![zero; rows as usize * tile.strips.len()];
        let sums = tile::chains(b, &tile, lhs, rhs, sums);
        finish_tile(b, (row, column), width, &sums, finish);
    };
    let (rest, _) = b.repeat(LoopKind::Whole, rows, height.into(), &[], |b, round| {
        tile(b, round.index, height);
        Vec::new()
    });
    let tail = (p.m % height as usize) as u32;
    if tail > 0 {
        b.repeat(
            LoopKind::Rest,
            (rest, rows.1),
            height.into(),
            &[],
            |b, round| {
                tile(b, round.index, tail);
                Vec::new()
            },
        );
    }
}

/// Hands over the vectors of a tile, row by row.
fn finish_tile(
    b: &mut Builder,
    (row, column): (Value, Value),
    width: usize,
    sums: &[Value],
    finish: &mut dyn FnMut(&mut Builder, Spot, Value),
) {
    let lanes = b.lanes() as usize;
    let vectors = width.div_ceil(lanes);
    for (below, sums) in (0..).zip(sums.chunks(vectors)) {
        for (vector, &sum) in sums.iter().enumerate() {
            let ahead = vector * lanes;
            let left = width - ahead;
            let count = (left < lanes).then(|| b.index(left as i64));
            let column = At {
                index: column,
                ahead: ahead as u32,
                count,
            };
            finish(b, Spot { row, below, column }, sum);
        }
    }
}

/// A tile of `rows` rows and `width` columns.
fn tile(p: &Product, lanes: u32, rows: u32, width: usize) -> Tile {
    let lanes = lanes as usize;
    let element = p.dtype.size() as i64;
    let (rhs, k) = match p.rhs {
        Rhs::Rows { k_stride } => (p.dtype, k_stride as i64 * element),
        Rhs::Columns { .. } => (p.dtype, element),
        Rhs::Panels(panels) => {
            let size = panels.dtype.size();
            (panels.dtype, (panels.width * size) as i64)
        }
    };
    let strips = (0..width).step_by(lanes).map(|column| {
        let left = (width - column).min(lanes) as u32;
        let count = (left < lanes as u32).then_some(left);
        match p.rhs {
            Rhs::Rows { .. } => Strip::Load {
                offset: column as i64 * element,
                count,
            },
            Rhs::Columns { n_stride } => Strip::Gather {
                offset: (column * n_stride) as i64 * element,
                count: left,
                stride: n_stride as i64,
            },
            Rhs::Panels(panels) => {
                let (panel, inside) = (column / panels.width, column % panels.width);
                let elements = panel * panels.width * p.k + inside;
                Strip::Load {
                    offset: (elements * panels.dtype.size()) as i64,
                    count: None,
                }
            }
        }
    });
    Tile {
        dtype: accumulator(p.dtype),
        rows,
        strips: strips.collect(),
        segments: 1,
        length: p.k,
        unroll: p.schedule.unroll,
        lhs: Walk {
            dtype: p.dtype,
            row: p.lhs.row_stride as i64 * element,
            k: p.lhs.k_stride as i64 * element,
            segment: 0,
        },
        rhs: Walk {
            dtype: rhs,
            row: 0,
            k,
            segment: 0,
        },
    }
}
