//! Kernels of a unit made one where one reads what the other writes.
//!
//! A nest takes in the nests that it reads position by position, row by row where one of the two has a
//! reduced dimension and the other lacks it; a product takes the nests that read it as its epilogue.

use rustc_hash::FxHashSet;

use crate::kernel::{Kernel, Kind, Node, Operand, Output};
use crate::place::{Place, Source};
use crate::unit::Unit;

/// How the positions of a reader stand to those of what it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    /// They are the same.
    Same,
    /// The reader's lack the dimension that the other reduces along.
    ReaderIsRow,
    /// The other's lack the reader's last dimension.
    SourceIsRow,
}

/// Merges the kernels of a unit as far as they fit; `yielded` are the places that outlive it.
pub(crate) fn merge(unit: &mut Unit, yielded: &mut [Place]) {
    let kernels = std::mem::take(&mut unit.kernels);
    let mut kernels: Vec<Option<Kernel>> = kernels.into_iter().map(Some).collect();
    for reader in 0..kernels.len() {
        let mut refused = Vec::new();
        while let Some((source, relation)) = producer_of(&kernels, reader, &refused) {
            if !take_in(&mut kernels, source, reader, relation, yielded) {
                refused.push(source);
            }
        }
    }
    renumber(unit, kernels, yielded);
}

/// The numbers of the kernels that `kernel` reads.
fn sources(kernel: &Kernel) -> impl Iterator<Item = usize> + '_ {
    kernel
        .operands
        .iter()
        .filter_map(|operand| match operand.place.source {
            Source::Kernel { kernel, .. } => Some(kernel),
            Source::Value(_) => None,
        })
}

/// A kernel that the one at `reader` can take in, the latest first.
fn producer_of(
    kernels: &[Option<Kernel>],
    reader: usize,
    refused: &[usize],
) -> Option<(usize, Relation)> {
    let own = kernels[reader].as_ref()?;
    let mut candidates: Vec<usize> = sources(own)
        .filter(|source| !refused.contains(source))
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
    candidates.into_iter().rev().find_map(|source| {
        let relation = relate(kernels[source].as_ref()?, own, source)?;
        is_last_link(kernels, source, reader).then_some((source, relation))
    })
}

/// Whether no kernel between the two reads the first, so that the two can run where the second stands.
fn is_last_link(kernels: &[Option<Kernel>], source: usize, reader: usize) -> bool {
    let between = kernels[source + 1..reader].iter().flatten();
    between
        .into_iter()
        .all(|kernel| sources(kernel).all(|read| read != source))
}

/// How `reader` stands to `source`, if it can take it in.
fn relate(source: &Kernel, reader: &Kernel, number: usize) -> Option<Relation> {
    if !matches!(reader.kind, Kind::Nest { .. }) || reader.outputs.is_empty() {
        return None;
    }
    let reads = |operand: &&Operand| matches!(operand.place.source, Source::Kernel { kernel, .. } if kernel == number);
    let relation = match source.kind {
        Kind::Contract(_) | Kind::Window(_) => {
            let squeezed: Vec<usize> = source
                .dims
                .iter()
                .copied()
                .filter(|&extent| extent != 1)
                .collect();
            (reader.along().is_none() && squeezed == reader.dims).then_some(Relation::Same)?
        }
        Kind::Nest { .. } => relate_nests(source, reader)?,
        _ => return None,
    };
    let fits = |operand: &Operand| reads_in_place(source, reader, operand, relation);
    reader
        .operands
        .iter()
        .filter(reads)
        .all(fits)
        .then_some(relation)
}

fn relate_nests(source: &Kernel, reader: &Kernel) -> Option<Relation> {
    let last = |kernel: &Kernel| {
        kernel
            .along()
            .is_none_or(|axis| axis + 1 == kernel.dims.len())
    };
    if source.dims == reader.dims {
        let columns = !last(reader) && source.along().is_none();
        return (columns || last(source) && last(reader)).then_some(Relation::Same);
    }
    if let Some(axis) = source.along() {
        let mut kept = source.dims.clone();
        kept.remove(axis);
        if kept == reader.dims && reader.along().is_none() {
            return Some(Relation::ReaderIsRow);
        }
    }
    let (_, rows) = reader.dims.split_last()?;
    let is_row = source.along().is_none() && source.dims == rows && last(reader);
    is_row.then_some(Relation::SourceIsRow)
}

/// Whether `operand` of `reader` is what `source` computes at the same position.
fn reads_in_place(source: &Kernel, reader: &Kernel, operand: &Operand, relation: Relation) -> bool {
    let Source::Kernel { result, .. } = operand.place.source else {
        return false;
    };
    let written = source.extents(result);
    let is_full = written.len() == source.dims.len();
    let whole = Place::whole(operand.place.source, written);
    let spread = |axis: usize, extent: usize| {
        let mut spread = whole.with_unit(axis);
        spread.extents[axis] = extent;
        spread
    };
    let (is_nest, last) = (matches!(source.kind, Kind::Nest { .. }), reader.dims.len());
    let expected = match relation {
        Relation::Same if is_full && operand.is_row => return false,
        Relation::Same if is_full && is_nest => whole,
        Relation::Same if is_full => whole.squeezed(),
        Relation::ReaderIsRow if is_full => return false,
        _ if operand.is_row || relation == Relation::ReaderIsRow => whole,
        Relation::Same => {
            let axis = source.along().unwrap_or(0);
            spread(axis, source.dims[axis])
        }
        Relation::SourceIsRow | Relation::ReaderIsRow => spread(last - 1, reader.dims[last - 1]),
    };
    operand.place.sees_same(&expected)
}

/// Puts both kernels, as one, where `reader` stands; whether they fit. They do not where a result would lose
/// the reduced dimension, or gain it.
fn take_in(
    kernels: &mut [Option<Kernel>],
    source: usize,
    reader: usize,
    relation: Relation,
    yielded: &mut [Place],
) -> bool {
    let (Some(first), Some(second)) = (kernels[source].take(), kernels[reader].take()) else {
        return false;
    };
    let reads = |place: &Place| match place.source {
        Source::Kernel { kernel, result } if kernel == source => Some(result),
        _ => None,
    };
    let mut merged = base(&first, &second, relation);
    let mut nodes = Vec::with_capacity(second.body.len());
    for node in &second.body {
        let node = match node {
            Node::Operand(index) => match reads(&second.operands[*index].place) {
                Some(result) => {
                    nodes.push(first.outputs[result].node);
                    continue;
                }
                None => operand(&mut merged, &first, &second, *index, relation),
            },
            other => other.mapped(|arg| nodes[arg]),
        };
        nodes.push(merged.body.len());
        merged.body.push(node);
    }
    let mut results = Vec::with_capacity(second.outputs.len());
    let mut kept = Vec::with_capacity(first.outputs.len());
    let outlives = |result: usize, kernels: &[Option<Kernel>], yielded: &[Place]| {
        let wanted = Source::Kernel {
            kernel: source,
            result,
        };
        let mut readers = kernels.iter().flatten().flat_map(|kernel| &kernel.operands);
        readers.any(|operand| operand.place.source == wanted)
            || yielded.iter().any(|place| place.source == wanted)
    };
    merged.outputs.clear();
    for (result, &output) in first.outputs.iter().enumerate() {
        let outlives = outlives(result, kernels, yielded);
        kept.push(outlives.then_some(merged.outputs.len()));
        merged.outputs.extend(outlives.then_some(output));
    }
    for output in &second.outputs {
        results.push(merged.outputs.len());
        merged.outputs.push(Output {
            node: nodes[output.node],
            dtype: output.dtype,
        });
    }
    if !keeps_extents(&merged, [&first, &second], &kept, &results) {
        (kernels[source], kernels[reader]) = (Some(first), Some(second));
        return false;
    }
    let redirect = |place: &mut Place| {
        if let Source::Kernel { kernel, result } = &mut place.source {
            if *kernel == source {
                (*kernel, *result) = (
                    reader,
                    kept[*result].expect("a result that is read is kept"),
                );
            } else if *kernel == reader {
                *result = results[*result];
            }
        }
    };
    let operands = kernels
        .iter_mut()
        .flatten()
        .flat_map(|kernel| &mut kernel.operands);
    operands.for_each(|operand| redirect(&mut operand.place));
    yielded.iter_mut().for_each(redirect);
    kernels[reader] = Some(merged);
    true
}

/// Whether each output has as many elements as before, given its number in the merged kernel, and none varies
/// along a reduced dimension that is not the last.
fn keeps_extents(
    merged: &Kernel,
    [first, second]: [&Kernel; 2],
    kept: &[Option<usize>],
    results: &[usize],
) -> bool {
    let uniform = merged.uniform();
    let last = merged
        .along()
        .is_none_or(|axis| axis + 1 == merged.dims.len());
    if !last && merged.outputs.iter().any(|output| !uniform[output.node]) {
        return false;
    }
    let count = |kernel: &Kernel, output: usize| kernel.extents(output).iter().product::<usize>();
    let same = |kernel: &Kernel, own: usize, new: usize| count(kernel, own) == count(merged, new);
    let mut olds = kept.iter().enumerate();
    let mut news = results.iter().enumerate();
    olds.all(|(own, new)| new.is_none_or(|new| same(first, own, new)))
        && news.all(|(own, &new)| same(second, own, new))
}

/// The merged kernel with what comes from `first` alone.
fn base(first: &Kernel, second: &Kernel, relation: Relation) -> Kernel {
    let mut merged = first.clone();
    merged.origin = second.origin;
    match relation {
        Relation::Same => {
            if let (Kind::Nest { along }, None) = (second.kind.clone(), first.along())
                && matches!(first.kind, Kind::Nest { .. })
            {
                merged.kind = Kind::Nest { along };
            }
        }
        Relation::ReaderIsRow => {}
        Relation::SourceIsRow => {
            merged.kind = Kind::Nest {
                along: Some(second.dims.len() - 1),
            };
            merged.dims.clone_from(&second.dims);
            merged
                .operands
                .iter_mut()
                .for_each(|operand| operand.is_row = true);
        }
    }
    merged
}

/// The node for operand `index` of `second` in the merged kernel.
fn operand(
    merged: &mut Kernel,
    first: &Kernel,
    second: &Kernel,
    index: usize,
    relation: Relation,
) -> Node {
    let mut own = second.operands[index].clone();
    match relation {
        Relation::ReaderIsRow => own.is_row = true,
        Relation::Same if !matches!(first.kind, Kind::Nest { .. }) => {
            own.place = own.place.unsqueezed(&first.dims);
        }
        Relation::Same | Relation::SourceIsRow => {}
    }
    let known = merged.operands.iter().position(|operand| *operand == own);
    let at = known.filter(|&at| at > 1 || matches!(first.kind, Kind::Nest { .. }));
    Node::Operand(at.unwrap_or_else(|| {
        merged.operands.push(own);
        merged.operands.len() - 1
    }))
}

/// Closes the gaps that taken-in kernels left, and drops those that nothing reads.
fn renumber(unit: &mut Unit, mut kernels: Vec<Option<Kernel>>, yielded: &mut [Place]) {
    let mut needed: FxHashSet<usize> = FxHashSet::default();
    let number = |place: &Place| match place.source {
        Source::Kernel { kernel, .. } => Some(kernel),
        Source::Value(_) => None,
    };
    needed.extend(yielded.iter().filter_map(number));
    for at in (0..kernels.len()).rev() {
        match &kernels[at] {
            Some(kernel) if needed.contains(&at) => needed.extend(sources(kernel)),
            _ => kernels[at] = None,
        }
    }
    let mut numbers = vec![0; kernels.len()];
    for (at, kernel) in kernels.into_iter().enumerate() {
        numbers[at] = unit.kernels.len();
        unit.kernels.extend(kernel);
    }
    let renumbered = |place: &mut Place| {
        if let Source::Kernel { kernel, .. } = &mut place.source {
            *kernel = numbers[*kernel];
        }
    };
    let operands = unit
        .kernels
        .iter_mut()
        .flat_map(|kernel| &mut kernel.operands);
    operands.for_each(|operand| renumbered(&mut operand.place));
    yielded.iter_mut().for_each(renumbered);
}
