//! Data movement: reshapes, permutations, slices, gathers and scatters.

use mind_core::axes::resolve;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::{Gather, Index, Slice};
use mind_core::ops::join::{Concat, Split};
use mind_core::ops::pad::{Margins, PadMode, PadOp};
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_core::ops::shape::{
    ExpandDims, Reshape, Reverse, Squeeze, Transpose, effective_permutation,
};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Tensor, advance};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::Opset;
use mind_mil::call::integers;
use mind_mil::ops::index::{GATHER, GATHER_ND, SCATTER_ND};
use mind_mil::ops::movement::{EXPAND_DIMS, REVERSE, SLICE_BY_INDEX, SQUEEZE};
use mind_mil::ops::tensor::{CONCAT, PAD};
use mind_tensor::ops::index::{Gather as TensorGather, Index as TensorIndex, Slice as TensorSlice};
use mind_tensor::ops::join::Concat as TensorConcat;

use crate::elements;
use crate::emit::Argument;
use crate::emit::Argument::{Flag, Flags, Int, Ints, Number, Value, Values, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::fuse::unwidened;
use crate::refuse::Refused;
use crate::runtime_shape;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Reshape::DEF, |op, e| {
        let x = Reshape::from_id(op).input(e.g());
        let dims = e.g().ty(e.g().result(op)).shape;
        let open = dims.iter().filter(|dim| dim.fixed().is_none()).count();
        let shape = match open {
            1 => dims.iter().map(|dim| dim.fixed().unwrap_or(-1)).collect(),
            _ => e.shape(e.g().result(op))?,
        };
        e.reshape(x, &shape)
    }),
    (Transpose::DEF, |op, e| {
        let view = Transpose::from_id(op);
        let x = view.input(e.g());
        let perm = effective_permutation(view.permutation(e.g()), e.g().ty(x).rank());
        e.transpose(x, &perm)
    }),
    (ExpandDims::DEF, |op, e| {
        let view = ExpandDims::from_id(op);
        let (x, axes) = (view.input(e.g()), view.axes(e.g()).to_vec());
        if axes.is_empty() {
            Ok(x)
        } else {
            e.op(&EXPAND_DIMS, &[("x", Value(x)), ("axes", Ints(&axes))])
        }
    }),
    (Squeeze::DEF, |op, e| {
        let view = Squeeze::from_id(op);
        let (x, axes) = (view.input(e.g()), view.axes(e.g()).to_vec());
        if axes.is_empty() {
            Ok(x)
        } else {
            e.op(&SQUEEZE, &[("x", Value(x)), ("axes", Ints(&axes))])
        }
    }),
    (Reverse::DEF, |op, e| {
        let view = Reverse::from_id(op);
        let (x, axes) = (view.input(e.g()), view.axes(e.g()).to_vec());
        if axes.is_empty() {
            Ok(x)
        } else {
            e.op(&REVERSE, &[("x", Value(x)), ("axes", Ints(&axes))])
        }
    }),
    (PadOp::DEF, pad),
    (BroadcastTo::DEF, |op, e| {
        let x = BroadcastTo::from_id(op).input(e.g());
        let (rank, shape) = (e.g().ty(x).rank(), e.shape(e.g().result(op))?);
        let dims: Vec<i64> = ((shape.len() - rank) as i64..shape.len() as i64).collect();
        crate::broadcast::to_shape(e, x, &dims, &shape)
    }),
    (Iota::DEF, |op, e| {
        e.shape(e.g().result(op))?;
        crate::constant::lower(op, e)
    }),
    (ExtentOf::DEF, |op, e| {
        let view = ExtentOf::from_id(op);
        let (x, axis) = (view.input(e.g()), view.axis(e.g()));
        let shape = e.g().ty(x).shape;
        let axis = resolve("dim", axis, shape.len())?;
        let Some(extent) = shape[axis].fixed() else {
            return runtime_shape::extent(e, x, axis);
        };
        let extent = i32::try_from(extent);
        let extent = extent.map_err(|_| Refused::new("the extent is not an int32"))?;
        Ok(e.constant(&Tensor::scalar(extent)))
    }),
    (Gather::DEF, |op, e| {
        let view = Gather::from_id(op);
        let (data, indices) = (view.data(e.g()), view.indices(e.g()));
        let (axis, bounds) = (view.axis(e.g()), view.bounds(e.g()));
        gather(e, data, indices, axis, bounds)
    }),
    (TensorGather::DEF, |op, e| {
        let view = TensorGather::from_id(op);
        let (data, indices) = (view.data(e.g()), view.indices(e.g()));
        gather(e, data, indices, view.axis(e.g()), Bounds::Strict)
    }),
    (GatherElements::DEF, elements::gather),
    (GatherNd::DEF, |op, e| {
        let view = GatherNd::from_id(op);
        let (data, indices) = (view.data(e.g()), view.indices(e.g()));
        let (batch, bounds) = (view.batch_dims(e.g()), view.bounds(e.g()));
        let has_batches = e.config.opset >= Opset::Ios16;
        let indices = match batch {
            1.. if !has_batches => numbered(e, indices, batch as usize)?,
            _ => indices,
        };
        let mut args = vec![("x", Value(data)), ("indices", Value(indices))];
        if has_batches {
            args.push(("batch_dims", Int(batch)));
        }
        at_places(e, &GATHER_ND, data, bounds, args)
    }),
    (ScatterElements::DEF, elements::scatter),
    (ScatterNd::DEF, |op, e| {
        let view = ScatterNd::from_id(op);
        let (data, indices, updates) = (view.data(e.g()), view.indices(e.g()), view.updates(e.g()));
        let (kind, bounds) = (view.kind(e.g()), view.bounds(e.g()));
        let args = vec![
            ("data", Value(data)),
            ("indices", Value(indices)),
            ("updates", Value(updates)),
            ("mode", Word(mode(kind))),
        ];
        at_places(e, &SCATTER_ND, data, bounds, args)
    }),
    (Split::DEF, |op, e| {
        let view = Split::from_id(op);
        let x = view.input(e.g());
        let (axis, count, part) = (view.axis(e.g()), view.count(e.g()), view.part(e.g()));
        let shape = e.shape(x)?;
        let axis = if axis < 0 {
            axis + shape.len() as i64
        } else {
            axis
        } as usize;
        let size = shape[axis] / count;
        let mut lists = [vec![0; shape.len()], shape.clone(), vec![1; shape.len()]];
        (lists[0][axis], lists[1][axis]) = (part * size, (part + 1) * size);
        slice(e, x, &lists)
    }),
];

/// Table entries of ops that both core and the tensor dialect have, with views of the same accessors.
macro_rules! shared {
    ($index:ident, $slice:ident, $concat:ident) => {
        &[
            ($index::DEF, |op, e| {
                let view = $index::from_id(op);
                let (x, indices) = (view.input(e.g()), view.indices(e.g()).to_vec());
                element(e, x, &indices)
            }),
            ($slice::DEF, |op, e| {
                let view = $slice::from_id(op);
                let lists = [view.starts(e.g()), view.ends(e.g()), view.steps(e.g())];
                let (lists, x) = (lists.map(<[i64]>::to_vec), view.input(e.g()));
                match e.shape(x) {
                    Ok(_) => slice(e, x, &lists),
                    Err(_) => runtime_shape::slice(e, x, &lists, op),
                }
            }),
            ($concat::DEF, |op, e| {
                let view = $concat::from_id(op);
                let (inputs, axis) = (view.inputs(e.g()).to_vec(), view.axis(e.g()));
                concat(e, &inputs, axis)
            }),
        ]
    };
}

pub(crate) const CORE_ROWS: &[(&OpDef, Lower)] = shared!(Index, Slice, Concat);
pub(crate) const TENSOR_ROWS: &[(&OpDef, Lower)] = shared!(TensorIndex, TensorSlice, TensorConcat);

/// Pads a float tensor; negative padding is sliced off first.
fn pad(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = PadOp::from_id(op);
    let (x, mode, value) = (view.input(e.g()), view.mode(e.g()), view.value(e.g()));
    let (margins, shape) = (Margins::of(view, e.g()), e.shape(x)?);
    if margins.iter().any(|margins| margins.interior != 0) {
        return Err(Refused::new("`pad` puts nothing between elements"));
    }
    let mode = match mode {
        PadMode::Constant => "constant",
        PadMode::Edge => "replicate",
        PadMode::Reflect => "reflect",
        PadMode::Wrap => return Err(Refused::new("`pad` does not wrap")),
    };
    let dtype = e.dtype(x);
    if !dtype.is_float() {
        return Err(Refused::new(format!("`pad` takes no {dtype}")));
    }
    let value = match value {
        None => 0.0,
        Some(value) => e
            .uniform(value)
            .ok_or_else(|| Refused::new("the padding value is not constant"))?,
    };
    let removed = |amount: i64| (-amount).max(0);
    let mut x = x;
    if margins.iter().any(|own| own.low < 0 || own.high < 0) {
        let starts = margins.iter().map(|own| removed(own.low)).collect();
        let ends = margins.iter().zip(&shape);
        let ends = ends.map(|(own, extent)| extent - removed(own.high));
        x = slice(e, x, &[starts, ends.collect(), vec![1; shape.len()]])?;
    }
    let added = margins.iter().flat_map(|own| [own.low, own.high]);
    let added: Vec<i64> = added.map(|amount| amount.max(0)).collect();
    if added.iter().all(|&amount| amount == 0) {
        return Ok(x);
    }
    let args = [
        ("x", Value(x)),
        ("pad", Ints(&added)),
        ("mode", Word(mode)),
        ("constant_val", Number(value, dtype)),
    ];
    e.op(&PAD, &args)
}

/// Returns the single element at `indices`.
pub(crate) fn element(e: &mut Emit<'_, '_>, x: ValueId, indices: &[i64]) -> Lowered {
    let shape = e.shape(x)?;
    if shape.is_empty() {
        return Ok(x);
    }
    for (axis, (&index, &extent)) in indices.iter().zip(&shape).enumerate() {
        if !(0..extent).contains(&index) {
            return Err(Refused::new(format!(
                "index {index} is outside of axis {axis}, which has {extent}"
            )));
        }
    }
    let ends: Vec<i64> = indices.iter().map(|index| index + 1).collect();
    let args = [
        ("x", Value(x)),
        ("begin", Ints(indices)),
        ("end", Ints(&ends)),
        ("squeeze_mask", Flags(&vec![true; shape.len()])),
    ];
    e.op(&SLICE_BY_INDEX, &args)
}

/// Lowers to the slice `[starts, ends, steps]` of `x`.
pub(crate) fn slice(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    [starts, ends, steps]: &[Vec<i64>; 3],
) -> Lowered {
    let shape = e.shape(x)?;
    if shape.is_empty() {
        return Ok(x);
    }
    let ends: Vec<i64> = ends
        .iter()
        .zip(&shape)
        .map(|(&end, &extent)| end.min(extent))
        .collect();
    if starts.iter().zip(&ends).any(|(start, end)| start >= end) {
        return Err(Refused::new("an extent of 0 has no counterpart"));
    }
    let args = [
        ("x", Value(x)),
        ("begin", Ints(starts)),
        ("end", Ints(&ends)),
        ("stride", Ints(steps)),
    ];
    e.op(&SLICE_BY_INDEX, &args)
}

/// Gathers slices of `data` at `indices`; constant indices become `uint16` if they fit, to avoid `int32`.
pub(crate) fn gather(
    e: &mut Emit<'_, '_>,
    data: ValueId,
    indices: ValueId,
    axis: i64,
    bounds: Bounds,
) -> Lowered {
    let shape = e.g().ty(data).shape;
    let own = if axis < 0 {
        axis + shape.len() as i64
    } else {
        axis
    } as usize;
    let extent = shape[own].fixed();
    let indices = match e.elements(indices).zip(extent) {
        Some((tensor, extent)) => {
            let mut list = integers(&tensor);
            for index in &mut list {
                let place = bounds.position(*index, own, extent as usize);
                let Ok(Some(place)) = place else {
                    return Err(Refused::new(format!(
                        "index {index} is outside of axis {own}, which has {extent}"
                    )));
                };
                *index = place as i64;
            }
            let narrow: Option<Vec<u16>> = list
                .iter()
                .map(|&index| u16::try_from(index).ok())
                .collect();
            match narrow.filter(|_| e.config.opset >= Opset::Ios17) {
                Some(narrow) => {
                    let tensor = Tensor::of(tensor.shape().to_vec(), narrow);
                    e.constant(&tensor)
                }
                None => {
                    let list: Vec<i32> = list.iter().map(|&index| index as i32).collect();
                    e.constant(&Tensor::of(tensor.shape().to_vec(), list))
                }
            }
        }
        None => {
            within_bounds(&GATHER, bounds)?;
            unwidened(e, indices)
        }
    };
    let mut args = vec![
        ("x", Value(data)),
        ("indices", Value(indices)),
        ("axis", Int(axis)),
    ];
    if e.config.opset >= Opset::Ios16 {
        args.push(("batch_dims", Int(0)));
    }
    if e.config.opset >= Opset::Ios17 {
        args.push(("validate_indices", Flag(false)));
    }
    if e.dtype(data) == DType::Bool {
        return Err(Refused::new("`gather` takes no bool"));
    }
    e.op(&GATHER, &args)
}

/// Checks that the op need not clamp or skip out-of-bounds indices.
///
/// # Errors
///
/// If data-dependent indices are clamped or skipped, which MIL ops do not do.
fn within_bounds(row: &MilOp, bounds: Bounds) -> Result<(), Box<Refused>> {
    match bounds {
        Bounds::Strict | Bounds::FromEnd => Ok(()),
        Bounds::Clamp | Bounds::Skip => {
            let (name, word) = (row.name, bounds.name());
            Err(Refused::new(format!("`{name}` does not {word} indices")))
        }
    }
}

/// Returns MIL's name of an update.
pub(crate) fn mode(kind: Update) -> &'static str {
    match kind {
        Update::Replace => "update",
        Update::Add => "add",
        Update::Mul => "mul",
        Update::Min => "min",
        Update::Max => "max",
    }
}

/// Emits a gather or scatter of elements of `data` at indices.
pub(crate) fn at_places(
    e: &mut Emit<'_, '_>,
    row: &'static MilOp,
    data: ValueId,
    bounds: Bounds,
    mut args: Vec<(&str, Argument<'_>)>,
) -> Lowered {
    within_bounds(row, bounds)?;
    if e.dtype(data) == DType::Bool {
        return Err(Refused::new(format!("`{}` takes no bool", row.name)));
    }
    if e.config.opset >= Opset::Ios17 {
        args.push(("validate_indices", Flag(false)));
    }
    e.op(row, &args)
}

/// Prepends the batch indices to each index tuple, because `gather_nd` does not have batches before ios16.
fn numbered(e: &mut Emit<'_, '_>, indices: ValueId, batch: usize) -> Lowered {
    let mut shape: Vec<usize> = Vec::new();
    shape.extend(e.shape(indices)?.iter().map(|&extent| extent as usize));
    let last = shape.len() - 1;
    shape[last] = batch;
    let mut index = vec![0; last];
    let mut numbers = Vec::new();
    for _ in 0..shape[..last].iter().product() {
        numbers.extend(index[..batch].iter().map(|&at| at as i32));
        advance(&mut index, &shape[..last]);
    }
    let numbers = e.constant(&Tensor::of(shape, numbers));
    concat(e, &[numbers, indices], last as i64)
}

/// Concatenates tensors.
pub(crate) fn concat(e: &mut Emit<'_, '_>, inputs: &[ValueId], axis: i64) -> Lowered {
    let args = [
        ("values", Values(inputs)),
        ("axis", Int(axis)),
        ("interleave", Flag(false)),
    ];
    e.op(&CONCAT, &args)
}
