//! Random modules with constants, shared values and fused groups.

use mind_interp::{Extents, random_inputs, special_inputs};
use mind_ir::random::Rng;

use crate::module::{assert_same, lowered, read};

const ANY: [&str; 2] = ["Neg", "Relu"];
const FLOAT: [&str; 6] = ["Exp", "Tanh", "Sqrt", "Gelu", "Softmax", "LayerNorm"];
const BINARY: [&str; 5] = ["Add", "Sub", "Mul", "Maximum", "Minimum"];

/// A module under construction; its values are squares, rows or columns.
struct Module {
    rng: Rng,
    text: String,
    float: bool,
    next: usize,
}

impl Module {
    fn line(&mut self, op: &str) -> usize {
        self.text += &format!("%{} = {op}\n", self.next);
        self.next += 1;
        self.next - 1
    }

    /// Adds an op on some of `values`; later ones are more likely.
    fn op(&mut self, values: &[usize]) -> usize {
        let recent = |rng: &mut Rng| {
            let window = if rng.below(2) == 0 { 3 } else { values.len() };
            values[values.len() - 1 - rng.below(window.min(values.len()))]
        };
        let (x, y) = (recent(&mut self.rng), recent(&mut self.rng));
        let op = match self.rng.below(8) {
            0 if self.float => format!("{} (%{x})", self.rng.pick(&FLOAT)),
            0 | 1 => format!("{} (%{x})", self.rng.pick(&ANY)),
            2 => {
                let name = self.rng.pick(&["Sum", "Mean", "Max"]);
                format!(
                    "{name} (%{x}) {{axes=[{}], keepdims=true}}",
                    self.rng.below(2)
                )
            }
            3 => format!("Transpose (%{x})"),
            _ => format!("{} (%{x}, %{y})", self.rng.pick(&BINARY)),
        };
        self.line(&op)
    }

    fn group(&mut self, values: &[usize]) -> usize {
        let operands: Vec<usize> = (0..1 + self.rng.below(3))
            .map(|_| values[self.rng.below(values.len())])
            .collect();
        let ids = |ids: &[usize]| {
            let ids: Vec<String> = ids.iter().map(|id| format!("%{id}")).collect();
            ids.join(", ")
        };
        let result = self.next;
        let arguments: Vec<usize> = (1..=operands.len()).map(|at| result + at).collect();
        self.text += &format!("%{result} = Fused ({}) {{kind=test}} {{\n", ids(&operands));
        self.text += &format!("args: {}\n", ids(&arguments));
        self.next += 1 + operands.len();
        let mut inner = arguments;
        for _ in 0..1 + self.rng.below(4) {
            let value = self.op(&inner);
            inner.push(value);
        }
        let last = inner[inner.len() - 1];
        self.text += &format!("yield: %{last}\n}}\n");
        result
    }
}

/// Returns the text of a module with `size` ops.
fn module(seed: u64, size: usize, dtype: &str, dim: &str) -> String {
    let mut m = Module {
        rng: Rng::new(seed),
        text: String::new(),
        float: !dtype.starts_with('i'),
        next: 0,
    };
    let mut values = Vec::new();
    for (at, dims) in [
        format!("{dim}, {dim}"),
        format!("1, {dim}"),
        format!("{dim}, {dim}"),
    ]
    .iter()
    .enumerate()
    {
        let op = format!("Input {{name=x{at}}} : tensor<{dtype}[{dims}]>");
        values.push(m.line(&op));
    }
    let fill = if m.float { "1.5" } else { "3" };
    let row = if dim == "4" { "[1, 4]" } else { "[1, 1]" };
    for shape in ["[]", "[1, 1]", row] {
        values.push(m.line(&format!(
            "ConstTensor {{dtype={dtype}, fill={fill}, shape={shape}}}"
        )));
    }
    let square = values[0];
    for _ in 0..size {
        let value = match m.rng.below(6) {
            0 => m.group(&values),
            _ => m.op(&values),
        };
        // Adding a square keeps every value at rank 2, because softmax rejects scalars.
        let value = m.line(&format!("Add (%{value}, %{square})"));
        values.push(value);
    }
    let last = values[values.len() - 1];
    let middle = values[values.len() / 2];
    m.text + &format!("outputs: %{last}, %{middle}\n")
}

#[test]
fn random_modules_keep_their_bits() {
    let mut ran = 0;
    for seed in 0..160u64 {
        let dtype = ["f32", "f16", "bf16", "f64", "i32", "i8"][seed as usize % 6];
        let dim = ["4", "B", "?"][seed as usize / 6 % 3];
        let text = module(seed, 12, dtype, dim);
        let Ok(g) = read(&text) else { continue };
        let low = lowered(&g, &text);
        for (make, seed) in [(random_inputs as fn(_, _, _) -> _, 1), (special_inputs, 2)] {
            let arrays = make(&g, seed, Extents::default()).expect("small arrays");
            assert_same(&g, &low, &arrays, &text);
        }
        ran += 1;
    }
    assert!(ran > 100, "only {ran} of the modules are valid");
}
