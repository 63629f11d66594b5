//! Gathers of slices.
//!
//! The indexed dimensions are moved to the front of the tensor, and the index vectors to the end of the indices. If
//! slices have several elements along indexed dimensions, an index is made for each. The result is an index tuple for
//! each slice, as `GatherNd` takes them.

use mind_convert::Refusal;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::gather::GatherNd;
use mind_core::ops::index::{Gather, Slice};
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::Row;
use super::index::index;
use super::shape::iota;
use crate::import::emit::{Emit, One};
use crate::import::node::{Node, axis};
use crate::import::value::Extent;

pub(super) const ROWS: &[Row] = &[
    Row::one("stablehlo.gather", |n| {
        let sizes = n.ints(&["slice_sizes"])?;
        let sizes = sizes.into_iter().map(Extent::Known).collect();
        n.count(2)?;
        gather(n, sizes)
    }),
    Row::one("stablehlo.dynamic_gather", |n| {
        n.count(3)?;
        let sizes = n.extents_in(2)?;
        gather(n, sizes)
    }),
];

/// The index tuples of a gather or scatter, and the dimensions that they index.
pub(super) struct Indexed {
    /// The index tuples: all other dimensions, then the tuple.
    pub indices: ValueId,
    /// The dimensions of the tensor that each entry of a tuple indexes, batching dimensions first.
    pub axes: Vec<usize>,
}

/// Dimension numbers of a gather or scatter.
pub(super) struct Numbers {
    /// The dimensions of the result, or of the updates, that are slice dimensions.
    pub window: Vec<usize>,
    /// The dimensions of the tensor that slices do not keep.
    pub collapsed: Vec<usize>,
    /// The batching dimensions of the tensor.
    pub batch: Vec<usize>,
    pub index_batch: Vec<usize>,
    /// The dimension of the tensor that each entry of an index vector refers to.
    pub map: Vec<usize>,
    /// The dimension of the indices that holds the index vectors.
    pub vector: usize,
}

/// Returns the index tuples, with entries for the batching dimensions added in front.
pub(super) fn tuples(
    e: &mut Emit<'_>,
    indices: ValueId,
    numbers: &Numbers,
) -> Result<Indexed, Refusal> {
    let mut indices = index(e, indices)?;
    let rank = e.rank(indices);
    if numbers.vector == rank {
        indices = ExpandDims::with(&[rank as i64]).build(e, indices)?;
    } else {
        let others = (0..rank).filter(|&own| own != numbers.vector);
        let order: Vec<usize> = others.chain([numbers.vector]).collect();
        indices = e.transpose(indices, &order)?;
    }
    let rank = e.rank(indices);
    let of = e.dtype(indices);
    if e.dims(indices)[rank - 1] != Dim::Fixed(numbers.map.len() as i64) {
        let found = e.g().type_text(indices);
        let expected = format!(
            "{} indices in each tuple, as many as the index map has",
            numbers.map.len()
        );
        return Err(Refusal::extent("the type of the indices", found, expected));
    }
    if numbers.batch.len() != numbers.index_batch.len() {
        return Err(Refusal::parts(
            "the op",
            format_args!(
                "{} batching dimensions of the indices",
                numbers.index_batch.len()
            ),
            format_args!("{}, as many as of the operand", numbers.batch.len()),
        ));
    }
    let mut parts = Vec::new();
    for &own in &numbers.index_batch {
        // If the index vectors were in front of this dimension, it has moved by one.
        let own = if own > numbers.vector { own - 1 } else { own };
        let mut extents = e.extents_of(indices, 0..rank - 1)?;
        extents.push(Extent::Known(1));
        parts.push(iota(e, of, &extents, axis(own as i64, rank - 1)?)?);
    }
    if !numbers.map.is_empty() {
        parts.push(indices);
    }
    let axes = [&numbers.batch[..], &numbers.map[..]].concat();
    let mut seen = axes.clone();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        let found = format!("{axes:?}");
        return Err(Refusal::value(
            "the indexed dimensions".to_owned(),
            found,
            "each dimension once",
        ));
    }
    Ok(Indexed {
        indices: e.concat(&parts, rank - 1)?,
        axes,
    })
}

fn numbers(n: &Node<'_, '_, '_>, rank: usize, index_rank: usize) -> Result<Numbers, Refusal> {
    let fields = n.fields(&["dimension_numbers"])?;
    fields.check(&[
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim",
    ])?;
    let window = fields.ints("offset_dims")?;
    let window = window
        .into_iter()
        .map(|own| axis(own, mind_ir::types::MAX_RANK));
    Ok(Numbers {
        window: window.collect::<Result<_, _>>()?,
        collapsed: fields.axes("collapsed_slice_dims", rank)?,
        batch: fields.axes("operand_batching_dims", rank)?,
        index_batch: fields.axes("start_indices_batching_dims", index_rank)?,
        map: fields.axes("start_index_map", rank)?,
        vector: axis(fields.int("index_vector_dim")?, index_rank + 1)?,
    })
}

fn gather(n: &mut Node<'_, '_, '_>, sizes: Vec<Extent>) -> One {
    n.ignore(&["indices_are_sorted"]);
    let (x, indices) = (n.input(0)?, n.input(1)?);
    let rank = n.e.rank(x);
    if sizes.len() != rank {
        return Err(Refusal::length(
            "slice_sizes",
            sizes.len(),
            rank,
            "1 for each dimension of the operand",
        ));
    }
    let numbers = numbers(n, rank, n.e.rank(indices))?;
    let e = &mut n.e;
    let indexed = tuples(e, indices, &numbers)?;
    let x = cut(e, x, &sizes, &indexed.axes)?;
    let kept: Vec<usize> = (0..rank)
        .filter(|axis| !numbers.collapsed.contains(axis) && !numbers.batch.contains(axis))
        .collect();
    if kept.len() != numbers.window.len() {
        let reason = "1 for each dimension of a slice that is neither collapsed nor batching";
        return Err(Refusal::length(
            "offset_dims",
            numbers.window.len(),
            kept.len(),
            reason,
        ));
    }
    let outer = e.rank(indexed.indices) - 1;
    let order = result_order(outer, &numbers.window)?;
    if let Some(own) = along_one_axis(e, x, &indexed, &sizes, &kept, outer)? {
        return e.transpose(own, &order);
    }
    // Permutes slice dimensions from indexed ones first to their order in the tensor.
    let is_indexed = |axis: &usize| indexed.axes.contains(axis);
    let others: Vec<usize> = (0..rank).filter(|axis| !is_indexed(axis)).collect();
    let front = [&indexed.axes[..], &others[..]].concat();
    let moved = e.transpose(x, &front)?;
    let is_single = |axis: &usize| sizes[*axis] == Extent::Known(1);
    let own = if indexed.axes.iter().all(is_single) {
        let own = GatherNd::with().bounds(Bounds::Clamp);
        let own = own.build(e, moved, indexed.indices)?;
        let mut extents = e.extents_of(own, 0..outer)?;
        extents.extend(vec![Extent::Known(1); indexed.axes.len()]);
        extents.extend(e.extents_of(own, outer..e.rank(own))?);
        e.reshape_to(own, &extents)?
    } else {
        let extents: Vec<Extent> = indexed.axes.iter().map(|axis| sizes[*axis]).collect();
        let places = window_places(e, moved, indexed.indices, &extents)?;
        GatherNd::with().build(e, moved, places)?
    };
    // Collapsed dimensions have extent 1 and are removed by a reshape.
    let place = |axis: usize| front.iter().position(|own| *own == axis);
    let mut extents = e.extents_of(own, 0..outer)?;
    let mut permutation: Vec<usize> = (0..outer).collect();
    for axis in 0..rank {
        let at =
            outer + place(axis).expect("each dimension is among the leading or the remaining ones");
        permutation.push(at);
        if kept.contains(&axis) {
            extents.push(e.extent_of(own, at)?);
        }
    }
    let own = e.transpose(own, &permutation)?;
    let own = e.reshape_to(own, &extents)?;
    e.transpose(own, &order)
}

/// Returns the tensor, sliced from 0 along dimensions without an index of which slices take only a part.
fn cut(e: &mut Emit<'_>, x: ValueId, sizes: &[Extent], indexed: &[usize]) -> One {
    let dims = e.dims(x);
    let mut ends = Vec::with_capacity(dims.len());
    let mut is_whole = true;
    for (axis, (&dim, size)) in dims.iter().zip(sizes).enumerate() {
        let size = size.dim();
        let own = if indexed.contains(&axis) { dim } else { size };
        is_whole &= own == dim;
        ends.push(own.fixed());
    }
    if is_whole {
        return Ok(x);
    }
    let ends: Option<Vec<i64>> = ends.into_iter().collect();
    let ends = ends.ok_or_else(|| {
        let refusal = Refusal::not_constant("a dimension that is sliced".to_owned(), "is open");
        refusal.help("`--dim NAME=EXTENT` gives the extent")
    })?;
    let (starts, steps) = (vec![0; dims.len()], vec![1; dims.len()]);
    Ok(Slice::with(&starts, &ends, &steps).build(e, x)?)
}

/// Returns the permutation of the result: slice dimensions go to `window`, the others to the remaining positions.
pub(super) fn result_order(outer: usize, window: &[usize]) -> Result<Vec<usize>, Refusal> {
    let rank = outer + window.len();
    let (mut next_outer, mut order) = (0, Vec::with_capacity(rank));
    for at in 0..rank {
        match window.iter().position(|own| *own == at) {
            Some(own) => order.push(outer + own),
            None => {
                order.push(next_outer);
                next_outer += 1;
            }
        }
    }
    match next_outer == outer {
        true => Ok(order),
        false => Err(Refusal::value(
            "offset_dims",
            format_args!("{window:?}"),
            format_args!("dimensions of the result, whose rank is {rank}"),
        )),
    }
}

/// Imports a gather of whole slices along one axis, for which core has an op without tuples: the dimensions of the
/// indices, then the others.
fn along_one_axis(
    e: &mut Emit<'_>,
    x: ValueId,
    indexed: &Indexed,
    sizes: &[Extent],
    kept: &[usize],
    outer: usize,
) -> Result<Option<ValueId>, Refusal> {
    let &[axis] = &indexed.axes[..] else {
        return Ok(None);
    };
    if sizes[axis] != Extent::Known(1) || kept.contains(&axis) {
        return Ok(None);
    }
    let extents = e.extents_of(indexed.indices, 0..outer)?;
    let indices = e.reshape_to(indexed.indices, &extents)?;
    let gather = Gather::with().axis(axis as i64).bounds(Bounds::Clamp);
    let own = gather.build(e, x, indices)?;
    let rank = e.rank(own);
    let order = (axis..axis + outer)
        .chain(0..axis)
        .chain(axis + outer..rank);
    let order: Vec<usize> = order.collect();
    Ok(Some(e.transpose(own, &order)?))
}

/// Returns index tuples for each element of slices with these extents. Starts are clamped so that slices are in bounds.
/// The dimensions are those of the indices, those of slices, then the tuple.
fn window_places(e: &mut Emit<'_>, x: ValueId, indices: ValueId, extents: &[Extent]) -> One {
    let last = last_starts(e, x, extents, e.dtype(indices))?;
    let starts = e.apply_number(ScalarFn::Maximum, indices, 0.0)?;
    let starts = e.apply(ScalarFn::Minimum, &[starts, last])?;
    spread(e, starts, extents)
}

/// Returns the last tuple at which a slice with these extents is in bounds, in dtype `of`.
pub(super) fn last_starts(e: &mut Emit<'_>, x: ValueId, extents: &[Extent], of: DType) -> One {
    let whole = e.extents_of(x, 0..extents.len())?;
    let (whole, size) = (e.extent_list(&whole)?, e.extent_list(extents)?);
    let last = e.apply(ScalarFn::Sub, &[whole, size])?;
    e.convert(last, of)
}

/// Returns the start tuples plus the offset of each element of a slice.
pub(super) fn spread(e: &mut Emit<'_>, starts: ValueId, extents: &[Extent]) -> One {
    let (of, count) = (e.dtype(starts), extents.len());
    let outer = e.rank(starts) - 1;
    let between: Vec<i64> = (outer..outer + count).map(|own| own as i64).collect();
    let starts = ExpandDims::with(&between).build(e, starts)?;
    let mut parts = Vec::with_capacity(count);
    for own in 0..count {
        let mut shape = extents.to_vec();
        shape.push(Extent::Known(1));
        parts.push(iota(e, DType::I64, &shape, own)?);
    }
    let offsets = e.concat(&parts, count)?;
    let offsets = e.convert(offsets, of)?;
    e.apply(ScalarFn::Add, &[starts, offsets])
}
