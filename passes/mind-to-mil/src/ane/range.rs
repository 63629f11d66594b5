//! Bounds on the sums of products.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::tensor::Tensor;
use mind_mil::MilOp;
use mind_mil::call::{Call, floats};
use mind_mil::ops;
use mind_mil::structure::constant_of;

/// Maximum length of the use-def chain for a bound.
const DEPTH: usize = 8;

/// Returns the description of a product with a constant weight whose sums may reach `most`; `None` if they stay below,
/// or if the weight is not constant.
pub(super) fn partial_sum(most: f64, g: &Graph, row: &MilOp, call: &Call<'_>) -> Option<String> {
    let name = match row.name {
        "matmul" => "y",
        "linear" | "conv" => "weight",
        _ => return None,
    };
    let weight = constant_of(g, call.value(name)?)?.tensor(g)?;
    let columns = row.name == "matmul" && !call.flag("transpose_y");
    let bias = call.tensor("bias").known();
    let bias = bias.map_or(0.0, |bias| magnitude(&bias));
    let known = bound(g, call.value("x")?, DEPTH);
    let inputs = known.unwrap_or(1.0);
    let sum = largest_sum(&weight, columns) * inputs + bias;
    let inputs = match known {
        Some(inputs) => format!("inputs up to {inputs}"),
        None => "inputs up to 1, which is not known".to_owned(),
    };
    (sum >= most).then(|| format!("sums of products may reach {sum:.0} for {inputs}"))
}

fn magnitude(tensor: &Tensor) -> f64 {
    floats(tensor).into_iter().map(f64::abs).fold(0.0, f64::max)
}

/// Returns the largest sum of weight magnitudes for one element of a product: of a row of the weight, or of a column of
/// its last two dimensions.
fn largest_sum(weight: &Tensor, columns: bool) -> f64 {
    let elements = floats(weight);
    let width = weight.shape().last().copied().unwrap_or(1).max(1);
    if columns && weight.rank() >= 2 {
        let rows = weight.shape()[weight.rank() - 2].max(1);
        let matrices = elements.chunks_exact(rows * width);
        let sums = matrices.flat_map(|matrix| {
            (0..width).map(|at| {
                matrix
                    .iter()
                    .skip(at)
                    .step_by(width)
                    .map(|x| x.abs())
                    .sum::<f64>()
            })
        });
        return sums.fold(0.0, f64::max);
    }
    let each: usize = weight.shape().iter().skip(1).product::<usize>().max(1);
    let sums = elements
        .chunks(each)
        .map(|row| row.iter().map(|x| x.abs()).sum::<f64>());
    sums.fold(0.0, f64::max)
}

/// Returns an upper bound on the magnitude of a value, derived from the ops that made it.
fn bound(g: &Graph, value: ValueId, depth: usize) -> Option<f64> {
    if let Some(constant) = constant_of(g, value) {
        return Some(magnitude(&constant.tensor(g)?));
    }
    let op = g.defining_op(value)?;
    let row = ops::row(g.def(op))?;
    let call = Call::bind(row, op, g).ok()?;
    match row.name {
        "softmax" | "sigmoid" | "sigmoid_hard" | "tanh" | "erf" | "softsign" | "sin" | "cos" => {
            Some(1.0)
        }
        "relu6" => Some(6.0),
        "clip" => Some(call.float("alpha")?.abs().max(call.float("beta")?.abs())),
        "relu" | "reshape" | "transpose" | "expand_dims" | "squeeze" | "slice_by_index"
        | "slice_by_size" | "split" | "identity" | "tile" | "reduce_max" | "reduce_mean"
            if depth > 0 =>
        {
            bound(g, call.value("x")?, depth - 1)
        }
        _ => None,
    }
}
