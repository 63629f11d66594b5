//! Transformer layers: an encoder layer, and a decoder layer with rotary embeddings and grouped-query attention.

use super::Workload;
use super::elementwise::silu_gate;
use super::text::{Id, Text};

/// A layer of BERT base on 128 tokens.
pub(super) fn encoders() -> Vec<Workload> {
    const TOKENS: u64 = 128;
    const WIDTH: u64 = 768;
    const HEADS: u64 = 12;
    const HEAD: u64 = WIDTH / HEADS;
    const INNER: u64 = 3072;
    let shape = [TOKENS, WIDTH];
    let mut t = Text::new("f32");
    let x = t.input("x", &shape);
    let heads = |t: &mut Text, name: &str| {
        let all = t.dense(name, x, [TOKENS, WIDTH, WIDTH]);
        split_heads(t, all, TOKENS, HEADS, HEAD)
    };
    let [q, k, v] = ["query", "key", "value"].map(|name| heads(&mut t, name));
    let k = t.op_with("Transpose", &[k], "permutation=[0, 2, 1]");
    let scores = t.matmul(q, k, [HEADS, TOKENS, HEAD, TOKENS]);
    let scale = t.number(0.125);
    let scores = t.op("Mul", &[scores, scale]);
    let weights = t.op_with("Softmax", &[scores], "axis=2");
    let mixed = t.matmul(weights, v, [HEADS, TOKENS, TOKENS, HEAD]);
    let mixed = t.op_with("Transpose", &[mixed], "permutation=[1, 0, 2]");
    let mixed = t.op_with("Reshape", &[mixed], &format!("new_shape={shape:?}"));
    let attended = t.dense("attended", mixed, [TOKENS, WIDTH, WIDTH]);
    let x = t.op("Add", &[x, attended]);
    let x = normed(&mut t, "norm1", x, WIDTH);
    let inner = t.dense("inner", x, [TOKENS, WIDTH, INNER]);
    let inner = t.op("Gelu", &[inner]);
    let outer = t.dense("outer", inner, [TOKENS, INNER, WIDTH]);
    let x = t.op("Add", &[x, outer]);
    let y = normed(&mut t, "norm2", x, WIDTH);
    vec![t.finish("encoder", &[(y, &shape)])]
}

/// Converts `[tokens, heads head]` to `[heads, tokens, head]`.
fn split_heads(t: &mut Text, x: Id, tokens: u64, heads: u64, head: u64) -> Id {
    let split = t.op_with(
        "Reshape",
        &[x],
        &format!("new_shape=[{tokens}, {heads}, {head}]"),
    );
    t.op_with("Transpose", &[split], "permutation=[1, 0, 2]")
}

fn normed(t: &mut Text, name: &str, x: Id, width: u64) -> Id {
    let scale = t.param(&format!("{name}_scale"), &[width]);
    let shift = t.param(&format!("{name}_shift"), &[width]);
    let norm = t.op("LayerNorm", &[x]);
    let scaled = t.op("Mul", &[norm, scale]);
    t.op("Add", &[scaled, shift])
}

/// A layer of Qwen2-0.5B: prefill of 128 tokens, and decoding of one token after 128.
pub(super) fn decoders() -> Vec<Workload> {
    vec![
        decoder("decoder-prefill-128", 128, 0),
        decoder("decoder-decode-1", 1, 128),
    ]
}

const WIDTH: u64 = 896;
const HEADS: u64 = 14;
const KV_HEADS: u64 = 2;
const GROUP: u64 = HEADS / KV_HEADS;
const HEAD: u64 = 64;
const INNER: u64 = 4864;

/// Returns a layer on `tokens` tokens after `cached` ones, whose keys and values are inputs. Several tokens have a
/// mask.
fn decoder(name: &str, tokens: u64, cached: u64) -> Workload {
    let (shape, kv_shape) = ([tokens, WIDTH], [KV_HEADS, tokens, HEAD]);
    let seen = tokens + cached;
    let mut t = Text::new("f32");
    let x = t.input("x", &shape);
    let cos = t.input("cos", &[tokens, HEAD]);
    let sin = t.input("sin", &[tokens, HEAD]);
    let norm = rms_normed(&mut t, "norm1", x);
    let q = t.dense("query", norm, [tokens, WIDTH, WIDTH]);
    let q = split_heads(&mut t, q, tokens, HEADS, HEAD);
    let q = rotated(&mut t, q, [cos, sin], HEADS, tokens);
    let k = t.dense("key", norm, [tokens, WIDTH, KV_HEADS * HEAD]);
    let k = split_heads(&mut t, k, tokens, KV_HEADS, HEAD);
    let k = rotated(&mut t, k, [cos, sin], KV_HEADS, tokens);
    let v = t.dense("value", norm, [tokens, WIDTH, KV_HEADS * HEAD]);
    let v = split_heads(&mut t, v, tokens, KV_HEADS, HEAD);
    let (mut keys, mut values) = (k, v);
    if cached > 0 {
        let [old_keys, old_values] =
            ["keys", "values"].map(|name| t.input(name, &[KV_HEADS, cached, HEAD]));
        keys = t.op_with("Concat", &[old_keys, k], "axis=1");
        values = t.op_with("Concat", &[old_values, v], "axis=1");
    }
    let q = t.op_with(
        "Reshape",
        &[q],
        &format!("new_shape=[{KV_HEADS}, {GROUP}, {tokens}, {HEAD}]"),
    );
    let keys = t.op_with("Transpose", &[keys], "permutation=[0, 2, 1]");
    let keys = t.op_with("ExpandDims", &[keys], "axes=[1]");
    let values = t.op_with("ExpandDims", &[values], "axes=[1]");
    let scores = t.matmul(q, keys, [HEADS, tokens, HEAD, seen]);
    let scale = t.number(0.125);
    let mut scores = t.op("Mul", &[scores, scale]);
    if tokens > 1 {
        let mask = t.input("mask", &[tokens, seen]);
        scores = t.op("Add", &[scores, mask]);
    }
    let weights = t.op_with("Softmax", &[scores], "axis=3");
    let mixed = t.matmul(weights, values, [HEADS, tokens, seen, HEAD]);
    let mixed = t.op_with("Transpose", &[mixed], "permutation=[2, 0, 1, 3]");
    let mixed = t.op_with("Reshape", &[mixed], &format!("new_shape={shape:?}"));
    let weight = t.param("attended_weight", &[WIDTH, WIDTH]);
    let attended = t.matmul(mixed, weight, [1, tokens, WIDTH, WIDTH]);
    let x = t.op("Add", &[x, attended]);
    let norm = rms_normed(&mut t, "norm2", x);
    let [gate, up] = ["gate", "up"].map(|name| {
        let weight = t.param(&format!("{name}_weight"), &[WIDTH, INNER]);
        t.matmul(norm, weight, [1, tokens, WIDTH, INNER])
    });
    let inner = silu_gate(&mut t, &[gate, up]);
    let weight = t.param("down_weight", &[INNER, WIDTH]);
    let outer = t.matmul(inner, weight, [1, tokens, INNER, WIDTH]);
    let y = t.op("Add", &[x, outer]);
    t.finish(name, &[(y, &shape), (k, &kv_shape), (v, &kv_shape)])
}

/// `x / sqrt(mean(x²) + eps) scale`.
fn rms_normed(t: &mut Text, name: &str, x: Id) -> Id {
    let (scale, eps) = (t.param(&format!("{name}_scale"), &[WIDTH]), t.number(1e-6));
    let square = t.op("Mul", &[x, x]);
    let mean = t.op_with("Mean", &[square], "axes=[1], keepdims=true");
    let above = t.op("Add", &[mean, eps]);
    let root = t.op("Sqrt", &[above]);
    let norm = t.op("Div", &[x, root]);
    t.op("Mul", &[norm, scale])
}

/// `x cos + (-upper half, lower half) sin`, of `[heads, tokens, head]`.
fn rotated(t: &mut Text, x: Id, [cos, sin]: [Id; 2], heads: u64, tokens: u64) -> Id {
    let half = HEAD / 2;
    let mut part = |from: u64, to: u64| {
        let bounds =
            format!("starts=[0, 0, {from}], ends=[{heads}, {tokens}, {to}], steps=[1, 1, 1]");
        t.op_with("Slice", &[x], &bounds)
    };
    let (lower, upper) = (part(0, half), part(half, HEAD));
    let negated = t.op("Neg", &[upper]);
    let turned = t.op_with("Concat", &[negated, lower], "axis=2");
    let straight = t.op("Mul", &[x, cos]);
    let across = t.op("Mul", &[turned, sin]);
    t.op("Add", &[straight, across])
}
