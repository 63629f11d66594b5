//! Convolutions run backwards.

use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::window::{Axis, Windows};
use mind_mil::ops::conv;

use crate::contract::alike;
use crate::conv::{POINT, grouped, spread};
use crate::emit::{Emit, Import, Imported, number};
use crate::refuse::Refused;
use crate::slice::{part, taken};
use crate::space::between;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[(&conv::CONV_TRANSPOSE, conv_transpose)];

/// The most groups that become convolutions of their own.
const MOST_PARTS: i64 = 64;

/// A convolution of `x` with zeros between its elements, under the kernel turned round.
fn conv_transpose(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (x, weight) = (e.argument(op, "x")?, e.argument(op, "weight")?);
    let weight = alike(e, weight, x)?;
    let (outer, kernel) = (e.shape(x)?, e.shape(weight)?);
    let result = e.shape(e.g().result(op))?;
    let call = e.call(op)?;
    let groups = call.int("groups").unwrap_or(1).max(1);
    let dims: Vec<Dim> = outer[2..].iter().copied().map(Dim::Fixed).collect();
    let windows = Windows::of(&call, &kernel[2..], &dims)?;
    let mut cuts = Vec::new();
    for (at, axis) in windows.axes.iter().enumerate() {
        cuts.push(axis.cut(call.word("pad_type"), outer[2 + at], result[2 + at]));
    }
    let mut axes = windows.axes;
    let lifted = |shape: &[i64]| vec![shape[0], shape[1], 1, shape[2]];
    let (mut x, mut weight, out) = match axes.len() {
        1 => {
            axes.insert(0, POINT);
            cuts.insert(0, 0);
            let own = (
                e.reshape(x, &lifted(&outer))?,
                e.reshape(weight, &lifted(&kernel))?,
            );
            (own.0, own.1, vec![1, result[2]])
        }
        2 => (x, weight, result[2..].to_vec()),
        spatial => {
            return Err(Refused::new(format!(
                "core has no window of {spatial} dimensions"
            )));
        }
    };
    if groups > MOST_PARTS {
        return Err(Refused::new(format!(
            "{groups} groups are more than {MOST_PARTS}"
        )));
    }
    e.float(x)?;
    weight = spread(op, e, weight, &axes)?;
    let taps = e.shape(weight)?;
    for (at, axis) in axes.iter().enumerate() {
        x = apart(e, x, 2 + at, axis, cuts[at], out[at])?;
        let back: Vec<i64> = (0..taps[2 + at]).rev().collect();
        weight = taken(e, weight, 2 + at, &back)?;
    }
    let still = |axis: &Axis| Axis {
        stride: 1,
        dilation: 1,
        pads: [0, 0],
        ..*axis
    };
    let axes: Vec<Axis> = axes.iter().map(still).collect();
    let (inputs, each) = (e.shape(x)?[1] / groups, taps[1]);
    let mut parts = Vec::new();
    for group in 0..groups {
        let own = part(e, x, 1, group * inputs, (group + 1) * inputs)?;
        let factors = part(e, weight, 0, group * inputs, (group + 1) * inputs)?;
        let factors = e.transpose(factors, &[1, 0, 2, 3])?;
        parts.push(grouped(e, own, factors, &axes)?);
    }
    let own = e.concat(&parts, 1)?;
    let own = match e.optional(op, "bias")? {
        Some(bias) => {
            let bias = alike(e, bias, x)?;
            let bias = e.reshape(bias, &[each * groups, 1, 1])?;
            e.add(own, bias)?
        }
        None => own,
    };
    e.reshape(own, &result)
}

/// `x` with zeros between its elements along a dimension, and as many around it as windows of one step need that
/// give `out` positions, the first `cut` left off.
fn apart(e: &mut Emit<'_>, x: ValueId, dim: usize, axis: &Axis, cut: i64, out: i64) -> Imported {
    let zero = number(e.dtype(x), 0.0);
    let shape = e.shape(x)?;
    let mut x = x;
    let mut extent = shape[dim];
    if axis.stride > 1 {
        let mut split = shape.clone();
        split.insert(dim + 1, 1);
        x = e.reshape(x, &split)?;
        x = between(e, x, dim + 1, [0, axis.stride - 1], &zero)?;
        let mut joined = shape.clone();
        joined[dim] = extent * axis.stride;
        x = e.reshape(x, &joined)?;
        extent = (extent - 1) * axis.stride + 1;
        x = part(e, x, dim, 0, extent)?;
    }
    let front = axis.reach - 1 - cut;
    let behind = out + axis.reach - 1 - extent - front;
    x = between(e, x, dim, [front.max(0), behind.max(0)], &zero)?;
    let (start, whole) = ((-front).max(0), e.shape(x)?[dim]);
    part(e, x, dim, start, whole - (-behind).max(0))
}
