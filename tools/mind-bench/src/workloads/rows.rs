//! Row reductions and ops that depend on them.

use super::Workload;
use super::text::Text;

/// Softmax, layer normalisation and top-10 of 1024 rows of 1024 elements.
pub(super) fn all() -> Vec<Workload> {
    let shape = [1024, 1024];
    let mut t = Text::new("f32");
    let x = t.input("x", &shape);
    let y = t.op_with("Softmax", &[x], "axis=1");
    let softmax = t.finish("softmax-1024", &[(y, &shape)]);
    let mut t = Text::new("f32");
    let (x, scale, shift) = (
        t.input("x", &shape),
        t.param("scale", &[1024]),
        t.param("shift", &[1024]),
    );
    let y = t.op("LayerNorm", &[x]);
    let y = t.op("Mul", &[y, scale]);
    let y = t.op("Add", &[y, shift]);
    let layernorm = t.finish("layernorm-1024", &[(y, &shape)]);
    let mut t = Text::new("f32");
    let x = t.input("x", &shape);
    let [values, places] = t.pair("TopK", x, "axis=1, k=10");
    let outputs: [(_, _, &[u64]); 2] = [(values, "f32", &[1024, 10]), (places, "i64", &[1024, 10])];
    let top = t.finish_as("top-10-of-1024", &outputs);
    vec![softmax, layernorm, top]
}
