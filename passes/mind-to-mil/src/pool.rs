//! Lowers reductions of windows to pools.

use mind_convert::Refusal;
use mind_core::ops::window::ReduceWindow;
use mind_core::windows::WindowAxis;
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_float;
use mind_mil::MilOp;
use mind_mil::ops::binary::MUL;
use mind_mil::ops::conv::CONV;
use mind_mil::ops::pool::{AVG_POOL, MAX_POOL};

use crate::emit::Argument::{Flag, Int, Ints, Number, Value, Word};
use crate::emit::{Emit, Lower, Lowered};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[(ReduceWindow::DEF, |op, e| {
    let view = ReduceWindow::from_id(op);
    let (x, kind) = (view.input(e.g()), view.kind(e.g()));
    let axes = view.axes(e.g())?.into_iter();
    let axes: Vec<Axis> = axes.zip(view.window(e.g()).iter().copied()).collect();
    reduce_windows(e, x, kind, &axes, view.count_padding(e.g()))
})];

/// The window along a dimension, and its size.
type Axis = (WindowAxis, i64);

/// Maximum number of elements of a kernel of ones.
const MOST_ONES: usize = 1 << 20;

/// Maximum number of spatial dimensions of a pool.
const SPATIAL: usize = 3;

/// Lowers to a pool over `[N, C, ..]`, with the windowed dimensions last and the others merged.
fn reduce_windows(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    kind: Reduction,
    axes: &[Axis],
    count_padding: bool,
) -> Lowered {
    let dtype = e.dtype(x);
    if !dtype.is_float() {
        return Err(Refusal::no_counterpart(format!("a pool takes no {dtype}")));
    }
    if axes
        .iter()
        .any(|(axis, window)| axis.dilation != 1 && *window > 1)
    {
        return Err(Refusal::no_counterpart("a pool has no dilations"));
    }
    let slides =
        |(axis, window): &Axis| *window != 1 || axis.stride != 1 || axis.low != 0 || axis.high != 0;
    let (sliding, fixed): (Vec<usize>, Vec<usize>) =
        (0..axes.len()).partition(|&at| slides(&axes[at]));
    if sliding.is_empty() {
        return Ok(x);
    }
    if sliding.len() > SPATIAL {
        return Err(Refusal::no_counterpart(format!(
            "a pool slides along {SPATIAL} dimensions at most, found {}",
            sliding.len()
        )));
    }
    let shape = e.shape(x)?;
    let is_pool = axes.len() > 2 && axes.len() - 2 <= SPATIAL && sliding[0] >= 2;
    if is_pool {
        return pool(e, x, kind, &axes[2..], count_padding);
    }
    let order: Vec<i64> = fixed.iter().chain(&sliding).map(|&at| at as i64).collect();
    let moved = e.transpose(x, &order)?;
    let rows: i64 = fixed.iter().map(|&at| shape[at]).product();
    let outer = sliding.iter().map(|&at| shape[at]);
    let outer: Vec<i64> = [rows, 1].into_iter().chain(outer).collect();
    let stacked = e.reshape(moved, &outer)?;
    let sliding: Vec<Axis> = sliding.iter().map(|&at| axes[at]).collect();
    let pooled = pool(e, stacked, kind, &sliding, count_padding)?;
    let extents = fixed.iter().map(|&at| shape[at]);
    let extents: Vec<i64> = extents.chain(e.shape(pooled)?[2..].to_vec()).collect();
    let pooled = e.reshape(pooled, &extents)?;
    let mut back = vec![0; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        back[axis as usize] = at as i64;
    }
    e.transpose(pooled, &back)
}

/// Returns a pool over `[N, C, ..]`, of which `axes` are the last dimensions.
fn pool(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    kind: Reduction,
    axes: &[Axis],
    count_padding: bool,
) -> Lowered {
    let one = |e: &mut Emit<'_, '_>, row: &'static MilOp, x: ValueId, exclude: Option<bool>| {
        let window: Vec<i64> = axes.iter().map(|axis| axis.1).collect();
        let strides: Vec<i64> = axes.iter().map(|axis| axis.0.stride).collect();
        let pads: Vec<i64> = axes
            .iter()
            .flat_map(|(axis, _)| [axis.low, axis.high])
            .collect();
        let word = if pads.iter().all(|&pad| pad == 0) {
            "valid"
        } else {
            "custom"
        };
        let mut args = vec![
            ("x", Value(x)),
            ("kernel_sizes", Ints(&window)),
            ("strides", Ints(&strides)),
            ("pad_type", Word(word)),
            ("pad", Ints(&pads)),
            ("ceil_mode", Flag(false)),
        ];
        args.extend(exclude.map(|exclude| ("exclude_padding_from_average", Flag(exclude))));
        e.op(row, &args)
    };
    let dtype = e.dtype(x);
    let times = |e: &mut Emit<'_, '_>, x: ValueId, factor: f64, dtype: DType| {
        e.op(&MUL, &[("x", Value(x)), ("y", Number(factor, dtype))])
    };
    match kind {
        Reduction::Max => one(e, &MAX_POOL, x, None),
        Reduction::Min => {
            let negated = times(e, x, -1.0, dtype)?;
            let largest = one(e, &MAX_POOL, negated, None)?;
            times(e, largest, -1.0, dtype)
        }
        Reduction::Mean => one(e, &AVG_POOL, x, Some(!count_padding)),
        Reduction::Sum => sum(e, x, axes),
        Reduction::Prod => Err(Refusal::no_counterpart("no pool multiplies")),
    }
}

/// Returns the sum of each window of `[N, C, ..]`: a depthwise convolution with ones, because it rounds only once.
fn sum(e: &mut Emit<'_, '_>, x: ValueId, axes: &[Axis]) -> Lowered {
    let channels = e.shape(x)?[1];
    let windows = axes.iter().map(|&(_, window)| window);
    let shape: Vec<usize> = [channels, 1]
        .into_iter()
        .chain(windows)
        .map(|n| n as usize)
        .collect();
    let count = shape
        .iter()
        .try_fold(1usize, |count, &own| count.checked_mul(own));
    let Some(count) = count.filter(|&count| count <= MOST_ONES) else {
        return Err(Refusal::no_counterpart("a window of too many taps"));
    };
    let ones = with_float!(e.dtype(x), T => {
        Tensor::of(shape, vec![<T as Num>::ONE; count])
    }, else { unreachable!("a pool of floats") });
    let ones = e.constant(&ones);
    let strides: Vec<i64> = axes.iter().map(|(axis, _)| axis.stride).collect();
    let pads: Vec<i64> = axes
        .iter()
        .flat_map(|(axis, _)| [axis.low, axis.high])
        .collect();
    let dilations = vec![1; axes.len()];
    let args = [
        ("x", Value(x)),
        ("weight", Value(ones)),
        ("strides", Ints(&strides)),
        ("pad_type", Word("custom")),
        ("pad", Ints(&pads)),
        ("dilations", Ints(&dilations)),
        ("groups", Int(channels)),
    ];
    e.op(&CONV, &args)
}
