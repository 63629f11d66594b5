//! Candidate schedules of a kernel.

use mind_ir::opdef::Op;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::ops::block::Block;
use mind_loops::ops::contract::Contract;
use mind_loops::ops::nest::{MAX_UNROLL, Nest};
use mind_loops::ops::window::Window;
use mind_vir::target::TargetInfo;

use super::kernel::Kernel;
use super::schedule::Schedule;

/// Limit on the candidates of a kernel.
pub const MOST_CANDIDATES: usize = 24;

/// Minimum number of multiply-adds of a product for which other cache block sizes are tried.
const WORTH_BLOCKS: usize = 1 << 18;

/// Limits on the elements and the multiply-adds of a kernel for which a single thread is tried. For larger kernels a
/// single thread wins only by noise, when other programs run during the measurement.
const SMALL: (usize, usize) = (1 << 15, 1 << 20);

/// Returns candidate schedules of a kernel. Each differs from the default in one attribute and those that depend on it.
///
/// The result depends on the kernel, the target and the number of threads only. The verifier or the code generator may
/// reject some candidates.
pub(super) fn candidates(kernel: &Kernel, target: &TargetInfo, threads: usize) -> Vec<Schedule> {
    let (g, op) = (&kernel.module, kernel.op);
    let own = &kernel.default;
    let all = if let Some(nest) = g.view::<Nest>(op) {
        of_nest(g, nest, own, threads)
    } else if let Some(contract) = g.view::<Contract>(op) {
        of_contract(kernel, contract, target, threads)
    } else if g.is::<Window>(op) {
        of_window(kernel, target, threads)
    } else {
        let mut all = Vec::new();
        if g.is::<Block>(op) {
            let rows = [8, 16, 32, 64, 128, 256, 512];
            all.extend(rows.map(|rows| own.with_int("rows", rows)));
        }
        all.extend(shared(kernel, &known(g, g.results(op).get(0)), threads));
        all
    };
    let mut kept: Vec<Schedule> = Vec::new();
    for candidate in all {
        if candidate != *own && !kept.contains(&candidate) && kept.len() < MOST_CANDIDATES {
            kept.push(candidate);
        }
    }
    kept
}

/// Returns whether a single thread may run a kernel faster than several.
fn is_small(g: &Graph, op: OpId) -> bool {
    let elements: usize = known(g, g.results(op).get(0)).iter().product();
    let right = || known(g, g.operands(op)[1]);
    let terms: usize = if g.is::<Contract>(op) {
        let right = right();
        right[right.len() - 2]
    } else if g.is::<Window>(op) {
        right()[..3].iter().product()
    } else {
        1
    };
    let (most, most_products) = SMALL;
    elements <= most && elements.saturating_mul(terms) <= most_products
}

/// Varies the dimension that is divided among threads: none for a small kernel, and each with an extent above 1.
fn shared(kernel: &Kernel, extents: &[usize], threads: usize) -> Vec<Schedule> {
    let own = &kernel.default;
    let single = (0..extents.len()).filter(|&axis| extents[axis] > 1);
    let mut all = Vec::new();
    if is_small(&kernel.module, kernel.op) {
        all.push(own.with_ints("parallel", &[]));
    }
    if threads > 1 {
        all.extend(single.map(|axis| own.with_ints("parallel", &[axis as i64])));
    }
    all
}

fn of_nest(g: &Graph, nest: Nest, own: &Schedule, threads: usize) -> Vec<Schedule> {
    let (dims, vector) = (nest.dims(g), nest.vector_axis(g));
    let reduced = nest.reduced(g);
    let rounds = [1, 2, 3, 4, 6, MAX_UNROLL];
    let mut all: Vec<Schedule> = rounds
        .into_iter()
        .map(|unroll| own.with_int("unroll", unroll))
        .collect();
    let tiled = |axis: usize, tile: i64| {
        let mut extents = dims.to_vec();
        extents[axis] = tile;
        own.with_ints("parallel", &[axis as i64])
            .with_ints("tile", &extents)
    };
    match nest.shared(g) {
        Some(axis) if Some(axis) == vector && reduced.is_some() => {
            let widths = [32, 64, 256, 512].into_iter();
            all.extend(widths.map(|columns| tiled(axis, columns)));
        }
        Some(axis) if Some(axis) == vector => {
            let share = (dims[axis] as usize).div_ceil(threads).next_multiple_of(64);
            let tiles = [1024, 2048, 4096, 16384, 32768, share as i64].into_iter();
            all.extend(
                tiles
                    .filter(|&tile| tile < dims[axis])
                    .map(|tile| tiled(axis, tile)),
            );
        }
        Some(_) | None => {}
    }
    if is_small(g, nest.id()) {
        all.push(own.with_ints("parallel", &[]).with_ints("tile", dims));
    }
    let others = (0..dims.len()).filter(|&axis| dims[axis] > 1);
    let others = others.filter(|&axis| Some(axis) != reduced && Some(axis) != vector);
    all.extend(others.map(|axis| tiled(axis, 1)));
    if let Some(reduced) = reduced
        && reduced + 2 == dims.len()
    {
        let axes = [reduced, reduced + 1].into_iter();
        all.extend(axes.map(|axis| {
            own.with_int("vector", axis as i64)
                .with_ints("parallel", &[])
                .with_ints("tile", dims)
        }));
    }
    all
}

/// Returns the rows and vectors of register tiles that fill the registers, those with the highest arithmetic intensity
/// first.
fn tiles(target: &TargetInfo, rows: usize, vectors: usize) -> Vec<[i64; 2]> {
    const MOST: usize = 9;
    let registers = target.vector_registers as usize;
    let fits = |height: usize, width: usize| height * width + height.min(width) < registers;
    let mut tiles: Vec<(usize, usize)> = Vec::new();
    for width in 1..=vectors.clamp(1, 8) {
        let Some(most) = (1..=rows.min(registers))
            .rev()
            .find(|&height| fits(height, width))
        else {
            continue;
        };
        // Rows are divided evenly among the same number of tiles, so that there is no small edge tile.
        let even = rows.div_ceil(rows.div_ceil(most));
        for height in [most, even] {
            if !tiles.contains(&(height, width)) {
                tiles.push((height, width));
            }
        }
    }
    // Multiply-adds per load, in thousandths.
    let intensity = |(height, width): (usize, usize)| 1000 * height * width / (height + width);
    tiles.sort_by_key(|&tile| (usize::MAX - intensity(tile), tile));
    tiles.truncate(MOST);
    let numbers = tiles.into_iter();
    numbers
        .map(|(height, width)| [height as i64, width as i64])
        .collect()
}

/// Returns the vectors per row of `columns` elements, for a product whose first operand is `value`.
fn vectors(g: &Graph, value: ValueId, target: &TargetInfo, columns: usize) -> usize {
    // Narrower types are computed in 32-bit lanes.
    let bits = 8 * g.ty(value).dtype.size().max(4) as u32;
    columns.div_ceil(target.lanes(bits).max(1) as usize)
}

fn of_contract(
    kernel: &Kernel,
    contract: Contract,
    target: &TargetInfo,
    threads: usize,
) -> Vec<Schedule> {
    let (g, own) = (&kernel.module, &kernel.default);
    let inputs = contract.inputs(g);
    let (left, right) = (known(g, inputs[0]), known(g, inputs[1]));
    let (&[m, k], n) = (
        left.last_chunk::<2>().expect("rows and terms"),
        right[right.len() - 1],
    );
    let mut all = Vec::new();
    if !kernel.shares_panels {
        let tiles = tiles(target, m, vectors(g, inputs[0], target, n));
        all.extend(tiles.iter().map(|tile| own.with_ints("micro", tile)));
    }
    let extents = known(g, g.results(contract.id()).get(0));
    all.extend(shared(kernel, &extents, threads));
    if m.saturating_mul(n).saturating_mul(k) >= WORTH_BLOCKS {
        let blocks = [
            (2, k, [128, 256, 512, 1024, k]),
            (0, m, [32, 64, 128, 256, m]),
            (1, n, [128, 256, 512, 2048, n]),
        ];
        for (at, extent, sizes) in blocks {
            // A block of the whole dimension may still differ from the target's default.
            for size in sizes
                .into_iter()
                .filter(|&size| size < extent || size == sizes[4])
            {
                let mut block = [0; 3];
                block[at] = size as i64;
                all.push(own.with_ints("block", &block));
            }
        }
    }
    all
}

fn of_window(kernel: &Kernel, target: &TargetInfo, threads: usize) -> Vec<Schedule> {
    let (g, op, own) = (&kernel.module, kernel.op, &kernel.default);
    let output = known(g, g.results(op).get(0));
    let &[_, lines, positions, filters] = &output[..] else {
        return Vec::new();
    };
    let mut all = Vec::new();
    if !kernel.shares_panels {
        let vectors = vectors(g, g.operands(op)[0], target, filters);
        let tiles = tiles(target, positions, vectors);
        all.extend(tiles.iter().map(|tile| own.with_ints("micro", tile)));
    }
    let counts = [1, 2, 4, 8, 16, 32, lines].into_iter();
    all.extend(
        counts
            .filter(|&count| count <= lines)
            .map(|count| own.with_int("lines", count as i64)),
    );
    all.extend(shared(kernel, &output, threads));
    all
}

#[cfg(test)]
mod tests {
    use mind_vir::target::Isa;

    use super::*;

    #[test]
    fn tiles_fill_the_registers_and_divide_the_rows() {
        let target = TargetInfo::of(Isa::Avx2);
        let all = tiles(&target, 64, 8);
        assert!(all.contains(&[6, 2]) && all.contains(&[4, 3]), "{all:?}");
        assert!(tiles(&target, 8, 4).contains(&[4, 3]));
        assert_eq!(tiles(&target, 1, 1), [[1, 1]]);
    }
}
