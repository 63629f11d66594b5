//! Every op of the core dialect folds over constants, or has a reason why not.

use mind_ir::opdef::{OpDef, OperandClass};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;

use crate::support::{Module, context, dump, folded, ops, run, shipped};
use crate::text::module;

/// Expressions over constants that fold, at least one for each op.
const FOLDS: &[&str] = &[
    "add(data[1, 2, 3]:f16[3], 0.1:f16[])",
    "sub(data[1, 2, 3]:i8[3], data[4, 5, 6]:i8[3])",
    "mul(data[1, 2, 3]:bf16[3], 0.1:bf16[])",
    "div(data[1, -7, 3]:i32[3], 2:i32[])",
    "maximum(data[1, -0.0]:f32[2], 0:f32[])",
    "minimum(data[1, -0.0]:f32[2], 0:f32[])",
    "relu(data[1, -1]:f64[2])",
    "neg(data[1, 0]:f32[2])",
    "abs(data[1, -2]:i16[2])",
    "exp(data[1, -2]:f32[2])",
    "log(data[1, 2]:f16[2])",
    "sqrt(data[1, 2]:f32[2])",
    "erf(data[1, 2]:f32[2])",
    "tanh(data[1, 2]:f64[2])",
    "sigmoid(data[1, 2]:bf16[2])",
    "gelu(data[1, 2]:f32[2])",
    "sum(data[16777216, 1, 1, 1]:f32[2, 2], axes=[1])",
    "mean(data[1, 2, 4, 4]:f16[2, 2], axes=[0], keepdims=true)",
    "max(data[1, 2, -4, 4]:u8[2, 2])",
    "compare(data[1, 2]:f16[2], data[2, 1]:f16[2], direction=ge)",
    "cast(data[1.5, -2]:f32[2], dtype=i8)",
    "cast(3:i64[2], dtype=bf16)",
    "bitcast(data[1, 2]:f32[2], dtype=u8)",
    "reshape(data[1, 2, 3, 4]:i64[2, 2], new_shape=[4])",
    "transpose(data[1, 2, 3, 4]:f32[2, 2])",
    "expand_dims(data[1, 2]:f32[2], axes=[0])",
    "squeeze(data[1, 2]:f32[1, 2], axes=[0])",
    "index(data[1, 2, 3, 4]:f32[2, 2], indices=[1, 0])",
    "slice(data[1, 2, 3, 4]:f32[4], starts=[1], ends=[4], steps=[2])",
    "gather(data[1, 2, 3, 4]:f32[2, 2], data[1, 0, 1]:i32[3])",
    "gather(data[1, 2, 3, 4]:f32[2, 2], data[1, 0]:i64[2], axis=1)",
    "concat(data[1, 2]:f32[2], data[3, 4]:f32[2], 5:f32[1], axis=0)",
    "split(data[1, 2, 3, 4]:f32[4], axis=0, count=2, part=1)",
    "dot(data[1, 2]:f32[2], data[3, 4]:f32[2])",
    "matmul(data[1, 2, 3, 4]:f16[2, 2], data[0.1, 0.2, 0.3, 0.4]:f16[2, 2])",
    "matmul(data[1, 2, 3, 4]:i8[2, 2], data[1, 2, 3, 4]:i8[2, 2])",
    "dot_general(data[1, 2]:u8[2], data[3, -4]:i8[2], lhs_contract=[0], rhs_contract=[0], dtype=i32)",
    "quantize(data[1.5, -2]:f32[2], data[0.25, 2]:f32[2], data[3, 4]:i8[2], dtype=i8)",
    "dequantize(data[1, -2]:i8[2], data[0.5, 2]:f32[2])",
    "conv2d(data[1, 2, 3, 4]:f32[1, 2, 2, 1], data[0.1, 0.2]:f32[1, 2, 1, 1], padding=same)",
    "reduce_window(data[1, 2, 3, 4]:f32[2, 2], window=[1, 2], kind=mean)",
    "conv(data[1, 2, 3, 4]:f32[1, 2, 2], data[0.1, 0.2]:f32[1, 1, 2], groups=2)",
    "conv_transpose(data[1, 2, 3, 4]:f32[1, 4, 1], data[0.1, 0.2]:f32[2, 1, 1], strides=[2])",
    "softmax(data[1, 2, 3, 4]:f32[2, 2])",
    "layernorm(data[1, 2, 3, 4]:f32[2, 2])",
    "min(data[1, 2, -4, 4]:i8[2, 2])",
    "argmax(data[1, 2, 3, 4]:f32[2, 2], axis=0)",
    "argmin(data[1, 2, 3, 4]:f32[2, 2], axis=-1)",
    "prod(data[1, 2, 3, 4]:f16[2, 2], axes=[0])",
    "cumulative(data[1, 2, 3, 4]:f16[2, 2], axis=0, kind=prod)",
    "reverse(data[1, 2, 3, 4]:f32[2, 2], axes=[0])",
    "cholesky(data[4, 2, 2, 5]:f32[2, 2], lower=true)",
    "triangular_solve(data[2, 0, 1, 4]:f32[2, 2], data[1, 2]:f32[2, 1], lower=true)",
    "pad(data[1, 2]:f32[2], low=[1], high=[0])",
    "pad(data[1, 2]:f32[2], 7:f32[], low=[1], high=[0], interior=[1])",
    "argmax_window(data[1, 2]:f32[2], window=[2])",
    "resize(data[1, 2]:f32[2], axes=[0], sizes=[4])",
    "grid_sample(data[1, 2]:f32[1, 2, 1], data[0]:f32[1, 1, 1])",
    "broadcast_to(data[1, 2]:f32[2, 1], shape=[2, 3])",
    "dim(data[1, 2]:f32[2], axis=0)",
    "dynamic_slice(data[1, 2, 3]:f32[3], 1:i32[], sizes=[2])",
    "dynamic_update_slice(data[1, 2, 3]:f32[3], data[7]:f32[1], 9:i64[])",
    "gather_elements(data[1, 2, 3, 4]:f32[2, 2], data[1, 0]:i32[1, 2])",
    "gather_nd(data[1, 2, 3, 4]:f32[2, 2], data[1, 0]:i64[1, 2])",
    "scatter_elements(data[1, 2]:f32[2], data[1]:i32[1], data[5]:f32[1])",
    "scatter_nd(data[1, 2]:f32[2], data[1]:i32[1, 1], data[5]:f32[1])",
    "block_matmul(data[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]:i8[1, 32], data[3]:f32[1, 1], data[0, 60, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]:u8[1, 34], format=q8_0)",
];

/// Returns an expression over constants for each elementwise op without attributes.
fn elementwise() -> Vec<String> {
    let defs = mind_core::ops::OPS.iter();
    let plain = defs.filter(|def| def.scalar.is_some() && def.attrs.is_empty());
    let text = |def: &&'static OpDef| {
        let operands = def.operands.iter().map(|operand| match operand.class {
            OperandClass::Bool => "compare(data[1, 2]:i32[2], data[2, 1]:i32[2], direction=lt)",
            class if !class.admits(DType::F32) => "data[12, 2]:i32[2]",
            _ if def.short_name() == "acosh" => "data[1.5, 2]:f32[2]",
            _ => "data[0.5, 0.25]:f32[2]",
        });
        let operands: Vec<&str> = operands.collect();
        format!("{}({})", def.short_name(), operands.join(", "))
    };
    plain.map(text).collect()
}

/// Ops that never fold over constants, and why.
const EXCUSED: &[(&str, &str)] = &[
    (
        "iota",
        "folding starts from constant operands, and it has none",
    ),
    ("nonzero", "its type has an extent that its elements decide"),
    ("unique", "four results, which a class cannot hold"),
    (
        "dynamic_reshape",
        "its type has an extent that its elements decide",
    ),
    (
        "dynamic_broadcast_to",
        "its type has an extent that its elements decide",
    ),
    (
        "dynamic_iota",
        "its type has an extent that its elements decide",
    ),
    (
        "non_max_suppression",
        "its type has an extent that its elements decide",
    ),
    ("sort", "two results, which a class cannot hold"),
    ("top_k", "two results, which a class cannot hold"),
    ("input", "known only when the module runs"),
    ("const_i64", "a constant already"),
    ("const_f32", "a constant already"),
    ("const_f64", "a constant already"),
    ("const_tensor", "a constant already"),
    ("fused", "a promise of one kernel, made after folding"),
    (
        "if",
        "its regions are folded as modules; `unroll` chooses one",
    ),
    ("while", "its regions are folded as modules"),
    (
        "scan",
        "its region is folded as a module; `unroll` repeats it",
    ),
];

#[test]
fn every_op_folds_or_says_why_not() {
    let rules = shipped();
    let own = elementwise();
    let all = || FOLDS.iter().copied().chain(own.iter().map(String::as_str));
    for text in all() {
        let before = module(text);
        let mut g = before.clone();
        folded(&mut g, &context(&rules));
        assert!(ops(&g).is_empty(), "{text}\n{}", dump(&g));
        let (expected, found) = (run(&before, 0), run(&g, 0));
        assert!(
            expected[0].same_bits(&found[0]),
            "{text}: {expected:?}, {found:?}"
        );
    }
    let folds = |name: &str| {
        let texts = all().map(|text| text.split('(').next());
        texts.flatten().any(|op| op == name)
    };
    let named = |name: &str| folds(name) != EXCUSED.iter().any(|(op, _)| *op == name);
    let missing: Vec<&str> = mind_core::ops::OPS
        .iter()
        .map(|def| def.short_name())
        .filter(|name| !named(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(EXCUSED.iter().all(|(_, reason)| !reason.is_empty()));
}

/// Expressions that must not be folded, because they fail, overflow, are not finite, or are large.
const STAYS: &[&str] = &[
    "div(data[1, 2]:i32[2], data[1, 0]:i32[2])",
    "div(-128:i8[2], data[1, -1]:i8[2])",
    "gather(data[1, 2]:f32[2], data[0, 2]:i32[2])",
    "gather(data[1, 2]:f32[2], data[0, -1]:i32[2])",
    "index(data[1, 2]:f32[2], indices=[2])",
    "sum(data[100, 100]:i8[2])",
    "mean(data[100, 100]:i8[2])",
    "matmul(data[100, 2]:i8[1, 2], data[1, 100]:i8[2, 1])",
    "conv2d(data[100, 2]:i8[1, 1, 2, 1], data[1, 100]:i8[1, 2, 1, 1])",
    "dot(data[100, 2]:i8[2], data[1, 100]:i8[2])",
    "reduce_window(data[100, 100]:i8[2], window=[2], kind=sum)",
    "conv(data[100, 2]:i8[1, 2, 1], data[1, 100]:i8[2, 1, 1])",
    "sum(data[60000, 60000]:f16[2])",
    "matmul(data[3e38, 3e38]:f32[1, 2], data[1, 1]:f32[2, 1])",
    "softmax(data[inf, 1]:f32[2])",
    "layernorm(data[inf, 1]:f32[2])",
    "max(data[nan, 1]:f32[2])",
    "matmul(1:f32[32, 1], 2:f32[1, 32])",
    "add(data[1, 2, 3]:f32[3, 1], 1:f32[1, 300])",
];

#[test]
fn what_must_be_left_to_the_run_stays() {
    let rules = shipped();
    for text in STAYS {
        let mut g = module(text);
        folded(&mut g, &context(&rules));
        assert_eq!(ops(&g).len(), 1, "{text}\n{}", dump(&g));
    }
}

#[test]
fn large_constants_fold_within_a_bound_of_work() {
    let matrix = |m: &mut Module, extent: usize| {
        let elements: Vec<f32> = (0..extent * extent).map(|at| (at % 7) as f32).collect();
        m.constant(&Tensor::new(
            vec![extent, extent],
            Buffer::F32(elements.into()),
        ))
    };
    let rules = shipped();
    let folds = |products: usize, extent: usize| {
        let mut m = Module::new();
        let x = m.input(DType::F32, &[extent as i64, extent as i64]);
        let w = matrix(&mut m, extent);
        let mut product = w;
        for _ in 0..products {
            product = m.op("matmul", &[product, w]);
            let sixteenth = m.splat(DType::F32, &[], 0.001);
            product = m.op("mul", &[product, sixteenth]);
        }
        let y = m.op("sub", &[x, product]);
        let mut g = m.outputs(&[y]);
        folded(&mut g, &context(&rules));
        ops(&g).iter().filter(|op| **op == "matmul").count()
    };
    assert_eq!(folds(2, 128), 0);
    let left = folds(40, 128);
    assert!((1..40).contains(&left), "{left}");
}
