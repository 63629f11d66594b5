//! Both spellings of every op.

use mind_ir::opdef::OpDef;
use mind_snapshot::snapshot;

use crate::{canonical, errors, parse, print, reads_as};

/// Lines in the spelling of the specification or with optional parts omitted. `%a` is a value.
const LINES: &[&str] = &[
    r#"Input() {name: "x"} : Tensor<f32, [4, B, ?]>"#,
    r#"Input {role=input, name="a b\n\r\t\\\""}: tensor<bool[ ]>"#,
    "Input {name=w, role=param} : tensor<f32[4]>",
    "ConstI64(-7)",
    "ConstF32(0.1)",
    "ConstF32(-0) : Tensor<f32, []>",
    "ConstF64(1e300)",
    "ConstF64(-inf)",
    "ConstTensor([[1.0],[2.0]]) : Tensor<f32, [2, 1]>",
    "ConstTensor([1, 2, 3, 4], i8, [2, 2])",
    "ConstTensor {fill=0, shape=[2, 1], dtype=f32}",
    "ConstTensor {fill=true} : tensor<bool[B, 1000000000000]>",
    "ConstTensor {data=7} : tensor<u64[]>",
    "ConstTensor {data=[nan, -0.0, 65504], dtype=f16}",
    "ConstTensor {data=[1, 2], dtype=i32, shape=[3]}",
    "BinOp(Add, %a, %a)",
    "BinOp(Sub, %a, %a,)",
    "BinOp (Mul,%a,%a) {}",
    "BinOp(Div, %a, %a) : Tensor<i32, [2]>",
    "BinOp(Maximum, %a, %a)",
    "BinOp(Minimum, %a, %a)",
    "Pow(%a,%a)",
    "Mod(%a, %a)",
    "core.remainder(%a, %a)",
    "core.atan2(%a, %a)",
    "Compare(%a, %a, lt)",
    "Compare (%a, %a) {direction: ge}",
    "Select(%a, %a, %a)",
    "Cast(%a, bf16)",
    "And(%a, %a)",
    "Or(%a, %a)",
    "Xor(%a, %a)",
    "core.not(%a)",
    "core.shift_left(%a, %a)",
    "ShiftRight(%a, %a)",
    "core.sigmoid(%a)",
    "Tanh(%a)",
    "Sum(%a, [1], true)",
    "Sum(%a)",
    "Sum(%a) {keepdims: true, axes: [ 0 , -1, ]}",
    "Mean(%a, [0, 1], false)",
    "Max(%a, [-1])",
    "Min(%a, [0], true)",
    "Prod(%a)",
    "ArgMax(%a, 1)",
    "ArgMin(%a, -1, true, true)",
    "ReduceWindow(%a, [1, 2], [2, 2], [1, 1], [0, 1], [0, 1], max)",
    "ReduceWindow (%a) {count_padding: true, kind: mean, window: [1, 2]}",
    "Bitcast(%a, u8)",
    "Cumulative(%a, 1, prod)",
    "core.cumulative(%a, -1) {reverse: true}",
    "Reverse(%a, [0])",
    "Pad(%a, [1, -1], [0, 0])",
    "Pad(%a, %a) {low=[1], high=[0], interior=[2]}",
    "BroadcastTo(%a, [2, B, ?])",
    "Iota {dtype=u8, shape=[2, B]}",
    "Dim(%a, 1)",
    "DynamicSlice(%a, %a, %a) {sizes=[1, 2]}",
    "DynamicUpdateSlice(%a, %a, %a) {bounds=from_end}",
    "DynamicReshape(%a, %a, [?, 3])",
    "DynamicBroadcastTo(%a, %a) {shape=[2, ?]}",
    "DynamicIota(%a) {dtype=u8, shape=[2, ?]}",
    "GatherElements(%a, %a, 1)",
    "GatherNd(%a, %a) {bounds=skip}",
    "ScatterElements(%a, %a, %a) {kind=add}",
    "ScatterNd(%a, %a, %a) {bounds=clamp}",
    "%1, %2 = Sort(%a, 1, true)",
    "%1, %2 = TopK(%a, 2)",
    "NonZero(%a)",
    "%1, %2, %3, %4 = Unique(%a, false, 1)",
    "NonMaxSuppression(%a, %a, %a, %a, %a)",
    "Reshape(%a, [2, -1])",
    "Reshape(%a, [B, ?, 007])",
    "Transpose(%a, [1, 0])",
    "Transpose(%a, [])",
    "ExpandDims(%a, [0, 2])",
    "Squeeze(%a, [1])",
    "Index(%a, [1, 2])",
    "Slice(%a, [0:2:1, 1:4])",
    "Slice(%a, [0:, 1::2])",
    "Slice(%a, [0], [4], [2])",
    "Slice(%a, [])",
    "Slice(%a, [], [_], [])",
    "Gather(%a, %a)",
    "Gather(%a, %a, 1)",
    "Gather(%a, %a, 0, skip)",
    "Gather(%a, %a) {bounds: clamp, axis: -1}",
    "Concat(%a, %a, %a, 0)",
    "Split(%a, 0, 2)",
    "Dot(%a, %a)",
    "MatMul(%a, %a)",
    "Cholesky(%a, true)",
    "TriangularSolve(%a, %a) {lower: false, transpose_a: true}",
    "DotGeneral(%a, %a, [0], [1], [2], [0], i32)",
    "DotGeneral(%a, %a) {lhs_contract: [1], rhs_contract: [1]}",
    "Quantize(%a, %a, u8, 1)",
    "Quantize(%a, %a, %a) {dtype=i8}",
    "Dequantize(%a, %a, %a) {axis: 0}",
    "BlockMatMul(%a, %a, %a, q4_k)",
    "Conv2d(%a, %a, [1, 1], Same)",
    "Conv2d(%a, %a, [2, 1], Valid)",
    "Conv2d(%a, %a, [1, 1], Custom([[1, 2], [0, -3]]))",
    "Conv2d(%a, %a) {padding=[[1,2,],[0,3],]}",
    "ArgMaxWindow(%a, [1, 2], [2, 2])",
    "Resize(%a, [1], [4], linear, asymmetric)",
    "Resize (%a, %a) {axes: [0, 1], coordinates: crop, fill: 1.5, mode: cubic, sizes: [2, 3]}",
    "GridSample(%a, %a, nchw, cubic, pixel, border)",
    "Conv(%a, %a, nchw, [2], [1], [0, 1], 3, i32)",
    "ConvTranspose (%a, %a) {output_padding: [1], strides: [2]}",
    "Softmax(%a)",
    "LayerNorm(%a)",
    "Fused(%a, epilogue) {\nyield:\n}",
    "If(%a, %a) {\nargs: %2\nyield: %2\n} {\nargs: %3\nyield: %3\n}",
    "While(%a) {carried=1} {\nargs: %2\nyield: %2\n} {\nargs: %3 : tensor<f32[]>\nyield: %3\n}",
    "Scan(%a, %a) {carried=1, scanned=1, in_reverse=[1]} {\nargs: %2, %3\nyield: %2\n}",
];

fn module(line: &str) -> String {
    let results = if line.starts_with('%') { "" } else { "%1 = " };
    format!(
        "%0 = Input {{name=a}} : tensor<f32[]>\n{results}{}\noutputs: %1",
        line.replace("%a", "%0")
    )
}

#[test]
fn every_line_is_read_in_both_spellings_and_printed_in_one() {
    let printed = LINES.iter().map(|written| {
        let printed = print(&parse(&module(written)));
        canonical(&printed);
        let line = printed.split_once('\n').map_or("", |(_, line)| line);
        format!("{written}\n  {}\n", line.trim_end_matches("\noutputs: %1"))
    });
    snapshot!(printed.collect::<Vec<_>>().join("\n"));
}

/// Returns the name of an elementwise op of one operand. All of them have the same syntax.
fn unary_word(def: &OpDef) -> Option<&'static str> {
    let is_unary = def.scalar.is_some_and(|function| function.arity() == 1);
    def.names.core.filter(|_| is_unary)
}

#[test]
fn elementwise_ops_are_read_and_printed_by_their_word() {
    for def in mind_core::DIALECT.ops {
        if let Some(word) = unary_word(def) {
            reads_as(
                &module(&format!("{word}(%a)")),
                &module(&format!("{word} (%a)")),
            );
            reads_as(
                &module(&format!("{}(%a)", def.name)),
                &module(&format!("{word} (%a)")),
            );
        }
    }
}

#[test]
fn every_op_has_a_line() {
    let ops: Vec<&OpDef> = (LINES.iter())
        .map(|line| {
            let g = parse(&module(line));
            g.ops(g.body()).nth(1).map(|op| g.def(op)).expect("an op")
        })
        .collect();
    let mut missing = mind_core::DIALECT
        .ops
        .iter()
        .filter(|def| unary_word(def).is_none() && !ops.iter().any(|op| std::ptr::eq(*op, **def)));
    assert_eq!(missing.next().map(|def| def.name), None);
}

#[test]
fn blanks_comments_and_line_ends_are_free() {
    reads_as(
        "\u{feff}# RUN: mind-opt %s\r\n\r\n\t%0=Input{name=x}:tensor<f32[4,6]># why\r\n  %1\t=Sum(%0){axes=[1,],}\r\noutputs:%0,%1,# all\n\n# end",
        "%0 = Input {name=x} : tensor<f32[4, 6]>\n%1 = Sum (%0) {axes=[1], keepdims=false}\noutputs: %0, %1",
    );
    reads_as("", "");
    reads_as("# nothing", "");
}

#[test]
fn a_hash_in_quotes_is_no_comment() {
    canonical("%0 = Input {name=\"a # b\"} : tensor<f32[]>\noutputs: %0");
}

#[test]
fn names_are_quoted_when_they_must_be() {
    canonical("%0 = Input {name=\"\"} : tensor<f32[]>");
    canonical("%0 = Input {name=\"1x\"} : tensor<f32[]>");
    canonical("%0 = Input {name=\"é\u{2028}\"} : tensor<f32[]>");
    canonical("%0 = Input {name=true} : tensor<f32[]>");
}

#[test]
fn ids_are_sparse_and_survive() {
    canonical(
        "%9223372036854775807 = ConstI64 {value=1}\n%3 = Neg (%9223372036854775807)\n%0 = Neg (%3)\noutputs: %0, %3, %3",
    );
    reads_as(
        "%007 = ConstI64(1)\noutputs: %7",
        "%7 = ConstI64 {value=1}\noutputs: %7",
    );
}

#[test]
fn types_stay_absent_where_none_is_written() {
    canonical("%0 = Input {name=x}\n%1 = Relu (%0)\noutputs: %1");
    canonical("%0 = Input {name=x}");
    canonical("outputs:");
}

#[test]
fn other_dialects_go_by_their_full_names() {
    canonical(
        "%0 = test.everything {dims=[2, B, ?], flag=false, int=-1, list=[1], name=\"a b\", pad=same, real=0.1}",
    );
    canonical(
        "%0 = test.weights {data=[[1]], dtype=u8, scale=1.0, shape=[1, 1]} : tensor<u8[1, 1]>\ntest.store (%0) {at=3}",
    );
    reads_as(
        "%0 = test.everything(1, false, 2.5, x, [1], [2], Same)",
        "%0 = test.everything {dims=[2], flag=false, int=1, list=[1], name=x, pad=same, real=2.5}",
    );
}

#[test]
fn a_name_that_an_earlier_dialect_took_is_not_printed() {
    canonical(
        "%0 = ConstI64 {value=1}\n%1 = test.sum (%0)\n%2 = Sum (%1) {axes=[], keepdims=false}",
    );
}

#[test]
fn published_examples_keep_their_bytes() {
    canonical(
        "%0 = Input {name=x} : tensor<f32[4, 6]>\n%1 = Sum (%0) {axes=[1], keepdims=true} : tensor<f32[4, 1]>\noutputs: %1",
    );
    reads_as(
        "%0 = Input() {name: \"x\"} : Tensor<f32, [4, 6]>\n%1 = Sum(%0, [1], true) : Tensor<f32, [4, 1]>\n",
        "%0 = Input {name=x} : tensor<f32[4, 6]>\n%1 = Sum (%0) {axes=[1], keepdims=true} : tensor<f32[4, 1]>",
    );
    assert!(
        errors("%7 = ConstI64(1)\n%8 = %7")[0].ends_with("expected the name of an op, found `%`")
    );
}
