//! Convolutions: implicit GEMM, whose first operand is read from an image.
//!
//! The taps of a line of a window are contiguous in the image, so a chain is one traversal per line of taps and im2col
//! is not needed. With padding, the image lines of a block are copied with zeros around them, because a padded tap is a
//! multiply-add like any other.

use mind_core::parts::Parts;
use mind_ir::types::DType;

use crate::lower::each::{At, for_each};
use crate::lower::scalar::{compute_lane, storage_lane, widen};
use mind_vir::ir::{Builder, IndexOp, LoopKind, Value};
use mind_vir::target::TargetInfo;

use super::finish::{Finish, finish_tile};
use super::layout::{Rhs, accumulator};
use super::operands::{Operands, element_pointer};
use super::ranges::in_tiles;
use super::right::Right;
use super::schedule::{Schedule, ScheduleError, ScheduleRequest};
use super::tile::{self, Prefetch, Tile, Walk};

/// A convolution of one image, with known extents.
///
/// The image has `height × width × channels` elements, the result `output.0 × output.1 × filters`, all contiguous and
/// row-major. An element of the result is one chain of multiply-adds over the lines of taps, the taps of a line, and
/// the channels, in the order of docs/numerics.md.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Conv {
    /// Type of both operands; any but `bool`.
    pub dtype: DType,
    /// Height, width and channels of the image.
    pub input: (usize, usize, usize),
    /// Lines of taps, and taps in a line.
    pub taps: (usize, usize),
    /// Filters: channels of the result.
    pub filters: usize,
    /// Vertical and horizontal stride of windows.
    pub strides: (usize, usize),
    /// Padding above and to the left of the image. Windows beyond the other ends read zeros too.
    pub padding: (usize, usize),
    /// Height and width of the result.
    pub output: (usize, usize),
    /// The layout of the filters, as a matrix of taps and channels by filters.
    pub rhs: Rhs,
    /// The schedule; every choice gives the same bits.
    pub schedule: Schedule,
}

impl Conv {
    /// Terms of each chain.
    pub fn terms(&self) -> usize {
        self.taps.0 * self.taps.1 * self.input.2
    }

    /// Returns the convolution with its lines concatenated, if windows are as wide as the image, so that one line has
    /// all positions and tiles run along it. Elements are not moved, and the order of chains is the same.
    pub fn concatenated_lines(self) -> Conv {
        let (height, width, channels) = self.input;
        if (self.taps.1, self.output.1, self.padding.1) != (width, 1, 0) {
            return self;
        }
        Conv {
            input: (1, height, width * channels),
            taps: (1, self.taps.0),
            strides: (1, self.strides.0),
            padding: (0, self.padding.0),
            output: (1, self.output.0),
            ..self
        }
    }

    /// Returns whether the result is one line, so that ranges of positions are ranges of columns.
    fn is_line(&self) -> bool {
        self.output.0 == 1
    }

    /// Returns the number of positions that ranges divide, and the alignment of ranges.
    pub fn positions(&self) -> (usize, usize) {
        match self.is_line() {
            true => (self.output.1, self.height()),
            false => (self.output.0, 1),
        }
    }

    /// Rows of a tile.
    fn height(&self) -> usize {
        (self.schedule.rows as usize).min(self.output.1.max(1))
    }

    /// Returns the alignment of ranges of filters, for vectors of `lanes` lanes.
    pub fn grain(&self, lanes: u32) -> usize {
        (self.schedule.vectors * lanes) as usize
    }

    /// Bytes of scratch memory for a copy of the image.
    fn scratch_bytes(&self) -> usize {
        if !self.is_copied() {
            return 0;
        }
        let lines = self.lines_for(self.block_lines());
        let bytes = lines * self.padded_line() * accumulator(self.dtype).size();
        bytes.next_multiple_of(64)
    }

    /// Returns the default schedule for filters of layout `rhs`, which are constant if `is_constant`.
    pub fn schedule(&self, target: &TargetInfo, rhs: Rhs, is_constant: bool) -> Schedule {
        let extents = (self.output.1, self.filters, self.terms());
        let chosen = Schedule::choose(target, self.dtype, extents, rhs, is_constant);
        self.in_lines(target, chosen, 0)
    }

    /// As [`schedule`](Conv::schedule), with the requested tiles and `lines` of the result per block.
    ///
    /// # Errors
    ///
    /// Errors as [`Schedule::with_request`] does.
    pub fn schedule_with(
        &self,
        target: &TargetInfo,
        request: ScheduleRequest,
        lines: usize,
    ) -> Result<Schedule, ScheduleError> {
        let extents = (self.output.1, self.filters, self.terms());
        let chosen = Schedule::with_request(target, self.dtype, extents, self.rhs, request)?;
        Ok(self.in_lines(target, chosen, lines))
    }

    /// Returns a schedule with `requested` lines per block, or with as many as fit the L2 cache if that is 0.
    fn in_lines(&self, target: &TargetInfo, chosen: Schedule, requested: usize) -> Schedule {
        let line = self.padded_line() * accumulator(self.dtype).size();
        let lines = (target.l2_bytes / 4 / line.max(1)).saturating_sub(self.taps.0);
        let lines = (lines / self.strides.0.max(1)).clamp(1, self.output.0.max(1));
        let lines = if requested > 0 { requested } else { lines };
        Schedule {
            mc: lines * self.output.1.max(1),
            kc: self.terms().max(1),
            ..chosen
        }
    }

    /// Returns whether windows read a copy: because of padding, or to widen elements once.
    fn is_copied(&self) -> bool {
        let (height, width, _) = self.input;
        let reach = |count: usize, stride: usize, taps: usize| (count.max(1) - 1) * stride + taps;
        let is_padded = self.padding != (0, 0)
            || reach(self.output.0, self.strides.0, self.taps.0) > height
            || reach(self.output.1, self.strides.1, self.taps.1) > width;
        self.terms() > 0 && (is_padded || accumulator(self.dtype) != self.dtype)
    }

    /// Lines of the result in a block.
    fn block_lines(&self) -> usize {
        let lines = self.schedule.mc / self.output.1.max(1);
        lines.clamp(1, self.output.0.max(1))
    }

    /// Returns the number of image lines for `lines` lines of the result.
    fn lines_for(&self, lines: usize) -> usize {
        (lines.max(1) - 1) * self.strides.0 + self.taps.0
    }

    /// Elements of a line of the copy.
    fn padded_line(&self) -> usize {
        let columns = (self.output.1.max(1) - 1) * self.strides.1 + self.taps.1;
        columns * self.input.2
    }
}

/// Appends the convolution of the image and the filters at `at`, for ranges of [`positions`](Conv::positions) and of
/// filters.
///
/// The row of a [`TileCoord`](super::TileCoord) is the row-major position in the result image. Otherwise as
/// [`product`](super::product).
///
/// # Panics
///
/// Panics if the schedule does not pass its [`check`](Schedule::check).
pub fn conv(
    b: &mut Builder,
    c: &Conv,
    at: Operands,
    positions: (Value, Value),
    filters: (Value, Value),
    finish: &mut Finish<'_>,
) {
    if let Err(error) = c.schedule.check(b.lanes(), &c.rhs) {
        panic!("{error}");
    }
    let whole = |b: &mut Builder, extent: usize| (b.index(0), b.index(extent as i64));
    let (lines, columns) = if c.is_line() {
        (whole(b, 1), positions)
    } else {
        (positions, whole(b, c.output.1))
    };
    let size = c.block_lines() as i64;
    b.scratch(c.scratch_bytes(), |b, copy| {
        b.repeat(LoopKind::Rest, lines, size, &[], |b, round| {
            let size = b.index(size);
            let end = b.index_op(IndexOp::Add, round.index, size);
            let end = b.index_op(IndexOp::Min, end, lines.1);
            let block = (round.index, end);
            let image = if c.is_copied() {
                copy_lines(b, c, (at.lhs, copy), block);
                Image {
                    base: copy,
                    dtype: accumulator(c.dtype),
                    line: c.padded_line(),
                }
            } else {
                let line = c.input.1 * c.input.2;
                Image {
                    base: element_pointer(b, c.dtype, at.lhs, block.0, c.strides.0 * line),
                    dtype: c.dtype,
                    line,
                }
            };
            strips(b, c, &image, (at.rhs, block, columns, filters), finish);
            Vec::new()
        });
    });
}

/// The memory that windows read, from the first line of a block.
#[derive(Clone, Copy)]
struct Image {
    base: Value,
    dtype: DType,
    /// Stride of lines, in elements.
    line: usize,
}

/// A half-open range of indices.
type Range = (Value, Value);

/// Tiles of a block, strip by strip.
fn strips(
    b: &mut Builder,
    c: &Conv,
    image: &Image,
    (rhs, block, columns, filters): (Value, Range, Range, Range),
    finish: &mut Finish<'_>,
) {
    let wide = c.grain(b.lanes());
    let right = Right {
        dtype: c.dtype,
        layout: c.rhs,
        k: c.terms(),
    };
    in_tiles(b, (c.filters, wide), filters, &mut |b, (filter, width)| {
        let start = b.index(0);
        let rhs = right.pointer(b, rhs, filter, start);
        b.repeat(LoopKind::Rest, block, 1, &[], |b, round| {
            let line = b.index_op(IndexOp::Sub, round.index, block.0);
            let lhs = element_pointer(b, image.dtype, image.base, line, c.strides.0 * image.line);
            let first = (round.index, filter);
            let place = (first, columns, width);
            one_line(b, c, image, (&right, lhs, rhs), place, finish);
            Vec::new()
        });
    });
}

/// Appends the tiles of columns of a line of the result, `width` filters wide.
fn one_line(
    b: &mut Builder,
    c: &Conv,
    image: &Image,
    (right, lhs, rhs): (&Right, Value, Value),
    ((line, filter), columns, width): ((Value, Value), Range, usize),
    finish: &mut Finish<'_>,
) {
    let height = c.height();
    let (step, size) = (c.strides.1 * c.input.2, image.dtype.size() as i64);
    let lanes = b.lanes();
    in_tiles(
        b,
        (c.output.1, height),
        columns,
        &mut |b, (column, rows)| {
            let tile = Tile {
                dtype: accumulator(c.dtype),
                parts: Parts::Whole,
                rows: rows as u32,
                strips: right.strips(lanes as usize, width),
                segments: c.taps.0,
                length: c.taps.1 * c.input.2,
                unroll: right.unroll(c.schedule.unroll, lanes),
                ahead: Prefetch::Nothing,
                lhs: Walk {
                    dtype: image.dtype,
                    row: step as i64 * size,
                    k: size,
                    segment: image.line as i64 * size,
                },
                rhs: right.walk(),
            };
            let lhs = element_pointer(b, image.dtype, lhs, column, step);
            let zero = b.constant(compute_lane(c.dtype), 0);
            let sums = vec![zero; rows * tile.strips.len()];
            let sums = tile::chains(b, &tile, lhs, rhs, sums);
            let extent = b.index(c.output.1 as i64);
            let row = b.index_op(IndexOp::Mul, line, extent);
            let row = b.index_op(IndexOp::Add, row, column);
            finish_tile(b, (row, filter), width, &sums, None, finish);
        },
    );
}

/// Appends the copy from `image` to `copy` of the lines that a block of the result needs, padded with zeros, in the
/// accumulator type.
fn copy_lines(b: &mut Builder, c: &Conv, (image, copy): (Value, Value), block: (Value, Value)) {
    let (height, width, channels) = c.input;
    let padded = c.padded_line();
    let number = |b: &mut Builder, n: usize| b.index(n as i64);
    let stride = number(b, c.strides.0);
    let first = b.index_op(IndexOp::Mul, block.0, stride);
    let lines = b.index_op(IndexOp::Sub, block.1, block.0);
    let count = b.index_op(IndexOp::Mul, lines, stride);
    let more = b.index(c.taps.0 as i64 - c.strides.0 as i64);
    let count = b.index_op(IndexOp::Add, count, more);
    let zero = b.index(0);
    // Lines `above..below` of the copy are inside of the image.
    let top = number(b, c.padding.0);
    let above = b.index_op(IndexOp::Sub, top, first);
    let above = b.index_op(IndexOp::Max, above, zero);
    let above = b.index_op(IndexOp::Min, above, count);
    let end = number(b, height + c.padding.0);
    let below = b.index_op(IndexOp::Sub, end, first);
    let below = b.index_op(IndexOp::Max, below, above);
    let below = b.index_op(IndexOp::Min, below, count);

    let dtype = accumulator(c.dtype);
    let target = |b: &mut Builder, line: Value| element_pointer(b, dtype, copy, line, padded);
    for outside in [(zero, above), (below, count)] {
        b.repeat(LoopKind::Rest, outside, 1, &[], |b, round| {
            let to = target(b, round.index);
            clear(b, c, to, (0, padded));
            Vec::new()
        });
    }
    let left = (c.padding.1 * channels).min(padded);
    let inside = (width * channels).min(padded - left);
    b.repeat(LoopKind::Rest, (above, below), 1, &[], |b, round| {
        let to = target(b, round.index);
        clear(b, c, to, (0, left));
        let line = b.index_op(IndexOp::Add, first, round.index);
        let line = b.index_op(IndexOp::Sub, line, top);
        let from = element_pointer(b, c.dtype, image, line, width * channels);
        let to_inside = b.index(left as i64);
        let to_inside = element_pointer(b, dtype, to, to_inside, 1);
        let length = number(b, inside);
        for_each(b, length, COPY_UNROLL, |b, at| {
            let elements = b.load(
                storage_lane(c.dtype),
                at.addr(from, storage_lane(c.dtype)),
                at.count,
            );
            let elements = widen(b, c.dtype, elements);
            b.store(
                elements,
                at.addr(to_inside, compute_lane(c.dtype)),
                at.count,
            );
        });
        clear(b, c, to, (left + inside, padded));
        Vec::new()
    });
}

/// Unroll factor of the copy loop.
const COPY_UNROLL: u32 = 4;

/// Sets elements `start..end` after `to` to zero.
fn clear(b: &mut Builder, c: &Conv, to: Value, (start, end): (usize, usize)) {
    if start >= end {
        return;
    }
    let first = b.index(start as i64);
    let to = element_pointer(b, accumulator(c.dtype), to, first, 1);
    let (lane, length) = (compute_lane(c.dtype), b.index((end - start) as i64));
    let zero = b.constant(lane, 0);
    for_each(b, length, 1, |b, at: At| {
        b.store(zero, at.addr(to, lane), at.count)
    });
}
