//! Random modules.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::random::Rng;
use mind_ir::types::{DType, Dim};

use crate::support::Module;

const UNARY: [&str; 7] = ["neg", "abs", "relu", "exp", "sqrt", "tanh", "sigmoid"];
const UNARY_INT: [&str; 3] = ["neg", "abs", "relu"];
const BINARY: [&str; 6] = ["add", "sub", "mul", "div", "maximum", "minimum"];
/// No integer division, because it may fail, and folding must not remove failures.
const BINARY_INT: [&str; 5] = ["add", "sub", "mul", "maximum", "minimum"];

/// Returns a random module of about `size` ops over `dtype`, with shared values, constants, transposes, products and
/// reductions.
pub fn module(seed: u64, size: usize, dtype: DType) -> Graph {
    let mut rng = Rng::new(seed);
    let mut m = Module::new();
    let mut values: Vec<ValueId> = Vec::new();
    for shape in [&[4, 4][..], &[4, 4], &[4], &[4, 4, 4], &[]] {
        values.push(m.input(dtype, shape));
    }
    for constant in [0.0, 1.0, 2.0] {
        values.push(m.splat(dtype, &[], constant));
        values.push(m.splat(dtype, &[4, 4], constant));
    }
    if dtype.is_float() {
        values.push(m.splat(dtype, &[4], -0.0));
    }
    for _ in 0..size {
        // Recent values are read more often, so that long chains arise.
        let recent = |rng: &mut Rng| {
            let window = if rng.below(2) == 0 { 6 } else { values.len() };
            values[values.len() - 1 - rng.below(window.min(values.len()))]
        };
        let x = recent(&mut rng);
        let y = recent(&mut rng);
        let shape: Vec<Dim> = m.g.ty(x).shape.to_vec();
        let square = shape.len() >= 2 && shape.iter().rev().take(2).all(|d| *d == Dim::Fixed(4));
        let float = dtype.is_float();
        let value = match rng.below(12) {
            0..=2 => {
                let names = if float { &UNARY[..] } else { &UNARY_INT };
                m.op(names[rng.below(names.len())], &[x])
            }
            3..=6 => {
                let names = if float { &BINARY[..] } else { &BINARY_INT };
                m.op(names[rng.below(names.len())], &[x, y])
            }
            7 | 8 if square => {
                let rank = shape.len() as i64;
                let mut permutation: Vec<i64> = (0..rank).collect();
                permutation.swap(rank as usize - 1, rank as usize - 2);
                m.transpose(x, &permutation)
            }
            9 if square && rows(&m, y) == Some(Dim::Fixed(4)) => m.op("matmul", &[x, y]),
            10 if !shape.is_empty() => {
                let name = ["sum", "max"][rng.below(2)];
                m.reduce(name, x, &[-1], rng.below(2) == 0)
            }
            11 => {
                let mut extents: Vec<i64> = shape.iter().filter_map(|dim| dim.fixed()).collect();
                extents.insert(0, 1);
                m.reshape(x, &extents)
            }
            _ => m.op("neg", &[x]),
        };
        if m.g.ty(value).rank() <= 4 {
            values.push(value);
        }
    }
    let outputs: Vec<ValueId> = (0..3)
        .map(|_| values[values.len() - 1 - rng.below(8)])
        .collect();
    m.outputs(&outputs)
}

/// Returns the second to last extent.
fn rows(m: &Module, value: ValueId) -> Option<Dim> {
    m.g.ty(value).shape.iter().rev().nth(1).copied()
}
