//! Schedules: tile, block and packing decisions of a product.

use mind_ir::types::DType;

use crate::lower::scalar::{compute_lane, storage_lane};
use mind_vir::target::{Isa, TargetInfo};

use super::layout::{Panels, Rhs, accumulator};
use super::quantised::QuantPanels;

/// Number of rows up to which each tile dequantises block-quantised numbers itself.
const DECODED_ROWS: usize = 4;

/// A division of a product into tiles. Every schedule that passes [`check`](Schedule::check) gives the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Schedule {
    /// Rows of a register tile.
    pub rows: u32,
    /// Vectors in a row of a register tile.
    pub vectors: u32,
    /// Unroll factor of the loop over the contracted dimension.
    pub unroll: u32,
    /// Rows of a cache block; its part of the first operand stays in the L2 cache.
    pub mc: usize,
    /// Columns of a cache block.
    pub nc: usize,
    /// Terms of a cache block; if there are more, partial results are stored to scratch memory between blocks.
    pub kc: usize,
    /// Whether blocks of the first operand are copied to scratch memory, in the accumulator type.
    pub stages_lhs: bool,
    /// Whether strips of the second operand (the columns of a tile by the terms of a block) are copied to scratch
    /// memory, in the accumulator type.
    pub stages_rhs: bool,
    /// Whether tiles prefetch the second operand: the next strip, or, if a strip has only one tile, a fixed distance
    /// ahead.
    pub prefetches_rhs: bool,
    /// Whether complete tiles are staged in scratch memory for the epilogue; for long epilogues.
    pub stages_output: bool,
    /// The layout that the second operand is packed to before the product runs, if it is packed.
    pub packed: Option<Panels>,
    /// Whether AMX multiplies tiles, all terms of a block of columns at a time.
    pub uses_amx: bool,
}

/// Requested parts of a schedule; 0 leaves a number to [`Schedule::choose`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScheduleRequest {
    /// Rows of a tile.
    pub rows: u32,
    /// Vectors in a row of a tile.
    pub vectors: u32,
    /// Rows of a block.
    pub mc: usize,
    /// Columns of a block.
    pub nc: usize,
    /// Terms of a block.
    pub kc: usize,
}

/// An invalid schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScheduleError {
    /// A tile does not fit the registers.
    #[error(
        "a tile of {rows} rows of {vectors} vectors takes {needed} vector registers; {isa} has {available}"
    )]
    Registers {
        /// Rows of a tile.
        rows: u32,
        /// Vectors in a row of a tile.
        vectors: u32,
        /// Registers that it needs.
        needed: usize,
        /// Registers of the target.
        available: usize,
        /// The instruction set.
        isa: Isa,
    },
    /// A number is out of range.
    #[error("`{field}` of a product is {found}; expected {expected}")]
    Range {
        /// The field of the schedule.
        field: &'static str,
        /// Its value.
        found: usize,
        /// The expected range, in words.
        expected: &'static str,
    },
    /// The tile width is not a multiple of the panel width.
    #[error("a tile has {columns} columns, expected a multiple of the panel width {width}")]
    Width {
        /// Columns of a tile.
        columns: usize,
        /// Columns of a panel.
        width: usize,
    },
}

impl Schedule {
    /// Chooses the schedule for a product of `m × k` by `k × n` elements of `dtype` whose second operand has the layout
    /// `rhs` and is constant if `is_constant`.
    pub fn choose(
        target: &TargetInfo,
        dtype: DType,
        extents: (usize, usize, usize),
        rhs: Rhs,
        is_constant: bool,
    ) -> Schedule {
        Schedule::complete(
            target,
            dtype,
            extents,
            (rhs, is_constant),
            ScheduleRequest::default(),
        )
    }

    /// As [`choose`](Schedule::choose), with the requested numbers of `request`.
    ///
    /// # Errors
    ///
    /// Errors if the registers do not hold the tiles, and as [`check`](Schedule::check) does.
    pub fn with_request(
        target: &TargetInfo,
        dtype: DType,
        extents: (usize, usize, usize),
        rhs: Rhs,
        request: ScheduleRequest,
    ) -> Result<Schedule, ScheduleError> {
        let schedule = Schedule::complete(target, dtype, extents, (rhs, false), request);
        let Schedule { rows, vectors, .. } = schedule;
        let needed = registers_of(rows as usize, vectors as usize);
        let available = target.vector_registers as usize;
        if (request.rows, request.vectors) != (0, 0) && needed > available {
            let isa = target.isa;
            return Err(ScheduleError::Registers {
                rows,
                vectors,
                needed,
                available,
                isa,
            });
        }
        let lanes = target.lanes(compute_lane(dtype).bits());
        schedule.check(lanes, &rhs).map(|()| schedule)
    }

    fn complete(
        target: &TargetInfo,
        dtype: DType,
        (m, n, k): (usize, usize, usize),
        (rhs, is_constant): (Rhs, bool),
        request: ScheduleRequest,
    ) -> Schedule {
        let lane = compute_lane(dtype);
        let lanes = target.lanes(lane.bits()) as usize;
        let step = match rhs {
            Rhs::Panels(panels) => panels.width.div_ceil(lanes),
            Rhs::Quantised(panels) => panels.width.div_ceil(lanes),
            Rhs::Rows { .. } | Rhs::Columns { .. } => 1,
        };
        let policy = Policy::of(target, dtype, (m, n, k), rhs, is_constant);
        let vectors_of_all = n.div_ceil(lanes);
        let is_quantised = matches!(rhs, Rhs::Quantised(_));
        let (rows, vectors) = if is_quantised && m <= DECODED_ROWS {
            // Enough chains to hide the latency of an addition, next to the registers that dequantisation needs.
            let most = if m == 1 { 4 } else { 2 };
            let vectors = vectors_of_all.clamp(1, most).next_multiple_of(step);
            (m.max(1) as u32, vectors as u32)
        } else if m == 1 && !policy.is_transposed {
            // Enough chains to hide the latency of an addition, and enough streams to hide that of memory.
            let most = vectors_of_all.clamp(1, 8).next_multiple_of(step);
            (1, most as u32)
        } else if policy.is_transposed {
            // Transposing a tile of columns and terms takes half of the registers.
            (m.clamp(1, 4) as u32, vectors_of_all.clamp(1, 2) as u32)
        } else {
            let temporaries = temporaries(target, dtype);
            best_tile(target, temporaries, (m, vectors_of_all, k), step)
        };
        let (rows, vectors) = request.tile(target, (rows, vectors), step as u32);
        let width = vectors as usize * lanes;
        let tile = (rows as usize, width);
        let is_far = n * k * dtype.size() > target.l2_bytes / 2;
        let stages_rhs = match rhs {
            Rhs::Quantised(_) => m > DECODED_ROWS,
            Rhs::Panels(panels) => is_narrow(panels.dtype) && m > 2 * rows as usize,
            _ => policy.packed.is_none() && pays_to_stage(target, (m, k), rhs, dtype),
        };
        let in_panels =
            matches!(rhs, Rhs::Panels(_) | Rhs::Quantised(_)) || policy.packed.is_some();
        let is_packed = in_panels || stages_rhs;
        let mut blocks = Blocks::choose(target, (m, n, k), tile, lane.bytes() as usize, is_packed);
        let is_thin = m <= rows as usize;
        if is_thin && is_far && matches!((rhs, policy.packed), (Rhs::Rows { .. }, None)) {
            blocks = Blocks::whole_rows(target, (m, n, k), lane.bytes() as usize);
        } else if is_thin {
            blocks.kc = k.max(1);
        }
        if let Rhs::Quantised(panels) = rhs {
            let whole = blocks.kc.next_multiple_of(panels.format.elements());
            blocks.kc = if whole < k { whole } else { k.max(1) };
        }
        for (own, request) in [
            (&mut blocks.mc, request.mc),
            (&mut blocks.nc, request.nc),
            (&mut blocks.kc, request.kc),
        ] {
            if request > 0 {
                *own = request;
            }
        }
        // Memory throughput is higher with several streams.
        let panel = match (m, is_far) {
            (1, true) if vectors % 2 == 0 => 2 * lanes,
            (1, true) => lanes,
            (2..=16, true) => lanes,
            _ => width,
        };
        // The hardware prefetcher keeps up with a single row.
        let prefetches_rhs = is_far && in_panels && m > 1;
        Schedule {
            rows,
            vectors,
            unroll: unroll(rows, vectors, prefetches_rhs && !is_thin),
            mc: blocks.mc,
            nc: blocks.nc,
            kc: blocks.kc,
            stages_lhs: is_narrow(dtype) || (blocks.kc < k && m > rows as usize && n > 2 * width),
            stages_rhs,
            prefetches_rhs,
            stages_output: false,
            packed: policy.packed.map(|dtype| Panels {
                width: panel,
                dtype,
            }),
            uses_amx: false,
        }
    }

    /// Checks that a product in vectors of `lanes` lanes can follow the schedule.
    ///
    /// # Errors
    ///
    /// Errors if a number is out of range, or if the tile width is not a multiple of the panel width.
    pub fn check(&self, lanes: u32, rhs: &Rhs) -> Result<(), ScheduleError> {
        const MOST: u32 = 64;
        const MOST_CODE: usize = 4096;
        for (field, found) in [
            ("rows", self.rows),
            ("vectors", self.vectors),
            ("unroll", self.unroll),
        ] {
            if !(1..=MOST).contains(&found) {
                return Err(ScheduleError::Range {
                    field,
                    found: found as usize,
                    expected: "1 to 64",
                });
            }
        }
        let code = [self.rows, self.vectors, self.unroll].map(|number| number as usize);
        let code = code.into_iter().product::<usize>();
        if code > MOST_CODE {
            return Err(ScheduleError::Range {
                field: "rows * vectors * unroll",
                found: code,
                expected: "4096 at most",
            });
        }
        for (field, found) in [("mc", self.mc), ("nc", self.nc), ("kc", self.kc)] {
            if found == 0 {
                return Err(ScheduleError::Range {
                    field,
                    found,
                    expected: "1 or more",
                });
            }
        }
        let columns = (self.vectors * lanes) as usize;
        match *rhs {
            Rhs::Panels(Panels { width, .. }) | Rhs::Quantised(QuantPanels { width, .. })
                if width == 0 || !columns.is_multiple_of(width) =>
            {
                Err(ScheduleError::Width { columns, width })
            }
            Rhs::Quantised(panels) if !self.kc.is_multiple_of(panels.format.elements()) => {
                Err(ScheduleError::Range {
                    field: "kc",
                    found: self.kc,
                    expected: "whole blocks of the second operand",
                })
            }
            _ => Ok(()),
        }
    }
}

impl ScheduleRequest {
    /// Returns rows and vectors of a tile; `chosen` are the target's defaults. If only one of them is requested, the
    /// other one is as large as the registers allow, with vectors in multiples of `step`.
    fn tile(self, target: &TargetInfo, (rows, vectors): (u32, u32), step: u32) -> (u32, u32) {
        let fits = |rows: u32, vectors: u32| {
            registers_of(rows as usize, vectors as usize) <= target.vector_registers as usize
        };
        match (self.rows, self.vectors) {
            (0, 0) => (rows, vectors),
            (0, request) => {
                let mut fewer = (1..=rows).rev();
                let rows = fewer.find(|&rows| fits(rows, request));
                (rows.unwrap_or(1), request)
            }
            (request, 0) => {
                let mut fewer = (1..=vectors / step).rev().map(|panels| panels * step);
                let vectors = fewer.find(|&vectors| fits(request, vectors));
                (request, vectors.unwrap_or(step))
            }
            both => both,
        }
    }
}

/// Returns whether staging strips pays: many rows read the strip, and its lines, which have a stride of the operand's
/// rows, exceed the associativity of the L1 sets that they map to.
fn pays_to_stage(target: &TargetInfo, (m, k): (usize, usize), rhs: Rhs, dtype: DType) -> bool {
    const MANY: usize = 64;
    const LINE: usize = 64;
    /// Bytes covered by the L1 sets: a page, because the L1 cache is virtually indexed.
    const SETS: usize = 4096;
    let Rhs::Rows { k_stride } = rhs else {
        return false;
    };
    let stride = k_stride * dtype.size();
    let apart = stride & stride.wrapping_neg();
    let sets = SETS / apart.clamp(LINE, SETS);
    // Unaligned columns touch two lines.
    m >= MANY && 2 * k > sets * (target.l1_bytes / SETS)
}

/// Returns the unroll factor of a tile's loop: large enough to hide its overhead and not larger, because this loop is
/// most of the code of a product. An iteration also prefetches one line if tiles prefetch.
fn unroll(rows: u32, vectors: u32, prefetches: bool) -> u32 {
    const MULTIPLY_ADDS: u32 = 64;
    let most = if rows == 1 { 8 } else { 4 };
    if prefetches {
        return most;
    }
    (MULTIPLY_ADDS / (rows * vectors)).clamp(1, most)
}

/// Returns whether elements are widened for arithmetic.
fn is_narrow(dtype: DType) -> bool {
    accumulator(dtype) != dtype
}

/// The treatment of the second operand before the product.
struct Policy {
    /// The element type of panels, if it is packed.
    packed: Option<DType>,
    /// Whether every tile transposes its columns.
    is_transposed: bool,
}

impl Policy {
    fn of(
        target: &TargetInfo,
        dtype: DType,
        (m, n, k): (usize, usize, usize),
        rhs: Rhs,
        is_constant: bool,
    ) -> Policy {
        /// Number of rows from which a copy pays, because each reads every element.
        const MANY: usize = 8;
        const PAGE: usize = 4096;
        let size = dtype.size();
        // Partial vector loads that no instruction supports.
        let lane = storage_lane(dtype);
        let is_partial = n % target.lanes(compute_lane(dtype).bits()) as usize > 1;
        let is_slow =
            is_partial && (target.isa.target().partial_bits).is_none_or(|bits| lane.bits() < bits);
        let pays = match rhs {
            Rhs::Panels(_) | Rhs::Quantised(_) => false,
            _ if is_constant => true,
            Rhs::Columns { .. } => m >= MANY,
            Rhs::Rows { .. } if is_narrow(dtype) || is_slow => m >= MANY,
            Rhs::Rows { k_stride } => {
                let shares_sets =
                    (k_stride * size).is_multiple_of(PAGE) && k * 64 > target.l1_bytes / 2;
                m >= 4 * MANY && (shares_sets || n * k * size > target.l2_bytes / 2)
            }
        };
        let of_panels = if m >= MANY { accumulator(dtype) } else { dtype };
        Policy {
            packed: pays.then_some(of_panels),
            is_transposed: matches!(rhs, Rhs::Columns { .. }) && !pays,
        }
    }
}

/// The size of a cache block.
struct Blocks {
    mc: usize,
    nc: usize,
    kc: usize,
}

impl Blocks {
    /// Chooses blocks for tiles of `height` rows and `width` columns of accumulators of `size` bytes; the second
    /// operand is packed, or read in place.
    fn choose(
        target: &TargetInfo,
        (m, n, k): (usize, usize, usize),
        (height, width): (usize, usize),
        size: usize,
        is_packed: bool,
    ) -> Blocks {
        /// A contracted dimension up to this extent is short: storing a large result then takes much of the time, and
        /// is fastest a few rows at a time.
        const SHORT: usize = 256;
        /// The minimum rows and bytes of a large result.
        const LARGE: (usize, usize) = (512, 4 << 20);
        // A strip of the second operand fills half of the L1 cache, or an eighth of the L2 cache if it is read
        // sequentially, because partial results would cost more.
        let strip = if is_packed {
            strip_bytes(target)
        } else {
            target.l1_bytes / 2
        };
        let most = (strip / (width * size)).max(16);
        let kc = if k <= most + most / 2 {
            k.max(1)
        } else {
            let blocks = k.div_ceil(most);
            k.div_ceil(blocks).next_multiple_of(8)
        };
        // A block of the first operand fills a third of the L2 cache; or all of it except a strip, if all rows then
        // fit, because the second operand is then read only once.
        let most_of_l2 = target.l2_bytes / 8 * 7;
        let is_far = is_packed && n * k * size > target.l2_bytes / 2;
        let block = if is_far && m * kc * size <= most_of_l2 {
            most_of_l2
        } else {
            target.l2_bytes / 3
        };
        let most = (block / (kc * size)).max(height);
        let mc = if m <= most {
            m.max(1)
        } else {
            let blocks = m.div_ceil(most);
            m.div_ceil(blocks).next_multiple_of(height)
        };
        let is_large = m >= LARGE.0 && m.saturating_mul(n * size) >= LARGE.1;
        let mc = if k < SHORT && is_large {
            8 * height
        } else {
            mc
        };
        // With few rows, strips are read sequentially.
        let nc = if m <= 4 * height {
            width
        } else {
            const PARTIALS: usize = 1 << 20;
            (PARTIALS / (mc * size)).max(width)
        };
        Blocks {
            mc,
            nc: nc.min(n.max(1)),
            kc,
        }
    }

    /// Blocks of whole rows of the second operand, read sequentially in place.
    fn whole_rows(target: &TargetInfo, (m, n, k): (usize, usize, usize), size: usize) -> Blocks {
        const AT_ONCE: usize = 8;
        let most = target.l2_bytes / 4 / (m.max(1) * size);
        Blocks {
            mc: m.max(1),
            nc: n.clamp(1, most.max(1)),
            kc: k.clamp(1, AT_ONCE),
        }
    }
}

/// Returns the maximum size of a strip of the second operand that is read sequentially, in bytes.
fn strip_bytes(target: &TargetInfo) -> usize {
    (target.l2_bytes / 8).max(target.l1_bytes / 2)
}

/// The additional run time, in units of [`tile_cost`], that is accepted per vector of an avoided edge tile, because
/// compiling it costs as much as some hundred runs would save.
const CODE: usize = 96 * 16;

/// Returns rows and vectors of the tile with the lowest cost for `m` rows of `vectors` vectors that leaves registers
/// for the `temporaries` of a multiply-add.
///
/// Vectors are a multiple of `step`. Of equal tiles the one with fewer loads is chosen.
fn best_tile(
    target: &TargetInfo,
    temporaries: usize,
    (m, vectors, k): (usize, usize, usize),
    step: usize,
) -> (u32, u32) {
    let registers = target.vector_registers as usize - temporaries;
    // Larger extents do not change the choice.
    const MANY: usize = 4096;
    const MANY_ROWS: usize = 1 << 20;
    let m = m.clamp(1, MANY_ROWS);
    let [vectors, k] = [vectors.max(1), k].map(|extent| extent.min(MANY));
    let widths = (step..=vectors.next_multiple_of(step)).step_by(step);
    let tiles = widths
        .take_while(|&width| width == step || width < registers)
        .flat_map(|width| {
            let heights = 1..=m.min(registers);
            heights
                .take_while(move |&height| height == 1 || registers_of(height, width) <= registers)
                .map(move |height| (height, width))
        });
    let cost = |height: usize, width: usize| {
        // A strip that is shared by several tiles and does not fit the L1 cache is loaded from L2, unless multiply-adds
        // of several instructions hide that.
        let strip = k * width * target.vector_bits as usize / 8;
        let is_far = temporaries == 0 && m > height && strip > target.l1_bytes / 2;
        let cost = |height, width| tile_cost(target, (height, width), k, is_far);
        let costs = [(height, m / height), (m % height, 1)].map(|(height, count)| {
            let whole = cost(height, width) * (vectors / width);
            count * (whole + cost(height, vectors % width))
        });
        // If the contracted dimension is split, the first operand is copied, unless there are few tiles in a row.
        let is_cut = 2 * k > 3 * strip_bytes(target) / (width * target.vector_bits as usize / 8);
        let copies = if is_cut && vectors > 2 * width {
            10 * m * k
        } else {
            0
        };
        costs[0] + costs[1] + copies
    };
    let best = tiles.min_by_key(|&(height, width)| (cost(height, width), height + width));
    let (height, width) = best.unwrap_or((1, step));
    // A slightly lower tile that divides the rows avoids an edge tile.
    let left = m % height;
    let most = cost(height, width) + CODE * left * width;
    let mut lower = (height - height / 5..height).rev();
    let dividing =
        lower.find(|&rows| left > 0 && m.is_multiple_of(rows) && cost(rows, width) <= most);
    (dividing.unwrap_or(height) as u32, width as u32)
}

/// Returns the temporaries of a multiply-add of elements of `dtype`: integer products need one, unless VNNI accumulates
/// products of bytes.
fn temporaries(target: &TargetInfo, dtype: DType) -> usize {
    usize::from(!dtype.is_float() && !target.has_vnni)
}

/// Returns the registers of a tile: accumulators, the operand that is kept, and one that is streamed.
const fn registers_of(rows: usize, vectors: usize) -> usize {
    let kept = if rows < vectors { rows } else { vectors };
    rows * vectors + kept + 1
}

/// Returns the cost of a tile of `rows` rows of `vectors` vectors with `k` terms, in 1/32 cycles: the maximum of
/// multiply-adds, loads, L2 bandwidth if its strip `is_far`, and latency; plus the overhead of starting and ending it.
fn tile_cost(
    target: &TargetInfo,
    (rows, vectors): (usize, usize),
    k: usize,
    is_far: bool,
) -> usize {
    /// Latency of a multiply-add, with an allowance for port conflicts.
    const LATENCY: usize = 5;
    const LOAD_PORTS: usize = 2;
    /// L2 bandwidth in bytes per cycle.
    const L2_BYTES: usize = 24;
    const ENDS: usize = 24 * HALF;
    /// Cost units of half a cycle.
    const HALF: usize = 16;
    if rows == 0 || vectors == 0 {
        return 0;
    }
    let ports = target.fma_ports as usize;
    let work = (2 * rows * vectors).div_ceil(ports);
    let loads = (2 * (rows + vectors)).div_ceil(LOAD_PORTS);
    let bytes = vectors * target.vector_bits as usize / 8;
    let far = if is_far {
        (2 * bytes).div_ceil(L2_BYTES)
    } else {
        0
    };
    // Each row is a separate stream of loads, which slows tall tiles down; AVX2 does not have registers for those.
    let streams = if target.vector_registers > 16 {
        2 * rows
    } else {
        0
    };
    (work.max(loads).max(far).max(2 * LATENCY) * HALF + streams) * k + ENDS
}

#[cfg(test)]
mod tests {
    use mind_vir::target::Isa;

    use super::*;

    #[test]
    fn what_is_chosen_can_be_followed_for_any_extents() {
        let extents = [0, 1, 2, 5, 8, 17, 100, 4096, usize::MAX >> 16];
        for target in Isa::ALL.map(TargetInfo::of) {
            for &dtype in DType::ALL {
                let lanes = target.lanes(compute_lane(dtype).bits());
                for m in extents {
                    for (n, k) in [(0, 3), (1, 1), (9, 0), (33, 4096), (4096, 100)] {
                        for layout in [Rhs::Rows { k_stride: n }, Rhs::Columns { n_stride: k }] {
                            for is_constant in [false, true] {
                                let chosen = Schedule::choose(
                                    &target,
                                    dtype,
                                    (m, n, k),
                                    layout,
                                    is_constant,
                                );
                                let layout = chosen.packed.map_or(layout, Rhs::Panels);
                                assert_eq!(chosen.check(lanes, &layout), Ok(()), "{chosen:?}");
                                let again =
                                    Schedule::choose(&target, dtype, (m, n, k), layout, false);
                                assert_eq!(again.check(lanes, &layout), Ok(()), "{again:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_of_large_results_of_short_chains_have_few_rows() {
        let target = TargetInfo::of(Isa::Avx512);
        let tiles = |m, n, k| {
            let rows = Rhs::Rows { k_stride: n };
            let chosen = Schedule::choose(&target, DType::F32, (m, n, k), rows, false);
            chosen.mc / chosen.rows as usize
        };
        assert_eq!(tiles(2048, 2048, 128), 8);
        for (m, n, k) in [(2048, 2048, 256), (2048, 256, 128), (256, 8192, 128)] {
            assert!(tiles(m, n, k) > 8, "{m} x {k} by {k} x {n}");
        }
    }

    #[test]
    fn tiles_fill_the_registers_and_divide_the_extents() {
        let tile = |isa, m, n| {
            let target = TargetInfo::of(isa);
            best_tile(&target, 0, (m, n, 256), 1)
        };
        assert_eq!(tile(Isa::Avx2, 64, 8), (6, 2));
        assert_eq!(tile(Isa::Avx2, 8, 6), (4, 3));
        assert_eq!(tile(Isa::Avx2, 7, 2), (4, 2));
        // Strips of many columns keep the L2 cache busy, and if the contracted dimension is split the first operand is
        // copied.
        let of_long_chains = |m, n, k| best_tile(&TargetInfo::of(Isa::Avx2), 0, (m, n, k), 1);
        assert_eq!(of_long_chains(1330, 17, 581), (4, 3));
        assert_eq!(of_long_chains(367, 19, 893), (6, 2));
        // A product of integers takes a register before it is added.
        let target = TargetInfo::of(Isa::Avx2);
        let tile_of = |dtype| best_tile(&target, temporaries(&target, dtype), (512, 64, 256), 1);
        assert_eq!((tile_of(DType::F32), tile_of(DType::I32)), ((3, 4), (6, 2)));
        let (rows, vectors) = tile(Isa::Avx512, 1024, 64);
        assert!(rows * vectors >= 24, "{rows} rows of {vectors}");
        // Fewer rows are fewer streams of loads.
        assert_eq!(tile(Isa::Avx512, 1536, 64), (6, 4));
        // Small products have no edge tile if a slightly lower tile divides the rows.
        let of_few = |m, k| best_tile(&TargetInfo::of(Isa::Avx512), 0, (m, 1, k), 1);
        assert_eq!([of_few(2304, 16), of_few(2304, 256)], [(24, 1), (30, 1)]);
        assert_eq!(of_few(2305, 16), (30, 1));
    }
}
