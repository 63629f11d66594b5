//! Recipes that draw operands and attributes for each kind of op.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::constant;
use mind_core::ops::contract::{Dot, MatMul};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::conv::Conv2d;
use mind_core::ops::convert::Bitcast;
use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::cumulative::{Accumulation, Cumulative};
use mind_core::ops::data::{NonMaxSuppression, NonZero, Unique};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_core::ops::elementwise::{Add, Div, Mod, Remainder};
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::{Gather, Index, Slice};
use mind_core::ops::input::Input;
use mind_core::ops::join::{Concat, Split};
use mind_core::ops::normalize::{LayerNorm, Softmax};
use mind_core::ops::pad::{PadMode, PadOp};
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::sample::{GridSample, Resize};
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_core::ops::shape::{ExpandDims, Reshape, Reverse, Squeeze, Transpose};
use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_core::ops::sort::{Sort, TopK};
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_ir::ValueId;
use mind_ir::attr::{Attr, AttrKind, OPEN_END};
use mind_ir::opdef::{AttrDef, Op, OpDef, OperandClass, Trait};
use mind_ir::types::{DType, Dim, TensorType};

use crate::control;
use crate::generator::Generator;
use crate::products::{
    block_matmul, cholesky, dequantize, dot_general, quantize, triangular_solve,
};
use crate::shape::{axes, partner, regrouped, small};
use crate::shaped;
use crate::windows::{argmax_window, conv2d, convolution, grid_sample, reduce_window, resize};

type Recipe = fn(&mut Generator<'_>) -> Option<ValueId>;

/// Ops that compute and are not elementwise. A recipe for a sequence of ops is listed under the last one.
static COMPUTING: &[(&OpDef, Recipe)] = &[
    (Sum::DEF, |draw| reduction(draw, Sum::DEF)),
    (Mean::DEF, |draw| reduction(draw, Mean::DEF)),
    (Max::DEF, |draw| reduction(draw, Max::DEF)),
    (Min::DEF, |draw| reduction(draw, Min::DEF)),
    (Prod::DEF, |draw| reduction(draw, Prod::DEF)),
    (ArgMax::DEF, |draw| place(draw, ArgMax::DEF)),
    (ArgMin::DEF, |draw| place(draw, ArgMin::DEF)),
    (ReduceWindow::DEF, reduce_window),
    (ArgMaxWindow::DEF, argmax_window),
    (Resize::DEF, resize),
    (GridSample::DEF, grid_sample),
    (Sort::DEF, sort),
    (TopK::DEF, top_k),
    (ScatterElements::DEF, scatter_elements),
    (ScatterNd::DEF, scatter_nd),
    (Cumulative::DEF, cumulative),
    (MatMul::DEF, matmul),
    (MatMul::DEF, attention),
    (Dot::DEF, dot),
    (DotGeneral::DEF, dot_general),
    (BlockMatMul::DEF, block_matmul),
    (Cholesky::DEF, cholesky),
    (TriangularSolve::DEF, triangular_solve),
    (Quantize::DEF, quantize),
    (Dequantize::DEF, dequantize),
    (Conv2d::DEF, conv2d),
    (Conv::DEF, |draw| convolution(draw, Conv::DEF)),
    (ConvTranspose::DEF, |draw| {
        convolution(draw, ConvTranspose::DEF)
    }),
    (Softmax::DEF, softmax),
    (LayerNorm::DEF, |draw| {
        let input = draw.value(OperandClass::Float);
        draw.op(LayerNorm::DEF, &[input], &LayerNorm::attrs())
    }),
    (If::DEF, control::branch),
    (While::DEF, control::repeat),
    (Scan::DEF, control::scan),
];

/// Ops that move elements.
static MOVING: &[(&OpDef, Recipe)] = &[
    (Transpose::DEF, transpose),
    (Reshape::DEF, reshape),
    (ExpandDims::DEF, expand_dims),
    (Squeeze::DEF, squeeze),
    (Reverse::DEF, |draw| {
        let input = draw.value(OperandClass::Any);
        let axes = axes(&mut draw.rng, draw.graph.ty(input).rank());
        draw.op(Reverse::DEF, &[input], &Reverse::attrs(&axes))
    }),
    (PadOp::DEF, pad),
    (BroadcastTo::DEF, broadcast_to),
    (Iota::DEF, iota),
    (ExtentOf::DEF, dim),
    (Bitcast::DEF, bitcast),
    (Slice::DEF, slice),
    (Index::DEF, index),
    (Gather::DEF, gather),
    (DynamicSlice::DEF, dynamic_slice),
    (DynamicUpdateSlice::DEF, dynamic_update_slice),
    (DynamicReshape::DEF, shaped::reshape),
    (DynamicBroadcastTo::DEF, shaped::broadcast),
    (DynamicIota::DEF, shaped::iota),
    (GatherElements::DEF, gather_elements),
    (GatherNd::DEF, gather_nd),
    (NonZero::DEF, nonzero),
    (Unique::DEF, unique),
    (NonMaxSuppression::DEF, suppression),
    (Concat::DEF, concat),
    (Concat::DEF, rotate),
    (Split::DEF, split),
];

/// Returns whether modules may contain `def`.
pub fn covered(def: &OpDef) -> bool {
    let is = |own: &&OpDef| std::ptr::eq(*own, def);
    let leaf = is(&Input::DEF) || constant::OPS.iter().any(|own| is(&&**own));
    let mut recipes = COMPUTING.iter().chain(MOVING);
    leaf || def.has(Trait::Elementwise) || recipes.any(|(own, _)| is(own))
}

/// Appends one or a few ops; moving and elementwise ops are equally likely. Returns false if the drawn op does not fit.
pub(crate) fn draw(draw: &mut Generator<'_>) -> bool {
    let elementwise = || {
        mind_core::ops::OPS
            .iter()
            .filter(|def| def.has(Trait::Elementwise))
    };
    let made = match draw.rng.below(5) {
        0 | 1 => {
            let all: Vec<&'static OpDef> = elementwise().copied().collect();
            let def = draw.rng.pick(&all);
            pointwise(draw, def)
        }
        2 | 3 => {
            let (_, recipe) = draw.rng.pick(MOVING);
            recipe(draw)
        }
        _ => {
            let (_, recipe) = draw.rng.pick(COMPUTING);
            recipe(draw)
        }
    };
    made.is_some()
}

fn pointwise(draw: &mut Generator<'_>, def: &'static OpDef) -> Option<ValueId> {
    let class = def.operands.last()?.class;
    let first = draw.value(class);
    let ty = draw.graph.ty(first).to_owned();
    let attrs: Vec<Attr<'static>> = def.attrs.iter().map(|row| any_attr(draw, row)).collect();
    let quotients = [Div::DEF, Mod::DEF, Remainder::DEF];
    let is_quotient = quotients.iter().any(|own| std::ptr::eq(*own, def));
    let mut operands = Vec::with_capacity(def.operands.len());
    for (index, operand) in def.operands.iter().enumerate() {
        let dtype = match operand.class {
            OperandClass::Bool => DType::Bool,
            _ if operands.is_empty() => {
                operands.push(first);
                continue;
            }
            _ => ty.dtype,
        };
        let mut shape = partner(&mut draw.rng, &ty.shape);
        for dim in &mut shape {
            // Two data-dependent extents rarely agree.
            if *dim == Dim::Dynamic {
                *dim = Dim::Fixed(1);
            }
        }
        let other = TensorType::new(dtype, shape);
        operands.push(match (is_quotient && index > 0, dtype.is_float()) {
            // A computed integer divisor may be 0.
            (true, false) if other.view().count().is_none() => return None,
            (true, false) => draw.constant(&other, true),
            _ if dtype == ty.dtype && draw.rng.once_in(8) => first,
            _ => draw.value_of(&other),
        });
    }
    if def.operands.len() == 2 && !is_quotient && draw.rng.once_in(3) {
        operands.reverse();
    }
    draw.op(def, &operands, &attrs)
}

/// Draws a value of an attribute of an elementwise op.
fn any_attr(draw: &mut Generator<'_>, row: &AttrDef) -> Attr<'static> {
    match row.kind {
        AttrKind::Word(words) => Attr::Word(draw.rng.pick(words)),
        AttrKind::ElementType => Attr::DType(draw.dtype()),
        kind => row
            .default
            .unwrap_or_else(|| panic!("no value of {kind:?} for `{}`", row.name)),
    }
}

fn reduction(draw: &mut Generator<'_>, def: &'static OpDef) -> Option<ValueId> {
    let input = draw.value(def.operands[0].class);
    let ty = draw.graph.ty(input);
    if std::ptr::eq(def, Mean::DEF) && !ty.dtype.is_float() && ty.count() == Some(0) {
        // The mean of no integers is undefined.
        return None;
    }
    let axes = axes(&mut draw.rng, draw.graph.ty(input).rank());
    let keepdims = draw.rng.once_in(2);
    draw.op(def, &[input], &Sum::attrs(&axes, keepdims))
}

fn place(draw: &mut Generator<'_>, def: &'static OpDef) -> Option<ValueId> {
    let input = draw.value(OperandClass::Num);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len()) as i64;
    let (keepdims, last) = (draw.rng.once_in(2), draw.rng.once_in(3));
    draw.op(def, &[input], &ArgMax::attrs(axis, keepdims, last))
}

fn sort(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len()) as i64;
    let descending = draw.rng.once_in(2);
    draw.op(Sort::DEF, &[input], &Sort::attrs(axis, descending))
}

fn top_k(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len());
    let k = draw.rng.below(extents[axis] as usize + 1) as i64;
    let attrs = TopK::attrs(k, axis as i64, draw.rng.once_in(2));
    draw.op(TopK::DEF, &[input], &attrs)
}

/// Draws the update function of a scatter of `dtype`.
fn update(draw: &mut Generator<'_>, dtype: DType) -> Update {
    match dtype {
        DType::Bool => Update::Replace,
        _ => draw.rng.pick(Update::ALL),
    }
}

fn nonzero(draw: &mut Generator<'_>) -> Option<ValueId> {
    draw.decides_extents().then_some(())?;
    let input = draw.value(OperandClass::Any);
    draw.op(NonZero::DEF, &[input], &NonZero::attrs())
}

fn unique(draw: &mut Generator<'_>) -> Option<ValueId> {
    draw.decides_extents().then_some(())?;
    let input = draw.value(OperandClass::Any);
    let rank = draw.graph.ty(input).rank();
    let flat = rank == 0 || draw.rng.once_in(2);
    let axis = draw.rng.below(rank.max(1)) as i64;
    let attrs = Unique::attrs(flat, axis, draw.rng.once_in(2));
    draw.op(Unique::DEF, &[input], &attrs)
}

fn suppression(draw: &mut Generator<'_>) -> Option<ValueId> {
    draw.decides_extents().then_some(())?;
    let ty = |shape: &[i64]| TensorType::fixed(DType::F32, shape);
    let boxes = draw.value_of(&ty(&[2, 5, 4]));
    let scores = draw.value_of(&ty(&[2, 3, 5]));
    let max = draw.value_of(&TensorType::fixed(DType::I64, &[]));
    let [iou, score] = [(); 2].map(|()| draw.value_of(&ty(&[])));
    let attrs = NonMaxSuppression::attrs(draw.rng.once_in(2));
    let operands = [boxes, scores, max, iou, score];
    draw.op(NonMaxSuppression::DEF, &operands, &attrs)
}

fn scatter_elements(draw: &mut Generator<'_>) -> Option<ValueId> {
    let data = draw.value(OperandClass::Any);
    let dtype = draw.graph.ty(data).dtype;
    let extents = small(draw.graph.ty(data)).filter(|extents| !extents.is_empty())?;
    if extents.contains(&0) {
        return None;
    }
    let axis = draw.rng.below(extents.len());
    let mut shape: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
    shape[axis] = draw.rng.pick(&[0, 1, 2, 5]);
    let indices = draw.indices(&shape, extents[axis]);
    let extents: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    let updates = draw.value_of(&TensorType::fixed(dtype, &extents));
    let (kind, bounds) = (update(draw, dtype), draw.rng.pick(Bounds::ALL));
    let attrs = ScatterElements::attrs(axis as i64, kind, bounds);
    draw.op(ScatterElements::DEF, &[data, indices, updates], &attrs)
}

fn scatter_nd(draw: &mut Generator<'_>) -> Option<ValueId> {
    let data = draw.value(OperandClass::Any);
    let dtype = draw.graph.ty(data).dtype;
    let extents = small(draw.graph.ty(data)).filter(|extents| !extents.is_empty())?;
    if extents.contains(&0) {
        return None;
    }
    let length = 1 + draw.rng.below(extents.len());
    let least = extents[..length].iter().copied().min()?;
    let indices = draw.indices(&[3, length], least);
    let shape: Vec<i64> = std::iter::once(3)
        .chain(extents[length..].iter().copied())
        .collect();
    let updates = draw.value_of(&TensorType::fixed(dtype, &shape));
    let attrs = ScatterNd::attrs(update(draw, dtype), draw.rng.pick(Bounds::ALL));
    draw.op(ScatterNd::DEF, &[data, indices, updates], &attrs)
}

fn cumulative(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Num);
    let rank = draw.graph.ty(input).rank();
    if rank == 0 {
        return None;
    }
    let axis = draw.rng.below(rank) as i64;
    let kind = draw.rng.pick(Accumulation::ALL);
    let (exclusive, reverse) = (draw.rng.once_in(2), draw.rng.once_in(2));
    let attrs = Cumulative::attrs(axis, kind, exclusive, reverse);
    draw.op(Cumulative::DEF, &[input], &attrs)
}

fn transpose(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let mut permutation: Vec<i64> = (0..draw.graph.ty(input).rank() as i64).collect();
    draw.rng.shuffle(&mut permutation);
    if draw.rng.once_in(4) {
        permutation.clear();
    }
    draw.op(Transpose::DEF, &[input], &Transpose::attrs(&permutation))
}

fn reshape(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input))?;
    let target = regrouped(&mut draw.rng, &extents);
    let mut target: Vec<Dim> = target.into_iter().map(Dim::Fixed).collect();
    if !target.is_empty() && draw.rng.once_in(4) {
        let open = draw.rng.below(target.len());
        target[open] = Dim::Dynamic;
    }
    draw.op(Reshape::DEF, &[input], &Reshape::attrs(&target))
}

fn expand_dims(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let rank = draw.graph.ty(input).rank();
    let axis = draw.rng.below(rank + 1) as i64;
    draw.op(ExpandDims::DEF, &[input], &ExpandDims::attrs(&[axis]))
}

fn squeeze(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let shape = draw.graph.ty(input).shape.iter().enumerate();
    let ones = shape.filter(|(_, dim)| dim.fixed() == Some(1));
    let ones: Vec<i64> = ones.map(|(axis, _)| axis as i64).collect();
    let axes: &[i64] = match ones.len() {
        0 => return None,
        _ if draw.rng.once_in(2) => &ones,
        _ => &ones[..1],
    };
    draw.op(Squeeze::DEF, &[input], &Squeeze::attrs(axes))
}

/// Pads a value along every axis, also by negative amounts.
fn pad(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let ty = draw.graph.ty(input).to_owned();
    let extents = small(ty.view())?;
    let mode = draw.rng.pick(PadMode::ALL);
    let is_constant = mode == PadMode::Constant;
    let (mut low, mut high, mut interior) = (Vec::new(), Vec::new(), Vec::new());
    for &extent in &extents {
        let amounts: &[i64] = match (is_constant, extent) {
            (true, 2..) => &[0, 0, 1, 3, -1],
            (true, _) => &[0, 0, 1, 2],
            (false, 0) => &[0],
            (false, _) => &[0, 0, 1, 4],
        };
        low.push(draw.rng.pick(amounts));
        high.push(draw.rng.pick(amounts));
        let between: &[i64] = if is_constant { &[0, 0, 1, 2] } else { &[0] };
        interior.push(draw.rng.pick(between));
    }
    let mut operands = vec![input];
    if is_constant && draw.rng.once_in(2) {
        operands.push(draw.value_of(&TensorType::fixed(ty.dtype, &[])));
    }
    let attrs = PadOp::attrs(&low, &high, &interior, mode);
    draw.op(PadOp::DEF, &operands, &attrs)
}

/// Broadcasts a value to a compatible shape.
fn broadcast_to(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let mut shape: Vec<Dim> = draw.graph.ty(input).shape.to_vec();
    for dim in &mut shape {
        if *dim == Dim::Fixed(1) {
            *dim = Dim::Fixed(draw.rng.pick(&[0, 1, 2, 3]));
        }
    }
    if draw.rng.once_in(2) {
        shape.insert(0, Dim::Fixed(draw.rng.pick(&[1, 2, 3])));
    }
    draw.op(BroadcastTo::DEF, &[input], &BroadcastTo::attrs(&shape))
}

fn iota(draw: &mut Generator<'_>) -> Option<ValueId> {
    let like = draw.value(OperandClass::Any);
    let ty = draw.graph.ty(like).to_owned();
    if ty.shape.is_empty() {
        return None;
    }
    let axis = draw.rng.below(ty.shape.len()) as i64;
    draw.op(Iota::DEF, &[], &Iota::attrs(ty.dtype, &ty.shape, axis))
}

fn dim(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let rank = draw.graph.ty(input).rank();
    if rank == 0 {
        return None;
    }
    let axis = draw.rng.below(rank) as i64;
    draw.op(ExtentOf::DEF, &[input], &ExtentOf::attrs(axis))
}

/// Draws a bitcast of integers only, because the bits of a computed NaN are unspecified.
fn bitcast(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Bits);
    let dtype = draw.dtype();
    let ty = draw.graph.ty(input).to_owned();
    let ratio = (dtype.size() / ty.dtype.size()) as i64;
    let fits = ratio < 2 || ty.shape.last() == Some(&Dim::Fixed(ratio));
    if !fits || (dtype == DType::Bool && ty.dtype != DType::Bool) {
        return None;
    }
    draw.op(Bitcast::DEF, &[input], &Bitcast::attrs(dtype))
}

fn slice(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input))?;
    let (mut starts, mut ends, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for extent in extents {
        let start = draw.rng.below(extent.max(1) as usize) as i64;
        let rest = extent - start;
        // Sometimes the range is empty.
        let end = if rest == 0 || draw.rng.once_in(16) {
            start
        } else {
            start + 1 + draw.rng.below(rest as usize) as i64
        };
        let open = draw.rng.once_in(3);
        starts.push(if draw.rng.once_in(2) { 0 } else { start });
        ends.push(if open { OPEN_END } else { end });
        steps.push(draw.rng.pick(&[1, 1, 2]));
    }
    let attrs = Slice::attrs(&starts, &ends, &steps);
    draw.op(Slice::DEF, &[input], &attrs)
}

fn index(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.contains(&0))?;
    let at = extents
        .iter()
        .map(|&extent| draw.rng.below(extent as usize) as i64);
    let at: Vec<i64> = at.collect();
    draw.op(Index::DEF, &[input], &Index::attrs(&at))
}

fn gather(draw: &mut Generator<'_>) -> Option<ValueId> {
    let data = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(data)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len());
    let shape = match extents[axis] {
        0 => &[2, 0][..],
        _ => draw.rng.pick(&[&[][..], &[1usize], &[3], &[2, 2], &[0]]),
    };
    let mut indices = draw.indices(shape, extents[axis]);
    if let &[count] = shape
        && draw.rng.once_in(3)
    {
        let first = [draw.rng.below(count + 1) as i64];
        let attrs = Slice::attrs(&first, &[OPEN_END], &[1]);
        indices = draw.op(Slice::DEF, &[indices], &attrs)?;
    }
    let bounds = if draw.rng.once_in(4) {
        draw.rng.pick(Bounds::ALL)
    } else {
        Bounds::Strict
    };
    let attrs = Gather::attrs(axis as i64, bounds);
    draw.op(Gather::DEF, &[data, indices], &attrs)
}

/// Draws the start of a window of each size: in bounds if they are checked, arbitrary if it is clamped.
fn starts(draw: &mut Generator<'_>, own: &[i64], sizes: &[i64], bounds: Bounds) -> Vec<ValueId> {
    let mut starts = Vec::with_capacity(own.len());
    for (extent, size) in own.iter().zip(sizes) {
        starts.push(match bounds {
            Bounds::Clamp => draw.value_of(&TensorType::fixed(DType::I32, &[])),
            Bounds::Strict | Bounds::FromEnd | Bounds::Skip => draw.indices(&[], extent - size + 1),
        });
    }
    starts
}

fn dynamic_slice(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let bounds = draw
        .rng
        .pick(&[Bounds::Clamp, Bounds::Strict, Bounds::FromEnd]);
    let size = |draw: &mut Generator<'_>, extent: i64| draw.rng.below(extent as usize + 1) as i64;
    let sizes: Vec<i64> = extents.iter().map(|&extent| size(draw, extent)).collect();
    let mut operands = vec![input];
    operands.extend(starts(draw, &extents, &sizes, bounds));
    draw.op(
        DynamicSlice::DEF,
        &operands,
        &DynamicSlice::attrs(&sizes, bounds),
    )
}

fn dynamic_update_slice(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let dtype = draw.graph.ty(input).dtype;
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let bounds = draw
        .rng
        .pick(&[Bounds::Clamp, Bounds::Strict, Bounds::FromEnd]);
    let size = |draw: &mut Generator<'_>, extent: i64| draw.rng.below(extent as usize + 1) as i64;
    let sizes: Vec<i64> = extents.iter().map(|&extent| size(draw, extent)).collect();
    let mut operands = vec![input, draw.value_of(&TensorType::fixed(dtype, &sizes))];
    operands.extend(starts(draw, &extents, &sizes, bounds));
    let attrs = DynamicUpdateSlice::attrs(bounds);
    draw.op(DynamicUpdateSlice::DEF, &operands, &attrs)
}

fn gather_elements(draw: &mut Generator<'_>) -> Option<ValueId> {
    let data = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(data)).filter(|extents| !extents.is_empty())?;
    if extents.contains(&0) {
        return None;
    }
    let axis = draw.rng.below(extents.len());
    let mut shape: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
    shape[axis] = draw.rng.pick(&[0, 1, 2, 5]);
    let indices = draw.indices(&shape, extents[axis]);
    let bounds = draw.rng.pick(Bounds::ALL);
    let attrs = GatherElements::attrs(axis as i64, bounds);
    draw.op(GatherElements::DEF, &[data, indices], &attrs)
}

fn gather_nd(draw: &mut Generator<'_>) -> Option<ValueId> {
    let data = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(data)).filter(|extents| !extents.is_empty())?;
    if extents.contains(&0) {
        return None;
    }
    let length = 1 + draw.rng.below(extents.len());
    let least = extents[..length].iter().copied().min()?;
    let indices = draw.indices(&[3, length], least);
    let bounds = draw.rng.pick(Bounds::ALL);
    draw.op(GatherNd::DEF, &[data, indices], &GatherNd::attrs(0, bounds))
}

fn concat(draw: &mut Generator<'_>) -> Option<ValueId> {
    let first = draw.value(OperandClass::Any);
    let ty = draw.graph.ty(first).to_owned();
    let extents = small(ty.view()).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len());
    let mut operands = vec![first];
    for _ in 0..draw.rng.below(3) {
        let mut extents = extents.clone();
        if draw.rng.once_in(2) {
            extents[axis] = draw.rng.pick(&[1, 1, 2, 3]);
        }
        operands.push(draw.value_of(&TensorType::fixed(ty.dtype, &extents)));
    }
    draw.rng.shuffle(&mut operands);
    draw.op(Concat::DEF, &operands, &Concat::attrs(axis as i64))
}

/// Draws a concatenation of slices of a value in another order.
fn rotate(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len());
    let middle = draw.rng.below(extents[axis] as usize + 1) as i64;
    let mut part = |start: i64, end: i64| {
        let (mut starts, mut ends) = (vec![0; extents.len()], vec![OPEN_END; extents.len()]);
        (starts[axis], ends[axis]) = (start, end);
        let steps = vec![1; extents.len()];
        let attrs = Slice::attrs(&starts, &ends, &steps);
        draw.op(Slice::DEF, &[input], &attrs)
    };
    let [front, back] = [part(0, middle)?, part(middle, OPEN_END)?];
    let mut operands = vec![back, front];
    if draw.rng.once_in(3) {
        operands.push(input);
    }
    draw.op(Concat::DEF, &operands, &Concat::attrs(axis as i64))
}

fn split(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len());
    let divides = |&count: &i64| extents[axis] % count == 0;
    let counts: Vec<i64> = (1..=extents[axis].max(3)).filter(divides).collect();
    let count = draw.rng.pick(&counts);
    let part = draw.rng.below(count as usize) as i64;
    draw.op(
        Split::DEF,
        &[input],
        &Split::attrs(axis as i64, count, part),
    )
}

fn matmul(draw: &mut Generator<'_>) -> Option<ValueId> {
    let lhs = draw.value(OperandClass::Num);
    let ty = draw.graph.ty(lhs).to_owned();
    let (batch, matrix) = ty.shape.split_at(ty.shape.len().checked_sub(2)?);
    let columns = Dim::Fixed(draw.rng.pick(&[1, 2, 5, 8]));
    let mut shape = partner(&mut draw.rng, batch);
    shape.extend([matrix[1], columns]);
    let rhs = draw.value_of(&TensorType::new(ty.dtype, shape));
    draw.op(MatMul::DEF, &[lhs, rhs], &MatMul::attrs())
}

/// Draws attention: products with a softmax between them, with broadcast batches and extents that may be 1.
fn attention(draw: &mut Generator<'_>) -> Option<ValueId> {
    let given = draw.value(OperandClass::Float);
    let dtype = draw.graph.ty(given).dtype;
    let stack: Vec<Dim> = (0..draw.rng.below(3))
        .map(|_| Dim::Fixed(draw.rng.pick(&[1, 2, 3])))
        .collect();
    let [rows, features, keys, width] = [(); 4].map(|()| {
        let long = draw.rng.once_in(4);
        Dim::Fixed(
            draw.rng
                .pick(if long { &[12, 17, 0] } else { &[1, 1, 2, 5] }),
        )
    });
    let mut operand = |matrix: [Dim; 2]| {
        let mut shape = partner(&mut draw.rng, &stack);
        shape.extend(matrix);
        draw.value_of(&TensorType::new(dtype, shape))
    };
    let operands = [
        operand([rows, features]),
        operand([features, keys]),
        operand([keys, width]),
    ];
    let mut scores = draw.op(MatMul::DEF, &operands[..2], &MatMul::attrs())?;
    if draw.rng.once_in(2) {
        let shape = partner(&mut draw.rng, &[rows, keys]);
        let mask = draw.value_of(&TensorType::new(dtype, shape));
        scores = draw.op(Add::DEF, &[scores, mask], &Add::attrs())?;
    }
    let last = draw.graph.ty(scores).rank() as i64 - 1;
    let weights = draw.op(Softmax::DEF, &[scores], &Softmax::attrs(last))?;
    draw.op(MatMul::DEF, &[weights, operands[2]], &MatMul::attrs())
}

fn dot(draw: &mut Generator<'_>) -> Option<ValueId> {
    let lhs = draw.value(OperandClass::Num);
    let ty = draw.graph.ty(lhs).to_owned();
    let inner = *ty.shape.last().filter(|_| ty.shape.len() <= 2)?;
    let shape = if draw.rng.once_in(2) {
        vec![inner]
    } else {
        vec![inner, Dim::Fixed(draw.rng.pick(&[1, 3, 4]))]
    };
    let rhs = draw.value_of(&TensorType::new(ty.dtype, shape));
    draw.op(Dot::DEF, &[lhs, rhs], &Dot::attrs())
}

fn softmax(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Float);
    let rank = draw.graph.ty(input).rank();
    if rank == 0 {
        return None;
    }
    let axis = draw.rng.below(rank) as i64;
    draw.op(Softmax::DEF, &[input], &Softmax::attrs(axis))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Config, module};

    #[test]
    fn every_op_and_dtype_is_drawn() {
        let (mut ops, mut dtypes) = (BTreeSet::new(), BTreeSet::new());
        for seed in 0..1500 {
            let g = module(seed, &Config::default());
            for op in g.ops(g.body()) {
                ops.insert(g.def(op).name);
                dtypes.extend(g.results(op).into_iter().map(|value| g.ty(value).dtype));
            }
        }
        // Only the pass `fuse` creates fused groups.
        let missing = mind_core::ops::OPS
            .iter()
            .filter(|def| !ops.contains(def.name));
        let missing: Vec<&str> = missing.map(|def| def.name).collect();
        assert_eq!(missing, ["core.fused"]);
        let undrawn = mind_core::ops::OPS.iter().filter(|def| !covered(def));
        assert_eq!(undrawn.map(|def| def.name).collect::<Vec<_>>(), missing);
        assert_eq!(dtypes.len(), 13);
    }
}
