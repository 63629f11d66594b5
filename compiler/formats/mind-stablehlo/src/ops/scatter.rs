//! Scatters of slices.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::compare::Direction;
use mind_core::ops::reduce::Min;
use mind_core::ops::scatter::{ScatterNd, Update};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::Row;
use super::body::{Combiner, expressions, unknown_region};
use super::gather::{Numbers, last_starts, spread, tuples};
use crate::import::emit::{Emit, One};
use crate::import::node::{Node, axis};
use crate::import::value::Extent;

pub(super) const ROWS: &[Row] = &[Row::one("stablehlo.scatter", scatter)];

/// Returns how updates are combined with elements.
fn update(n: &Node<'_, '_, '_>, of: DType) -> Result<Update, Refusal> {
    let block = n.region(0)?;
    if expressions(n, block).as_deref() == Some(&["a1".to_owned()]) {
        return Ok(Update::Replace);
    }
    match Combiner::of(n, block, of) {
        Some(Combiner::Sum) => Ok(Update::Add),
        Some(Combiner::Prod) => Ok(Update::Mul),
        Some(Combiner::Min) => Ok(Update::Min),
        Some(Combiner::Max) => Ok(Update::Max),
        None => Err(unknown_region(
            n,
            "the new element, or a sum, product, maximum or minimum",
        )),
    }
}

fn numbers(n: &Node<'_, '_, '_>, rank: usize, index_rank: usize) -> Result<Numbers, Refusal> {
    let fields = n.fields(&["scatter_dimension_numbers"])?;
    fields.check(&[
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
        "index_vector_dim",
    ])?;
    let window = fields.ints("update_window_dims")?;
    let window = window
        .into_iter()
        .map(|own| axis(own, mind_ir::types::MAX_RANK));
    Ok(Numbers {
        window: window.collect::<Result<_, _>>()?,
        collapsed: fields.axes("inserted_window_dims", rank)?,
        batch: fields.axes("input_batching_dims", rank)?,
        index_batch: fields.axes("scatter_indices_batching_dims", index_rank)?,
        map: fields.axes("scatter_dims_to_operand_dims", rank)?,
        vector: axis(fields.int("index_vector_dim")?, index_rank + 1)?,
    })
}

/// Imports a scatter. As in XLA, slices that are partly out of bounds are skipped.
fn scatter(n: &mut Node<'_, '_, '_>) -> One {
    n.ignore(&["indices_are_sorted", "unique_indices"]);
    if n.inputs.len() != 3 {
        return Err(Refusal::operands(
            n.inputs.len(),
            "3 (a tensor, indices and updates)",
        ));
    }
    let (x, indices, updates) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let of = n.e.dtype(x);
    let (kind, rank) = (update(n, of)?, n.e.rank(x));
    let numbers = numbers(n, rank, n.e.rank(indices))?;
    let e = &mut n.e;
    let mut indexed = tuples(e, indices, &numbers)?;
    let kept: Vec<usize> = (0..rank)
        .filter(|axis| !numbers.collapsed.contains(axis) && !numbers.batch.contains(axis))
        .collect();
    let update_rank = e.rank(updates);
    let is_window = |own: &usize| numbers.window.contains(own);
    let outer: Vec<usize> = (0..update_rank).filter(|own| !is_window(own)).collect();
    let fits = kept.len() == numbers.window.len()
        && outer.len() + 1 == e.rank(indexed.indices)
        && outer.len() + numbers.window.len() == update_rank;
    if !fits {
        let expected = format!(
            "{} (that of {} and {} window dimensions)",
            e.rank(indexed.indices) - 1 + kept.len(),
            e.g().type_text(indexed.indices),
            kept.len()
        );
        return Err(Refusal::rank(
            "the operand of updates".to_owned(),
            e.g().type_text(updates),
            expected,
        ));
    }
    // The slice extents along the dimensions of the tensor, and the dimension of the updates that has each.
    let mut sizes = vec![Extent::Known(1); rank];
    let mut from = vec![None; rank];
    for (&axis, &at) in kept.iter().zip(&numbers.window) {
        sizes[axis] = e.extent_of(updates, at)?;
        from[axis] = Some(at);
    }
    for (axis, &size) in sizes.iter().enumerate() {
        let is_whole = size == e.extent_of(x, axis)?;
        if !is_whole && !indexed.axes.contains(&axis) {
            indexed.indices = with_zeros(e, indexed.indices)?;
            indexed.axes.push(axis);
        }
    }
    let others = (0..rank).filter(|axis| !indexed.axes.contains(axis));
    let front: Vec<usize> = indexed.axes.iter().copied().chain(others).collect();
    let data = e.permute(x, &front)?;
    let order = outer.iter().copied();
    let order: Vec<usize> = order
        .chain(front.iter().filter_map(|axis| from[*axis]))
        .collect();
    let mut updates = e.permute(updates, &order)?;
    let is_single = |axis: &usize| sizes[*axis] == Extent::Known(1);
    let (places, extents) = if indexed.axes.iter().all(is_single) {
        (indexed.indices, Vec::new())
    } else {
        let extents: Vec<Extent> = indexed.axes.iter().map(|axis| sizes[*axis]).collect();
        let places = inside(e, data, indexed.indices, &extents)?;
        (places, extents)
    };
    let mut shape = e.extents_of(updates, 0..outer.len())?;
    shape.extend(&extents);
    shape.extend(front[indexed.axes.len()..].iter().map(|axis| sizes[*axis]));
    updates = e.reshape_extents(updates, &shape)?;
    let op = ScatterNd::with().kind(kind).bounds(Bounds::Skip);
    let own = if of == DType::Bool && kind != Update::Replace {
        let [data, updates] = [e.convert(data, DType::U8)?, e.convert(updates, DType::U8)?];
        let own = op.build(e, data, places, updates)?;
        e.convert(own, of)?
    } else {
        op.build(e, data, places, updates)?
    };
    let back = (0..rank).map(|axis| front.iter().position(|own| *own == axis));
    let back: Vec<usize> = back.flatten().collect();
    e.permute(own, &back)
}

/// Appends a 0 to each tuple, for a dimension in which slices start at 0.
fn with_zeros(e: &mut Emit<'_>, indices: ValueId) -> One {
    let last = e.rank(indices) - 1;
    let mut extents = e.extents_of(indices, 0..last)?;
    extents.push(Extent::Known(1));
    let zero = e.number(e.dtype(indices), 0.0);
    let zeros = super::shape::stretched(e, zero, &[], &extents)?;
    e.concat(&[indices, zeros], last)
}

/// Returns tuples for each element of slices with these extents. Those of slices that are partly out of bounds become
/// out of bounds.
fn inside(e: &mut Emit<'_>, x: ValueId, indices: ValueId, extents: &[Extent]) -> One {
    let of = e.dtype(indices);
    let last = last_starts(e, x, extents, of)?;
    let zero = e.number(of, 0.0);
    let after = e.compare(Direction::Ge, indices, zero)?;
    let before = e.compare(Direction::Le, indices, last)?;
    let each = e.apply(ScalarFn::And, &[after, before])?;
    let tuple = [e.rank(each) as i64 - 1];
    let all = Min::with().axes(&tuple).keepdims(true).build(e, each)?;
    // Far enough below 0 that every element of the slice is out of bounds.
    let outside = e.number(of, f64::from(i32::MIN / 2));
    let starts = e.apply(ScalarFn::Select, &[all, indices, outside])?;
    spread(e, starts, extents)
}
