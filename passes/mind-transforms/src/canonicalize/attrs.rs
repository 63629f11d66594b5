//! Canonical forms of attributes: axes are counted from the front and sorted, and defaults are explicit.

use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::convolution::{Conv, ConvTranspose, SumType};
use mind_core::ops::cumulative::Cumulative;
use mind_core::ops::data::Unique;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::gather::GatherElements;
use mind_core::ops::index::{Gather, Slice};
use mind_core::ops::join::{Concat, Split};
use mind_core::ops::normalize::Softmax;
use mind_core::ops::pad::PadOp;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::sample::Resize;
use mind_core::ops::scatter::ScatterElements;
use mind_core::ops::shape::{
    ExpandDims, Reshape, Reverse, Squeeze, Transpose, effective_permutation,
};
use mind_core::ops::sort::{Sort, TopK};
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_ir::OpId;
use mind_ir::attr::{Attr, AttrKind, OPEN_END};
use mind_ir::graph::Graph;
use mind_ir::opdef::{AttrDef, Op, OpDef};
use mind_ir::types::{Dim, Shape};
use mind_rewrite::{MatchFailure, RewritePattern, Rewriter};

use super::declare::patterns;

patterns! {
    /// Lists of axes are counted from the front. They are sorted unless another list is parallel to them.
    SortAxes = "sort-axes" on [Sum, Mean, Max, Min, Prod, Squeeze, ExpandDims, Reverse, Resize] => sort_axes;

    /// A single axis is counted from the front.
    PositiveAxis = "positive-axis" on [
        Softmax, Cumulative, ArgMax, ArgMin, Sort, TopK, Unique, ExtentOf, Gather, GatherElements, ScatterElements,
        Concat, Split, Quantize, Dequantize, Iota, DynamicIota
    ] => positive_axis;

    /// The axes of a product are counted from the front, and a dtype equal to that of the operands is written `same`.
    ListedAxes = "listed-axes" on [DotGeneral] => listed_axes;

    /// A reversing transpose has an explicit permutation.
    ExplicitPermutation = "explicit-permutation" on [Transpose] => explicit_permutation;

    /// A slice of known extents has explicit ends.
    ExplicitEnds = "explicit-ends" on [Slice] => explicit_ends;

    /// All lists of a window have an entry for each dimension.
    ExplicitWindow = "explicit-window" on [
        Conv, ConvTranspose, ReduceWindow, ArgMaxWindow, PadOp
    ] => explicit_window;

    /// The open extent of a target shape is -1, as in all text formats.
    OpenExtent = "open-extent" on [
        Reshape, BroadcastTo, DynamicReshape, DynamicBroadcastTo, DynamicIota
    ] => open_extent;
}

const CANONICAL: MatchFailure = MatchFailure("the attribute is canonical already");

fn position(def: &OpDef, name: &str) -> Result<usize, MatchFailure> {
    def.attr_index(name)
        .ok_or(MatchFailure("the op has no such attribute"))
}

fn sort_axes(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let sorted = sorted_axes(rw, op).ok_or(CANONICAL)?;
    let index = position(rw.def(op), "axes")?;
    rw.set_attr(op, index, Attr::Ints(&sorted));
    Ok(())
}

/// Returns the axes of an op, counted from the front and, unless their sizes are in a parallel list, sorted; `None` if
/// they are canonical.
fn sorted_axes(g: &Graph, op: OpId) -> Option<Vec<i64>> {
    let Attr::Ints(axes) = g.attr(op, g.def(op).attr_index("axes")?) else {
        return None;
    };
    let rank = g.ty(g.operands(op)[0]).rank() as i64;
    let from_front = |&axis: &i64| if axis < 0 { axis + rank } else { axis };
    let mut sorted: Vec<i64> = axes.iter().map(from_front).collect();
    if !g.is::<Resize>(op) {
        sorted.sort_unstable();
    }
    (sorted != axes).then_some(sorted)
}

fn positive_axis(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let axis = axis_from_front(rw, op).ok_or(CANONICAL)?;
    let index = position(rw.def(op), "axis")?;
    rw.set_attr(op, index, Attr::Int(axis));
    Ok(())
}

/// Returns the axis of an op, counted from the front; `None` if it is canonical.
fn axis_from_front(g: &Graph, op: OpId) -> Option<i64> {
    let def = g.def(op);
    let Attr::Int(axis @ ..0) = g.attr(op, def.attr_index("axis")?) else {
        return None;
    };
    let shape = def.attr_index("shape").map(|index| g.attr(op, index));
    let rank = match shape {
        Some(Attr::Dims(shape)) => shape.len(),
        _ => g.ty(g.operands(op)[0]).rank(),
    };
    // A tensor of rank 0 has one scale for any axis.
    Some((axis + rank as i64).max(0))
}

fn listed_axes(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let product = DotGeneral::from_id(op);
    let [lhs, rhs] = [product.lhs(rw), product.rhs(rw)].map(|value| rw.ty(value).rank() as i64);
    let lists = [
        ("lhs_batch", product.lhs_batch(rw), lhs),
        ("lhs_contract", product.lhs_contract(rw), lhs),
        ("rhs_batch", product.rhs_batch(rw), rhs),
        ("rhs_contract", product.rhs_contract(rw), rhs),
    ];
    let from_front = lists.map(|(name, list, rank)| {
        let list: Vec<i64> = list
            .iter()
            .map(|&axis| axis.rem_euclid(rank.max(1)))
            .collect();
        (name, list)
    });
    let named = product.dtype(rw).dtype();
    let is_own = named == Some(rw.ty(product.lhs(rw)).dtype);
    let is_canonical = from_front
        .iter()
        .zip(lists)
        .all(|(own, old)| own.1 == old.1);
    if is_canonical && !is_own {
        return Err(CANONICAL);
    }
    for (name, list) in from_front {
        rw.set_attr(op, position(DotGeneral::DEF, name)?, Attr::Ints(&list));
    }
    if is_own {
        let same = Attr::Word(SumType::Same.name());
        rw.set_attr(op, position(DotGeneral::DEF, "dtype")?, same);
    }
    Ok(())
}

fn explicit_permutation(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let transpose = Transpose::from_id(op);
    let rank = rw.ty(transpose.input(rw)).rank();
    if rank == 0 || !transpose.permutation(rw).is_empty() {
        return Err(CANONICAL);
    }
    let permutation = effective_permutation(&[], rank);
    rw.set_attr(
        op,
        position(Transpose::DEF, "permutation")?,
        Attr::Ints(&permutation),
    );
    Ok(())
}

fn explicit_ends(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let named = named_ends(rw, op).ok_or(CANONICAL)?;
    rw.set_attr(op, position(Slice::DEF, "ends")?, Attr::Ints(&named));
    Ok(())
}

/// Returns the ends of a slice, explicit along known extents; `None` if they are canonical.
fn named_ends(g: &Graph, op: OpId) -> Option<Vec<i64>> {
    let slice = Slice::from_id(op);
    let (ends, shape) = (slice.ends(g), g.ty(slice.input(g)).shape);
    let named = ends
        .iter()
        .zip(shape)
        .map(|(&end, dim)| match (end, dim.fixed()) {
            (OPEN_END, Some(extent)) => extent,
            _ => end,
        });
    let named: Vec<i64> = named.collect();
    (named != ends).then_some(named)
}

fn explicit_window(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let input = *rw.operands(op).first().ok_or(CANONICAL)?;
    let rank = rw.ty(input).rank();
    let is_conv = rw.is::<Conv>(op) || rw.is::<ConvTranspose>(op);
    let dimensions = if is_conv { rank - 2 } else { rank };
    let attrs = rw.def(op).attrs.iter().enumerate();
    let empty = attrs.filter(|&(index, _)| matches!(rw.attr(op, index), Attr::Ints([])));
    let written: Vec<(usize, Vec<i64>)> = empty
        .map(|(index, attr)| match attr.name {
            "strides" | "dilations" => (index, vec![1; dimensions]),
            "pads" => (index, vec![0; 2 * dimensions]),
            _ => (index, vec![0; dimensions]),
        })
        .filter(|(_, list)| !list.is_empty())
        .collect();
    if written.is_empty() {
        return Err(CANONICAL);
    }
    for (index, list) in written {
        rw.set_attr(op, index, Attr::Ints(&list));
    }
    Ok(())
}

/// Canonicalises axes and the ends of slices in a module that was rewritten by rules.
pub(crate) fn canonical_axes(g: &mut Graph) {
    let ops: Vec<OpId> = g.walk().collect();
    for op in ops {
        let def = g.def(op);
        if g.is::<Slice>(op)
            && let (Some(ends), Some(index)) = (named_ends(g, op), def.attr_index("ends"))
        {
            g.set_attr(op, index, Attr::Ints(&ends));
        }
        if SortAxes.roots().iter().any(|own| std::ptr::eq(*own, def))
            && let (Some(axes), Some(index)) = (sorted_axes(g, op), def.attr_index("axes"))
        {
            g.set_attr(op, index, Attr::Ints(&axes));
        }
        if PositiveAxis
            .roots()
            .iter()
            .any(|own| std::ptr::eq(*own, def))
            && let (Some(axis), Some(index)) = (axis_from_front(g, op), def.attr_index("axis"))
        {
            g.set_attr(op, index, Attr::Int(axis));
        }
    }
}

fn open_extent(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let dims = |attr: &AttrDef| matches!(attr.kind, AttrKind::Dims);
    let index = rw.def(op).attrs.iter().position(dims).ok_or(CANONICAL)?;
    let Attr::Dims(target) = rw.attr(op, index) else {
        return Err(CANONICAL);
    };
    let written = target.iter().map(|&dim| match dim {
        Dim::Dynamic => Dim::Fixed(-1),
        Dim::Fixed(_) | Dim::Symbol(_) => dim,
    });
    let written: Shape = written.collect();
    if written[..] == *target {
        return Err(CANONICAL);
    }
    rw.set_attr(op, index, Attr::Dims(&written));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the roots of `pattern` are exactly the ops of core for which `has` is true.
    fn assert_roots(pattern: &dyn RewritePattern, has: impl Fn(&OpDef) -> bool) {
        let all = mind_core::DIALECT.ops.iter().filter(|def| has(def));
        let expected: Vec<&str> = all.map(|def| def.name).collect();
        let mut found: Vec<&str> = pattern.roots().iter().map(|def| def.name).collect();
        found.sort_by_key(|name| expected.iter().position(|own| own == name));
        assert_eq!(found, expected);
    }

    /// Axes are counted from the front in every op with an axis attribute.
    #[test]
    fn every_axis_is_canonical() {
        assert_roots(&SortAxes, |def| def.attr_index("axes").is_some());
        assert_roots(&PositiveAxis, |def| def.attr_index("axis").is_some());
    }

    /// Open extents are canonical in every op with operands and a shape attribute.
    #[test]
    fn every_open_extent_is_canonical() {
        assert_roots(&OpenExtent, |def| {
            let is_shape = |attr: &AttrDef| matches!(attr.kind, AttrKind::Dims);
            def.attrs.iter().any(is_shape) && def.all_operands().next().is_some()
        });
    }
}
