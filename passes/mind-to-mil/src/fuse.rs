//! Folds neighbouring ops into arguments of MIL ops.

use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::call::arguments;
use mind_mil::ops;
use mind_mil::ops::linear::{LINEAR, MATMUL};
use mind_mil::ops::tensor::TOPK;

use crate::emit::Argument::{Flag, Value, Values, Word};
use crate::emit::{Argument, Emit, Lowered};
use crate::matching::{argument, ints, made_by, source};
use crate::recognize::operands;

/// Folds transposes of the operands into `matmul`.
pub(crate) fn transposed(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [x, y] = operands(e, op)?;
    let [flip_x, flip_y] = ["transpose_x", "transpose_y"].map(|name| ints(e, op, name));
    let (left, right) = (unflipped(e, x), unflipped(e, y));
    if left.is_none() && right.is_none() {
        return None;
    }
    let flag = |own: Option<Vec<i64>>, turned: bool| Some(Flag((own? == [1]) != turned));
    let args = [
        ("x", Value(left.unwrap_or(x))),
        ("y", Value(right.unwrap_or(y))),
        ("transpose_x", flag(flip_x, left.is_some())?),
        ("transpose_y", flag(flip_y, right.is_some())?),
    ];
    Some(e.op(&MATMUL, &args))
}

/// Returns the value whose last two dimensions were exchanged to make `value`.
fn unflipped(e: &Emit<'_, '_>, value: ValueId) -> Option<ValueId> {
    let transpose = source(e, value, "transpose")?;
    let perm = ints(e, transpose, "perm")?;
    let rank = perm.len() as i64;
    let mut flipped: Vec<i64> = (0..rank).collect();
    let last = perm.len().checked_sub(2)?;
    flipped.swap(last, last + 1);
    let perm = perm.iter().map(|axis| axis.rem_euclid(rank));
    perm.eq(flipped).then(|| argument(e, transpose, "x"))?
}

/// Folds an `add` of one number per column into a product with a constant matrix: `linear`.
pub(crate) fn linear(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [x, y] = operands(e, op)?;
    let (product, bias) = with_constant(e, x, y, "matmul")?;
    let [x, weight] = operands(e, product)?;
    let plain = |name: &str| ints(e, product, name).is_some_and(|flag| flag == [0]);
    let shape = e.elements(weight)?.shape().to_vec();
    let list = e.elements(bias)?;
    let is_linear = plain("transpose_x")
        && plain("transpose_y")
        && matches!(shape[..], [_, columns] if list.shape() == [columns])
        && e.g().ty(x).rank() >= 2;
    is_linear.then_some(())?;
    Some(e.transpose(weight, &[1, 0]).and_then(|weight| {
        let args = [
            ("x", Value(x)),
            ("weight", Value(weight)),
            ("bias", Value(bias)),
        ];
        e.op(&LINEAR, &args)
    }))
}

/// Folds an `add` of one number per channel into the bias of a convolution, for example after batch normalisation.
pub(crate) fn biased(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [x, y] = operands(e, op)?;
    let kinds = ["conv", "conv_transpose"];
    let (conv, bias) = kinds.iter().find_map(|kind| with_constant(e, x, y, kind))?;
    let shape = e.shape(e.g().result(conv)).ok()?;
    let list = e.elements(bias)?;
    let mut expected = vec![1; shape.len()];
    expected[1] = shape[1] as usize;
    let missing = shape.len().checked_sub(list.rank())?;
    let whole = [&vec![1; missing][..], list.shape()].concat();
    (whole == expected && argument(e, conv, "bias").is_none()).then_some(())?;
    let bias = e.constant(&list.with_shape(vec![expected[1]]));
    Some(again(e, conv, &[("bias", Value(bias))]))
}

/// Returns the op called `name` that makes an operand of `x + y` without other uses, and the other operand if it is
/// constant.
fn with_constant(e: &Emit<'_, '_>, x: ValueId, y: ValueId, name: &str) -> Option<(OpId, ValueId)> {
    let mut pairs = [(x, y), (y, x)].into_iter();
    pairs.find_map(|(own, other)| {
        let op = made_by(e, own, name)?;
        e.elements(other).map(|_| (op, other))
    })
}

/// Folds a cast of indices to `uint16` into the op that makes them.
pub(crate) fn narrow(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let to = e.dtype(e.g().result(op));
    let places = argument(e, op, "x")?;
    (to == DType::U16 && e.config.opset >= Opset::Ios17).then_some(())?;
    if let Some(top) = made_by(e, places, "topk") {
        return Some(narrow_top(e, top, op));
    }
    let kinds = ["reduce_argmax", "reduce_argmin"];
    let found = kinds.iter().find_map(|kind| made_by(e, places, kind))?;
    Some(again(e, found, &[("output_dtype", Word("uint16"))]))
}

/// Returns the second result of a new `topk`, which has the dtype of the cast `op`.
fn narrow_top(e: &mut Emit<'_, '_>, top: OpId, op: OpId) -> Lowered {
    let values = e.g().results(top).get(0);
    let types = [values, e.g().result(op)].map(|value| e.g().ty(value).to_owned());
    let types = types.map(|ty| e.b.graph.intern_type(ty.view()));
    let args = own_arguments(e, top);
    let mut args: Vec<(&str, Argument<'_>)> = args
        .iter()
        .map(|(name, values)| (*name, Values(values)))
        .collect();
    args.push(("output_indices_dtype", Word("uint16")));
    let new = e.typed(&TOPK, &args, &types)?;
    e.b.graph.replace_all_uses(values, new[0]);
    Ok(new[1])
}

fn own_arguments(e: &Emit<'_, '_>, op: OpId) -> Vec<(&'static str, Vec<ValueId>)> {
    let own = arguments(e.g(), op);
    own.map(|(name, values)| (name, values.to_vec())).collect()
}

/// Emits a copy of `op` with additional arguments.
fn again(e: &mut Emit<'_, '_>, op: OpId, more: &[(&str, Argument<'_>)]) -> Lowered {
    let row = ops::row(e.g().def(op)).expect("an op of a program has a row");
    let own = own_arguments(e, op);
    let own = own.iter().map(|(name, values)| (*name, Values(values)));
    let more = more
        .iter()
        .map(|(name, argument)| (*name, argument.clone()));
    e.op(row, &own.chain(more).collect::<Vec<_>>())
}

/// Returns indices before their widening cast, if the opset accepts narrow ones.
pub(crate) fn unwidened(e: &Emit<'_, '_>, indices: ValueId) -> ValueId {
    let own = || {
        let narrow = argument(e, source(e, indices, "cast")?, "x")?;
        let fits = matches!(
            e.dtype(narrow),
            DType::U8 | DType::U16 | DType::I8 | DType::I16
        );
        (fits && e.config.opset >= Opset::Ios17).then_some(narrow)
    };
    own().unwrap_or(indices)
}
