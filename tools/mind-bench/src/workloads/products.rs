//! Matrix products: alone, in a residual block, in a perceptron.

use super::Workload;
use super::text::Text;

/// `relu(x W + b) + x`.
pub(super) fn blocks() -> Vec<Workload> {
    let sizes = [128, 1024];
    let dtypes = ["f32", "f16", "bf16"];
    let cases = sizes
        .into_iter()
        .flat_map(|n| dtypes.into_iter().map(move |dtype| (n, dtype)));
    let block = |(n, dtype)| {
        let mut t = Text::new(dtype);
        let x = t.input("x", &[n, n]);
        let biased = t.dense("dense", x, [n, n, n]);
        let active = t.op("Relu", &[biased]);
        let y = t.op("Add", &[active, x]);
        t.finish(format!("block-{n}-{dtype}"), &[(y, &[n, n])])
    };
    cases.map(block).collect()
}

/// 784-256-10, for digit recognition.
pub(super) fn perceptrons() -> Vec<Workload> {
    let perceptron = |batch| {
        let mut t = Text::new("f32");
        let x = t.input("x", &[batch, 784]);
        let hidden = t.dense("hidden", x, [batch, 784, 256]);
        let hidden = t.op("Relu", &[hidden]);
        let y = t.dense("out", hidden, [batch, 256, 10]);
        t.finish(format!("mlp-{batch}"), &[(y, &[batch, 10])])
    };
    [1, 32, 256].into_iter().map(perceptron).collect()
}

/// Product of byte matrices with 32-bit sums.
fn bytes() -> Workload {
    let (n, shape) = (512, [512, 512]);
    let mut t = Text::new("i32");
    let a = t.port("a", "u8", "", &shape);
    let b = t.port("b", "i8", ", role=param", &shape);
    let c = t.op_with(
        "DotGeneral",
        &[a, b],
        "dtype=i32, lhs_contract=[1], rhs_contract=[0]",
    );
    t.count_flops(2 * n * n * n);
    t.finish("matmul-512-i8", &[(c, &shape)])
}

/// Returns the product of two inputs, `m` by `k` and `k` by `n`.
pub fn product(name: String, [m, k, n]: [u64; 3]) -> Workload {
    let mut t = Text::new("f32");
    let (a, b) = (t.input("a", &[m, k]), t.input("b", &[k, n]));
    let c = t.matmul(a, b, [1, m, k, n]);
    t.finish(name, &[(c, &[m, n])])
}

/// Returns square products of inputs, products of bytes, and products of few rows with a large square of weights.
pub(super) fn matrices() -> Vec<Workload> {
    let square = |n| product(format!("matmul-{n}"), [n; 3]);
    let thin = |rows| {
        let mut t = Text::new("f32");
        let (a, b) = (t.input("a", &[rows, 4096]), t.param("b", &[4096, 4096]));
        let c = t.matmul(a, b, [1, rows, 4096, 4096]);
        t.finish(format!("matmul-{rows}x4096"), &[(c, &[rows, 4096])])
    };
    let squares = [64, 128, 256, 512, 1024, 2048].into_iter().map(square);
    let thin = [1, 8].into_iter().map(thin);
    squares.chain([bytes()]).chain(thin).collect()
}
