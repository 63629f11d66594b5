//! Chains of elementwise ops.

use super::Workload;
use super::text::{Id, Text};

/// Returns each chain with operands in the second-level cache and in memory.
pub(super) fn all() -> Vec<Workload> {
    let sizes = [(16 << 10, "16k"), (4 << 20, "4m")];
    let cases = sizes.into_iter().flat_map(|(count, size)| {
        let chain = |name: &str, inputs: &[&str], body: fn(&mut Text, &[Id]) -> Id| {
            let mut t = Text::new("f32");
            let inputs: Vec<Id> = inputs.iter().map(|name| t.input(name, &[count])).collect();
            let y = body(&mut t, &inputs);
            t.finish(format!("{name}-{size}"), &[(y, &[count])])
        };
        [
            chain("chain", &["x", "a", "b"], chained),
            chain("gelu-tanh", &["x"], gelu_tanh),
            chain("gelu", &["x"], |t, xs| t.op("Gelu", xs)),
            chain("where", &["x", "a", "b"], chosen),
            chain("silu-gate", &["gate", "up"], silu_gate),
        ]
    });
    cases.collect()
}

/// `relu(x a + b) + x`.
fn chained(t: &mut Text, xs: &[Id]) -> Id {
    let product = t.op("Mul", &[xs[0], xs[1]]);
    let sum = t.op("Add", &[product, xs[2]]);
    let active = t.op("Relu", &[sum]);
    t.op("Add", &[active, xs[0]])
}

/// `x < a ? x b : (x < b ? x + b : a)`.
fn chosen(t: &mut Text, xs: &[Id]) -> Id {
    let [x, a, b] = [xs[0], xs[1], xs[2]];
    let is_below = t.op_with("Compare", &[x, a], "direction=lt");
    let is_under = t.op_with("Compare", &[x, b], "direction=lt");
    let (product, sum) = (t.op("Mul", &[x, b]), t.op("Add", &[x, b]));
    let rest = t.op("Select", &[is_under, sum, a]);
    t.op("Select", &[is_below, product, rest])
}

/// `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³)))`.
fn gelu_tanh(t: &mut Text, xs: &[Id]) -> Id {
    let x = xs[0];
    let [half, one, cubic, scale] =
        [0.5, 1.0, 0.044715, 0.797_884_560_802_865_4].map(|c| t.number(c));
    let square = t.op("Mul", &[x, x]);
    let cube = t.op("Mul", &[square, x]);
    let bent = t.op("Mul", &[cube, cubic]);
    let inner = t.op("Add", &[x, bent]);
    let inner = t.op("Mul", &[inner, scale]);
    let tanh = t.op("Tanh", &[inner]);
    let above = t.op("Add", &[tanh, one]);
    let y = t.op("Mul", &[x, above]);
    t.op("Mul", &[y, half])
}

/// `gate sigmoid(gate) up`.
pub(super) fn silu_gate(t: &mut Text, xs: &[Id]) -> Id {
    let sigmoid = t.op("Sigmoid", &[xs[0]]);
    let silu = t.op("Mul", &[xs[0], sigmoid]);
    t.op("Mul", &[silu, xs[1]])
}
