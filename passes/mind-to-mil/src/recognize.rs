//! Peephole rules that replace sequences of MIL ops by one op.

use mind_convert::Refusal;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::activation::SOFTMAX;
use mind_mil::ops::binary::{ADD, MAXIMUM, MUL, REAL_DIV};
use mind_mil::ops::normalization::LAYER_NORM;
use mind_mil::ops::pool::L2_POOL;
use mind_mil::ops::reduction::{REDUCE_MAX, REDUCE_MEAN};
use mind_mil::ops::unary::{ABS, SQRT};

use crate::affine;
use crate::attention;
use crate::config::{Config, Layout};
use crate::elementwise::pair;
use crate::emit::Argument::{Flag, Int, Ints, Number, Value, Word};
use crate::emit::{Emit, Lowered};
use crate::fuse;
use crate::matching::{argument, ints, source};

/// A rule for the last op of a sequence, which returns its replacement.
type Rule = fn(&mut Emit<'_, '_>, OpId) -> Option<Lowered>;

/// Normalisations come first, because attention contains a softmax.
const RULES: [(&str, Rule); 11] = [
    ("sqrt", l2_pool),
    ("real_div", softmax),
    ("real_div", layer_norm),
    ("real_div", root_mean_square),
    ("mul", |e, op| affine::folded(e, op, "gamma")),
    ("add", |e, op| affine::folded(e, op, "beta")),
    ("matmul", attention::found),
    ("matmul", fuse::transposed),
    ("add", fuse::linear),
    ("add", fuse::biased),
    ("cast", fuse::narrow),
];

/// Applies the rules; the replaced ops are left to be swept.
///
/// # Errors
///
/// An op that does not verify.
pub(crate) fn recognize(g: &mut Graph, config: &Config) -> Result<(), Refusal> {
    for (name, rule) in RULES {
        let ops: Vec<OpId> = g
            .walk()
            .filter(|&op| g.def(op).short_name() == name)
            .collect();
        for op in ops {
            let mut e = Emit {
                b: Builder::before(g, op),
                config,
            };
            if let Some(found) = rule(&mut e, op) {
                let (old, new) = (g.result(op), found?);
                g.replace_all_uses(old, new);
                g.erase(op);
            }
        }
    }
    Ok(())
}

/// Returns the operand and axes of a reduction called `name` that keeps its axes with extent 1.
fn reduction(e: &Emit<'_, '_>, value: ValueId, name: &str) -> Option<(ValueId, Vec<i64>)> {
    let op = source(e, value, name)?;
    let keeps = ints(e, op, "keep_dims")? == [1];
    keeps.then_some((argument(e, op, "x")?, ints(e, op, "axes")?))
}

pub(crate) fn operands(e: &Emit<'_, '_>, op: OpId) -> Option<[ValueId; 2]> {
    Some([argument(e, op, "x")?, argument(e, op, "y")?])
}

/// Matches `sqrt(conv(x * x))` with a kernel of ones for each channel: `l2_pool`.
fn l2_pool(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let sum = source(e, argument(e, op, "x")?, "conv")?;
    let [x, same] = operands(e, source(e, argument(e, sum, "x")?, "mul")?)?;
    let weight = argument(e, sum, "weight")?;
    let kernel = e.shape(weight).ok()?;
    let is_undilated = ints(e, sum, "dilations")?.iter().all(|&step| step == 1);
    let is_sum = e.uniform(weight)? == 1.0 && ints(e, sum, "groups")? == [kernel[0]];
    if x != same || !is_sum || !is_undilated || argument(e, sum, "bias").is_some() {
        return None;
    }
    let (strides, pads) = (ints(e, sum, "strides")?, ints(e, sum, "pad")?);
    let args = [
        ("x", Value(x)),
        ("kernel_sizes", Ints(&kernel[2..])),
        ("strides", Ints(&strides)),
        ("pad_type", Word("custom")),
        ("pad", Ints(&pads)),
        ("ceil_mode", Flag(false)),
    ];
    Some(e.op(&L2_POOL, &args))
}

/// Matches `exp(x - max(x)) / sum(exp(x - max(x)))`: `softmax`.
fn softmax(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [powers, total] = operands(e, op)?;
    let exp = source(e, powers, "exp")?;
    let difference = source(e, argument(e, exp, "x")?, "sub")?;
    let [x, largest] = operands(e, difference)?;
    let (summed, along) = reduction(e, total, "reduce_sum")?;
    let (compared, same) = reduction(e, largest, "reduce_max")?;
    let &[axis] = &along[..] else { return None };
    if summed != powers || compared != x || same != along {
        return None;
    }
    Some(e.op(&SOFTMAX, &[("x", Value(x)), ("axis", Int(axis))]))
}

/// Matches `d / sqrt(mean(d * d) + epsilon)`, with `d = x - mean(x)`: `layer_norm`.
fn layer_norm(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [deviation, scale] = operands(e, op)?;
    let difference = source(e, deviation, "sub")?;
    let [x, center] = operands(e, difference)?;
    let (averaged, axes) = reduction(e, center, "reduce_mean")?;
    let (squared, same, epsilon) = mean_square(e, scale)?;
    if averaged != x || same != axes || squared != deviation {
        return None;
    }
    let args = [
        ("x", Value(x)),
        ("axes", Ints(&axes)),
        ("epsilon", Number(epsilon, e.dtype(x))),
    ];
    Some(e.op(&LAYER_NORM, &args))
}

/// Matches `sqrt(mean(x * x) + epsilon)` and returns `x`, the axes of the mean, and epsilon.
fn mean_square(e: &Emit<'_, '_>, value: ValueId) -> Option<(ValueId, Vec<i64>, f64)> {
    let root = source(e, value, "sqrt")?;
    let shifted = source(e, argument(e, root, "x")?, "add")?;
    let [mean, epsilon] = operands(e, shifted)?;
    let epsilon = e.uniform(epsilon)?;
    let (squares, axes) = reduction(e, mean, "reduce_mean")?;
    let [x, same] = operands(e, source(e, squares, "mul")?)?;
    (x == same).then_some((x, axes, epsilon))
}

/// Rewrites `x / sqrt(mean(x * x) + epsilon)` in f16 so that each row is scaled down first, because squares of halves
/// above 255 are infinite. With `m` the largest magnitude of a row, but at least 1, and `y = x / m`, the result is `y /
/// sqrt(mean(y * y) + epsilon / (m * m))`. Applied only in the engine's layout, because the engine computes in f16.
fn root_mean_square(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [x, scale] = operands(e, op)?;
    let (squared, axes, epsilon) = mean_square(e, scale)?;
    let is_half = e.config.layout == Layout::Ane && e.dtype(x) == DType::F16;
    if !is_half || squared != x || epsilon < 0.0 {
        return None;
    }
    Some(scaled_down(e, x, &axes, epsilon))
}

fn scaled_down(e: &mut Emit<'_, '_>, x: ValueId, axes: &[i64], epsilon: f64) -> Lowered {
    let dtype = e.dtype(x);
    let along = |e: &mut Emit<'_, '_>, row: &'static MilOp, x: ValueId| {
        let args = [
            ("x", Value(x)),
            ("axes", Ints(axes)),
            ("keep_dims", Flag(true)),
        ];
        e.op(row, &args)
    };
    let size = e.op(&ABS, &[("x", Value(x))])?;
    let largest = along(e, &REDUCE_MAX, size)?;
    let largest = e.op(
        &MAXIMUM,
        &[("x", Value(largest)), ("y", Number(1.0, dtype))],
    )?;
    let row = pair(e, &REAL_DIV, x, largest)?;
    let squares = pair(e, &MUL, row, row)?;
    let mean = along(e, &REDUCE_MEAN, squares)?;
    let root = Number(epsilon.sqrt(), dtype);
    let root = e.op(&REAL_DIV, &[("x", root), ("y", Value(largest))])?;
    let epsilon = pair(e, &MUL, root, root)?;
    let shifted = pair(e, &ADD, mean, epsilon)?;
    let norm = e.op(&SQRT, &[("x", Value(shifted))])?;
    pair(e, &REAL_DIV, row, norm)
}
