//! A product, a nest over its rows and another product, as one kernel that works on a few rows at a time.
//!
//! Attention is such a chain. What stands between the products is as long as the sequence is, squared, and
//! is never whole this way.

use crate::kernel::{Kernel, Kind};
use crate::place::{Place, Source};
use crate::unit::Unit;

/// Makes blocks of the chains of a unit; `yielded` are the places that outlive it.
pub(crate) fn form(unit: &mut Unit, yielded: &mut [Place]) {
    let mut at = 0;
    while at + 2 < unit.kernels.len() {
        if is_chain(&unit.kernels, at, yielded) {
            let chain: Vec<Kernel> = unit.kernels.drain(at..at + 3).collect();
            unit.kernels.insert(at, block(chain, at));
            let shift = |place: &mut Place| {
                if let Source::Kernel { kernel, .. } = &mut place.source
                    && *kernel >= at + 2
                {
                    *kernel -= 2;
                }
            };
            let later = unit.kernels[at + 1..].iter_mut();
            let operands = later.flat_map(|kernel| &mut kernel.operands);
            operands.for_each(|operand| shift(&mut operand.place));
            yielded.iter_mut().for_each(shift);
        }
        at += 1;
    }
}

/// The kernels of a chain, its own places counting from 0; those before keep their numbers.
fn block(mut chain: Vec<Kernel>, first: usize) -> Kernel {
    let operands = chain.iter().flat_map(|kernel| &kernel.operands);
    let inner = |place: &Place| match place.source {
        Source::Kernel { kernel, .. } => kernel >= first,
        Source::Value(_) => false,
    };
    let outer = operands
        .filter(|operand| !inner(&operand.place))
        .cloned()
        .collect();
    for operand in chain.iter_mut().flat_map(|kernel| &mut kernel.operands) {
        if inner(&operand.place)
            && let Source::Kernel { kernel, .. } = &mut operand.place.source
        {
            *kernel = INNER + *kernel - first;
        }
    }
    let last = &chain[2];
    Kernel {
        dims: last.dims.clone(),
        operands: outer,
        body: Vec::new(),
        outputs: last.outputs.clone(),
        origin: last.origin,
        kind: Kind::Block(chain),
    }
}

/// What the numbers of the kernels inside a block count from.
pub(crate) const INNER: usize = usize::MAX / 2;

/// Whether the kernels at `at` and behind it are a product, a nest that reduces its rows, and a product that
/// has the nest's result on the left, and nothing else reads what stands between.
fn is_chain(kernels: &[Kernel], at: usize, yielded: &[Place]) -> bool {
    let [scores, rows, values] = &kernels[at..at + 3] else {
        return false;
    };
    let (Kind::Contract(first), Kind::Contract(second)) = (&scores.kind, &values.kind) else {
        return false;
    };
    let plain = [first.rows, first.columns, second.rows, second.columns] == [1; 4];
    let squeezed: Vec<usize> = scores
        .dims
        .iter()
        .copied()
        .filter(|&extent| extent != 1)
        .collect();
    let reduces = rows.along().is_some_and(|axis| axis + 1 == rows.dims.len());
    if !plain || first.batch != second.batch || !reduces || rows.dims != squeezed {
        return false;
    }
    let [scored, weighted] = [at, at + 1].map(|kernel| Source::Kernel { kernel, result: 0 });
    let reads = |kernel: &Kernel, source: Source| {
        let operands = kernel
            .operands
            .iter()
            .filter(|operand| operand.place.source == source);
        operands.count()
    };
    let alone = [scored, weighted].iter().all(|&source| {
        let readers: usize = kernels.iter().map(|kernel| reads(kernel, source)).sum();
        readers == 1 && yielded.iter().all(|place| place.source != source)
    });
    let whole = |source, extents: &[usize]| Place::whole(source, extents.to_vec());
    let score = rows
        .operands
        .iter()
        .find(|operand| operand.place.source == scored);
    let in_place = score.is_some_and(|operand| {
        !operand.is_row && operand.place.sees_same(&whole(scored, &rows.dims))
    });
    let left = &values.operands[0].place;
    let weights_in_place = left.extents == scores.dims
        && left.sees_same(
            &whole(weighted, &rows.dims)
                .squeezed()
                .unsqueezed(&scores.dims),
        );
    alone && in_place && weights_in_place && scores.outputs.len() == 1 && rows.outputs.len() == 1
}
