//! Ops that MIL has as one, found in the ops that define them.

use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::ops::activation::SOFTMAX;
use mind_mil::ops::normalization::LAYER_NORM;

use crate::attention;
use crate::config::Config;
use crate::emit::Given::{Int, Ints, Number, Value};
use crate::emit::{Emit, Lowered};
use crate::matching::{argument, ints, source};
use crate::refuse::Refused;

/// What an op called so, and those before it, may be as one op.
type Rule = fn(&mut Emit<'_, '_>, OpId) -> Option<Lowered>;

/// Normalisations first, since attention is made of one.
const RULES: [(&str, Rule); 3] = [
    ("real_div", softmax),
    ("real_div", layer_norm),
    ("matmul", attention::found),
];

/// Replaces what the rules find; the ops that made it are left to be swept.
///
/// Errors: an op that does not verify.
pub(crate) fn recognize(g: &mut Graph, config: &Config) -> Result<(), Box<Refused>> {
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

/// A reduction called `name` along `axes`, which stay with extent 1: what it reads, and those axes.
fn reduction(e: &Emit<'_, '_>, value: ValueId, name: &str) -> Option<(ValueId, Vec<i64>)> {
    let op = source(e, value, name)?;
    let keeps = ints(e, op, "keep_dims")? == [1];
    keeps.then_some((argument(e, op, "x")?, ints(e, op, "axes")?))
}

fn operands(e: &Emit<'_, '_>, op: OpId) -> Option<[ValueId; 2]> {
    Some([argument(e, op, "x")?, argument(e, op, "y")?])
}

/// `exp(x - max(x)) / sum(exp(x - max(x)))`.
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

/// `d / sqrt(mean(d * d) + epsilon)`, with `d = x - mean(x)`.
fn layer_norm(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let [deviation, scale] = operands(e, op)?;
    let difference = source(e, deviation, "sub")?;
    let [x, center] = operands(e, difference)?;
    let (averaged, axes) = reduction(e, center, "reduce_mean")?;
    let root = source(e, scale, "sqrt")?;
    let shifted = source(e, argument(e, root, "x")?, "add")?;
    let [variance, epsilon] = operands(e, shifted)?;
    let epsilon = e.uniform(epsilon)?;
    let (squares, same) = reduction(e, variance, "reduce_mean")?;
    let product = source(e, squares, "mul")?;
    if averaged != x || same != axes || operands(e, product)? != [deviation; 2] {
        return None;
    }
    let dtype = match e.config.opset < Opset::Ios17 {
        true => mind_ir::types::DType::F32,
        false => e.dtype(x),
    };
    let args = [
        ("x", Value(x)),
        ("axes", Ints(&axes)),
        ("epsilon", Number(epsilon, dtype)),
    ];
    Some(e.op(&LAYER_NORM, &args))
}
