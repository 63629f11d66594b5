//! The layout of a product's scratch memory: a block of the first operand, a strip of the second one, partial results.

use crate::lower::scalar::compute_lane;
use mind_vir::ir::{Addr, Builder, IndexOp, Lane, LoopKind, Value};

use super::layout::{Lhs, Rhs};
use super::operands::{Product, Region, beyond};
use super::quantised::steps_bytes;
use super::schedule::Schedule;

/// Offsets and sizes of the parts of scratch memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scratch {
    /// Rows, columns and terms of a block.
    pub rows: usize,
    pub columns: usize,
    pub terms: usize,
    /// Columns of a tile.
    pub tile_columns: usize,
    /// Whether blocks of the first operand are copied here, in the accumulator type.
    pub stages_lhs: bool,
    /// The layout of such a copy.
    pub staged: Lhs,
    /// Its size in bytes.
    staged_bytes: usize,
    /// Whether strips of the second operand are copied here, in the accumulator type.
    pub stages_rhs: bool,
    /// Bytes of such a copy.
    strip_bytes: usize,
    /// Size of the scales for dequantisation, which follow that copy.
    steps_bytes: usize,
    /// Size of a staged tile, which follows those.
    tile_bytes: usize,
    /// Type of an accumulator.
    lane: Lane,
}

/// Padding between the rows of a copy, to avoid cache set conflicts.
const GAP: usize = 64;

impl Product {
    /// Returns the alignment of ranges of rows and columns, for vectors of `lanes` lanes.
    pub fn grain(&self, lanes: u32) -> (usize, usize) {
        let Schedule { rows, vectors, .. } = self.schedule;
        (rows as usize, (vectors * lanes) as usize)
    }
}

impl Scratch {
    pub fn of(p: &Product, lanes: u32) -> Scratch {
        let s = &p.schedule;
        let lane = compute_lane(p.dtype);
        let gap = GAP / lane.bytes() as usize;
        let height = s.rows as usize;
        let rows = s.mc.min(p.m).max(1).next_multiple_of(height);
        let tile_columns = (s.vectors * lanes) as usize;
        let columns = s.nc.min(p.n).max(1).next_multiple_of(tile_columns);
        let terms = s.kc.min(p.k).max(1);
        let staged = if p.lhs.k_stride == 1 || p.lhs.row_stride != 1 {
            Lhs {
                row_stride: (terms + gap).next_multiple_of(gap),
                k_stride: 1,
            }
        } else {
            Lhs {
                row_stride: 1,
                k_stride: (rows + gap).next_multiple_of(gap),
            }
        };
        let elements = rows * staged.row_stride.max(1) + terms * staged.k_stride;
        let staged_bytes = if s.stages_lhs {
            (elements * lane.bytes() as usize).next_multiple_of(64)
        } else {
            0
        };
        let strip_bytes = if s.stages_rhs {
            (terms * tile_columns * lane.bytes() as usize).next_multiple_of(64)
        } else {
            0
        };
        let steps_bytes = match p.rhs {
            Rhs::Quantised(_) => steps_bytes(s.vectors as usize, lanes),
            Rhs::Rows { .. } | Rhs::Columns { .. } | Rhs::Panels(_) => 0,
        };
        Scratch {
            rows,
            columns,
            terms,
            tile_columns,
            stages_lhs: s.stages_lhs,
            staged,
            staged_bytes,
            stages_rhs: s.stages_rhs,
            strip_bytes,
            steps_bytes,
            tile_bytes: match s.stages_output {
                true => (height * tile_columns * lane.bytes() as usize).next_multiple_of(64),
                false => 0,
            },
            lane,
        }
    }

    /// Returns the total size in bytes.
    pub fn bytes(&self, p: &Product) -> usize {
        let partials = if self.terms < p.k {
            self.rows * self.columns * self.lane.bytes() as usize
        } else {
            0
        };
        self.in_front_of_partials() + partials
    }

    fn in_front_of_partials(&self) -> usize {
        self.staged_bytes + self.strip_bytes + self.steps_bytes + self.tile_bytes
    }

    /// Returns the address at which complete tiles are staged, if they are.
    pub fn room(&self, b: &mut Builder, scratch: Value) -> Option<Value> {
        let start_bytes = self.staged_bytes + self.strip_bytes + self.steps_bytes;
        (self.tile_bytes > 0).then(|| {
            let start = beyond(b, scratch, start_bytes as i64);
            b.address(start)
        })
    }

    /// Returns the address of the scales for dequantisation.
    pub fn steps(&self, b: &mut Builder, scratch: Value) -> Value {
        let start_bytes = self.staged_bytes + self.strip_bytes;
        let start = beyond(b, scratch, start_bytes as i64);
        b.address(start)
    }

    /// Returns the address of the copy of a strip of the second operand.
    pub fn strip(&self, b: &mut Builder, scratch: Value) -> Value {
        let start = beyond(b, scratch, self.staged_bytes as i64);
        b.address(start)
    }

    /// Zeroes the partial results of a block.
    pub fn clear_partials(&self, b: &mut Builder, scratch: Value, block: Region) {
        let lanes = i64::from(b.lanes());
        let zero = b.constant(self.lane, 0);
        let step = self.tile_columns as i64;
        b.repeat(LoopKind::Rest, block.columns, step, &[], |b, round| {
            let start = self.partials_at(b, scratch, block, (block.rows.0, round.index));
            let height = b.index_op(IndexOp::Sub, block.rows.1, block.rows.0);
            let width = b.index(step);
            let count = b.index_op(IndexOp::Mul, height, width);
            let bounds = (b.index(0), count);
            b.repeat(LoopKind::Rest, bounds, lanes, &[], |b, round| {
                b.store(zero, Addr::element(start, round.index, self.lane), None);
                Vec::new()
            });
            Vec::new()
        });
    }

    /// Returns the address of the partial results of the tile at a row and a column, in column-major order of tiles.
    fn partials_at(
        &self,
        b: &mut Builder,
        scratch: Value,
        block: Region,
        (row, column): (Value, Value),
    ) -> Value {
        let row = b.index_op(IndexOp::Sub, row, block.rows.0);
        let column = b.index_op(IndexOp::Sub, column, block.columns.0);
        let (height, width) = (b.index(self.rows as i64), b.index(self.tile_columns as i64));
        let column = b.index_op(IndexOp::Mul, column, height);
        let row = b.index_op(IndexOp::Mul, row, width);
        let index = b.index_op(IndexOp::Add, column, row);
        let base = beyond(b, scratch, self.in_front_of_partials() as i64);
        let base = b.address(base);
        b.address(Addr::element(base, index, self.lane))
    }

    /// Returns the partial results of a tile of `vectors` vectors in a row.
    pub fn partials(
        &self,
        b: &mut Builder,
        scratch: Value,
        block: Region,
        place: (Value, Value),
        vectors: usize,
    ) -> Partials {
        Partials {
            base: self.partials_at(b, scratch, block, place),
            vectors: vectors as u32,
            row_bytes: self.tile_columns as u32 * self.lane.bytes(),
            vector_bytes: b.lanes() * self.lane.bytes(),
        }
    }
}

/// The partial results of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partials {
    base: Value,
    vectors: u32,
    row_bytes: u32,
    vector_bytes: u32,
}

impl Partials {
    /// Prefetches the partial results of the next tile below, because its chains cannot start before they are loaded.
    pub fn prefetch_next(&self, b: &mut Builder, rows: u32) {
        const LINE: usize = 64;
        let end = rows * self.row_bytes;
        for offset in (end..2 * end).step_by(LINE) {
            b.prefetch(Addr::at(self.base).plus(offset as i32));
        }
    }

    /// Returns the address of each vector, row by row.
    pub fn addrs(&self, rows: u32) -> Vec<Addr> {
        let places = (0..rows).flat_map(|row| (0..self.vectors).map(move |vector| (row, vector)));
        let offsets = places.map(|(row, vector)| row * self.row_bytes + vector * self.vector_bytes);
        offsets
            .map(|offset| Addr::at(self.base).plus(offset as i32))
            .collect()
    }
}
