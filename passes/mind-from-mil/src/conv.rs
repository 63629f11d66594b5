//! Imports convolutions, forward and transposed.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::convolution::{Conv, ConvTranspose, Layout};
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::window::{Axis, Windows};
use mind_mil::ops::conv;

use crate::contract::alike;
use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&conv::CONV, convolution),
    (&conv::CONV_TRANSPOSE, conv_transpose),
];

/// Imports a convolution of `[N, C, ..]` with `[O, C / groups, ..]`.
fn convolution(op: OpId, e: &mut Emit<'_>) -> One {
    let operands = Operands::of(op, e)?;
    let list = |entry: fn(&Axis) -> i64| operands.axes.iter().map(entry).collect();
    let [strides, dilations, low, high]: [Vec<i64>; 4] = [
        list(|axis| axis.stride),
        list(|axis| axis.dilation),
        list(|axis| axis.pads[0]),
        list(|axis| axis.pads[1]),
    ];
    let pads = [low, high].concat();
    let conv = Conv::with()
        .layout(Layout::Nchw)
        .strides(&strides)
        .dilations(&dilations)
        .pads(&pads)
        .groups(operands.groups);
    let own = conv.build(&mut e.b, operands.x, operands.weight)?;
    biased(op, e, own)
}

/// Imports a transposed convolution of `[N, C, ..]` with `[C, O / groups, ..]`.
fn conv_transpose(op: OpId, e: &mut Emit<'_>) -> One {
    let operands = Operands::of(op, e)?;
    let (outer, result) = (e.shape(operands.x)?, e.shape(e.g().result(op))?);
    let (mut low, mut high, mut more) = (Vec::new(), Vec::new(), Vec::new());
    let call = e.call(op)?;
    for (at, axis) in operands.axes.iter().enumerate() {
        let (extent, out) = (outer[2 + at], result[2 + at]);
        let cut = axis.cut(call.word("pad_type"), extent, out);
        let behind = (extent - 1) * axis.stride + axis.reach - cut - out;
        low.push(cut);
        high.push(behind.max(0));
        more.push((-behind).max(0));
    }
    let strides: Vec<i64> = operands.axes.iter().map(|axis| axis.stride).collect();
    let dilations: Vec<i64> = operands.axes.iter().map(|axis| axis.dilation).collect();
    let pads = [low, high].concat();
    let conv = ConvTranspose::with()
        .layout(Layout::Nchw)
        .strides(&strides)
        .dilations(&dilations)
        .pads(&pads)
        .output_padding(&more)
        .groups(operands.groups);
    let own = conv.build(&mut e.b, operands.x, operands.weight)?;
    biased(op, e, own)
}

/// Arguments that all convolutions share.
struct Operands {
    x: ValueId,
    weight: ValueId,
    groups: i64,
    axes: Vec<Axis>,
}

impl Operands {
    fn of(op: OpId, e: &mut Emit<'_>) -> Result<Operands, Refusal> {
        let (x, weight) = (e.argument(op, "x")?, e.argument(op, "weight")?);
        let weight = alike(e, weight, x)?;
        let kernel = e.shape(weight)?;
        let call = e.call(op)?;
        let windows = Windows::of(&call, &kernel[2..], &e.g().ty(x).shape[2..])?;
        check_pads(e, x, &windows, call.word("pad_type"))?;
        Ok(Operands {
            x,
            weight,
            groups: call.int("groups").unwrap_or(1).max(1),
            axes: windows.axes,
        })
    }
}

/// Refuses windows whose padding depends on unknown extents of `x`: with `same`, the padding is as long as the last
/// window reaches beyond the end, which is independent of the extent only for a stride of 1.
pub(crate) fn check_pads(
    e: &Emit<'_>,
    x: ValueId,
    windows: &Windows,
    pad_type: &str,
) -> Result<(), Refusal> {
    let is_fixed = matches!(pad_type, "" | "valid" | "custom");
    let mut axes = windows.axes.iter().zip(&e.g().ty(x).shape[2..]);
    let is_decided = |(axis, dim): (&Axis, &Dim)| {
        dim.fixed().is_some() || !windows.ceil && (is_fixed || axis.stride == 1)
    };
    match axes.all(is_decided) {
        true => Ok(()),
        false => e.shape(x).map(|_| ()),
    }
}

/// Adds the bias of `op` to `own`, one number per filter.
fn biased(op: OpId, e: &mut Emit<'_>, own: ValueId) -> One {
    let Some(bias) = e.optional(op, "bias")? else {
        return Ok(own);
    };
    let bias = alike(e, bias, own)?;
    let mut shape = vec![1; e.rank(own) - 1];
    shape[0] = e.g().ty(bias).count().unwrap_or(1);
    let bias = e.reshape_to(bias, &shape)?;
    e.add(own, bias)
}
