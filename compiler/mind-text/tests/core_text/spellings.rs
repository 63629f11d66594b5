//! Both spellings of every op.

use mind_ir::opdef::OpDef;

use crate::{canonical, errors, reads_as};

/// An op, a line in the spelling of the specification or with what else may be left out, and the line
/// that is printed. `%a` is a value.
const LINES: &[(&str, &str, &str)] = &[
    (
        "core.input",
        r#"Input() {name: "x"} : Tensor<f32, [4, B, ?]>"#,
        "Input {name=x} : tensor<f32[4, B, ?]>",
    ),
    (
        "core.input",
        r#"Input {role=input, name="a b\n\r\t\\\""}: tensor<bool[ ]>"#,
        r#"Input {name="a b\n\r\t\\\""} : tensor<bool[]>"#,
    ),
    (
        "core.input",
        "Input {name=w, role=param} : tensor<f32[4]>",
        "Input {name=w, role=param} : tensor<f32[4]>",
    ),
    ("core.const_i64", "ConstI64(-7)", "ConstI64 {value=-7}"),
    ("core.const_f32", "ConstF32(0.1)", "ConstF32 {value=0.1}"),
    (
        "core.const_f32",
        "ConstF32(-0) : Tensor<f32, []>",
        "ConstF32 {value=-0.0} : tensor<f32[]>",
    ),
    (
        "core.const_f64",
        "ConstF64(1e300)",
        "ConstF64 {value=1e300}",
    ),
    ("core.const_f64", "ConstF64(-inf)", "ConstF64 {value=-inf}"),
    (
        "core.const_tensor",
        "ConstTensor([[1.0],[2.0]]) : Tensor<f32, [2, 1]>",
        "ConstTensor {data=[[1.0],[2.0]], dtype=f32, shape=[2, 1]} : tensor<f32[2, 1]>",
    ),
    (
        "core.const_tensor",
        "ConstTensor([1, 2, 3, 4], i8, [2, 2])",
        "ConstTensor {data=[[1,2],[3,4]], dtype=i8, shape=[2, 2]} : tensor<i8[2, 2]>",
    ),
    (
        "core.const_tensor",
        "ConstTensor {fill=0, shape=[2, 1], dtype=f32}",
        "ConstTensor {dtype=f32, fill=0.0, shape=[2, 1]} : tensor<f32[2, 1]>",
    ),
    (
        "core.const_tensor",
        "ConstTensor {fill=true} : tensor<bool[B, 1000000000000]>",
        "ConstTensor {dtype=bool, fill=true, shape=[B, 1000000000000]} : tensor<bool[B, 1000000000000]>",
    ),
    (
        "core.const_tensor",
        "ConstTensor {data=7} : tensor<u64[]>",
        "ConstTensor {data=7, dtype=u64, shape=[]} : tensor<u64[]>",
    ),
    (
        "core.const_tensor",
        "ConstTensor {data=[nan, -0.0, 65504], dtype=f16}",
        "ConstTensor {data=[nan,-0.0,65500.0], dtype=f16}",
    ),
    (
        "core.const_tensor",
        "ConstTensor {data=[1, 2], dtype=i32, shape=[3]}",
        "ConstTensor {data=[1,2], dtype=i32, shape=[3]} : tensor<i32[3]>",
    ),
    ("core.add", "BinOp(Add, %a, %a)", "Add (%a, %a)"),
    ("core.sub", "BinOp(Sub, %a, %a,)", "Sub (%a, %a)"),
    ("core.mul", "BinOp (Mul,%a,%a) {}", "Mul (%a, %a)"),
    (
        "core.div",
        "BinOp(Div, %a, %a) : Tensor<i32, [2]>",
        "Div (%a, %a) : tensor<i32[2]>",
    ),
    ("core.maximum", "BinOp(Maximum, %a, %a)", "Maximum (%a, %a)"),
    ("core.minimum", "BinOp(Minimum, %a, %a)", "Minimum (%a, %a)"),
    ("core.sigmoid", "core.sigmoid(%a)", "Sigmoid (%a)"),
    ("core.tanh", "Tanh(%a)", "Tanh (%a)"),
    (
        "core.sum",
        "Sum(%a, [1], true)",
        "Sum (%a) {axes=[1], keepdims=true}",
    ),
    ("core.sum", "Sum(%a)", "Sum (%a) {axes=[], keepdims=false}"),
    (
        "core.sum",
        "Sum(%a) {keepdims: true, axes: [ 0 , -1, ]}",
        "Sum (%a) {axes=[0, -1], keepdims=true}",
    ),
    (
        "core.mean",
        "Mean(%a, [0, 1], false)",
        "Mean (%a) {axes=[0, 1], keepdims=false}",
    ),
    (
        "core.max",
        "Max(%a, [-1])",
        "Max (%a) {axes=[-1], keepdims=false}",
    ),
    (
        "core.reshape",
        "Reshape(%a, [2, -1])",
        "Reshape (%a) {new_shape=[2, -1]}",
    ),
    (
        "core.reshape",
        "Reshape(%a, [B, ?, 007])",
        "Reshape (%a) {new_shape=[B, ?, 7]}",
    ),
    (
        "core.transpose",
        "Transpose(%a, [1, 0])",
        "Transpose (%a) {permutation=[1, 0]}",
    ),
    ("core.transpose", "Transpose(%a, [])", "Transpose (%a)"),
    (
        "core.expand_dims",
        "ExpandDims(%a, [0, 2])",
        "ExpandDims (%a) {axes=[0, 2]}",
    ),
    (
        "core.squeeze",
        "Squeeze(%a, [1])",
        "Squeeze (%a) {axes=[1]}",
    ),
    (
        "core.index",
        "Index(%a, [1, 2])",
        "Index (%a) {indices=[1, 2]}",
    ),
    (
        "core.slice",
        "Slice(%a, [0:2:1, 1:4])",
        "Slice (%a) {ends=[2, 4], starts=[0, 1], steps=[1, 1]}",
    ),
    (
        "core.slice",
        "Slice(%a, [0:, 1::2])",
        "Slice (%a) {ends=[_, _], starts=[0, 1], steps=[1, 2]}",
    ),
    (
        "core.slice",
        "Slice(%a, [0], [4], [2])",
        "Slice (%a) {ends=[4], starts=[0], steps=[2]}",
    ),
    (
        "core.slice",
        "Slice(%a, [])",
        "Slice (%a) {ends=[], starts=[], steps=[]}",
    ),
    (
        "core.slice",
        "Slice(%a, [], [_], [])",
        "Slice (%a) {ends=[_], starts=[], steps=[]}",
    ),
    (
        "core.min",
        "Min(%a, [0], true)",
        "Min (%a) {axes=[0], keepdims=true}",
    ),
    (
        "core.prod",
        "Prod(%a)",
        "Prod (%a) {axes=[], keepdims=false}",
    ),
    (
        "core.argmax",
        "ArgMax(%a, 1)",
        "ArgMax (%a) {axis=1, keepdims=false, last=false}",
    ),
    (
        "core.argmin",
        "ArgMin(%a, -1, true, true)",
        "ArgMin (%a) {axis=-1, keepdims=true, last=true}",
    ),
    (
        "core.reverse",
        "Reverse(%a, [0])",
        "Reverse (%a) {axes=[0]}",
    ),
    (
        "core.broadcast_to",
        "BroadcastTo(%a, [2, B, ?])",
        "BroadcastTo (%a) {shape=[2, B, ?]}",
    ),
    (
        "core.iota",
        "Iota {dtype=u8, shape=[2, B]}",
        "Iota {axis=0, dtype=u8, shape=[2, B]}",
    ),
    ("core.dim", "Dim(%a, 1)", "Dim (%a) {axis=1}"),
    (
        "core.gather_elements",
        "GatherElements(%a, %a, 1)",
        "GatherElements (%a, %a) {axis=1, bounds=strict}",
    ),
    (
        "core.gather_nd",
        "GatherNd(%a, %a) {bounds=skip}",
        "GatherNd (%a, %a) {batch_dims=0, bounds=skip}",
    ),
    (
        "core.scatter_elements",
        "ScatterElements(%a, %a, %a) {kind=add}",
        "ScatterElements (%a, %a, %a) {axis=0, bounds=strict, kind=add}",
    ),
    (
        "core.scatter_nd",
        "ScatterNd(%a, %a, %a) {bounds=clamp}",
        "ScatterNd (%a, %a, %a) {bounds=clamp, kind=none}",
    ),
    ("core.gather", "Gather(%a, %a)", "Gather (%a, %a)"),
    (
        "core.gather",
        "Gather(%a, %a, 1)",
        "Gather (%a, %a) {axis=1}",
    ),
    (
        "core.concat",
        "Concat(%a, %a, %a, 0)",
        "Concat (%a, %a, %a) {axis=0}",
    ),
    (
        "core.split",
        "Split(%a, 0, 2)",
        "Split (%a) {axis=0, count=2, part=0}",
    ),
    ("core.dot", "Dot(%a, %a)", "Dot (%a, %a)"),
    ("core.matmul", "MatMul(%a, %a)", "MatMul (%a, %a)"),
    (
        "core.conv2d",
        "Conv2d(%a, %a, [1, 1], Same)",
        "Conv2d (%a, %a) {padding=same, strides=[1, 1]}",
    ),
    (
        "core.conv2d",
        "Conv2d(%a, %a, [2, 1], Valid)",
        "Conv2d (%a, %a) {padding=valid, strides=[2, 1]}",
    ),
    (
        "core.conv2d",
        "Conv2d(%a, %a, [1, 1], Custom([[1, 2], [0, -3]]))",
        "Conv2d (%a, %a) {padding=[[1, 2], [0, -3]], strides=[1, 1]}",
    ),
    (
        "core.conv2d",
        "Conv2d(%a, %a) {padding=[[1,2,],[0,3],]}",
        "Conv2d (%a, %a) {padding=[[1, 2], [0, 3]], strides=[1, 1]}",
    ),
    ("core.softmax", "Softmax(%a)", "Softmax (%a) {axis=-1}"),
    ("core.layernorm", "LayerNorm(%a)", "LayerNorm (%a)"),
    (
        "core.fused",
        "Fused(%a, epilogue) {\nyield:\n}",
        "Fused (%a) {kind=epilogue} {\n  yield:\n}",
    ),
];

fn module(line: &str) -> String {
    format!(
        "%0 = Input {{name=a}} : tensor<f32[]>\n%1 = {}\noutputs: %1",
        line.replace("%a", "%0")
    )
}

#[test]
fn every_line_is_read_in_both_spellings_and_printed_in_one() {
    for (_, written, printed) in LINES {
        reads_as(&module(written), &module(printed));
    }
}

/// The word of an elementwise op of one operand, all of which are spelled alike.
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
    let missing = mind_core::DIALECT
        .ops
        .iter()
        .filter(|def| unary_word(def).is_none())
        .filter(|def| !LINES.iter().any(|line| line.0 == def.name));
    assert_eq!(missing.map(|def| def.name).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn the_lines_are_of_the_ops_they_are_listed_under() {
    for (op, _, printed) in LINES {
        let short = printed.split(' ').next().unwrap_or_default();
        let def = mind_core::DIALECT
            .ops
            .iter()
            .find(|def| def.names.core == Some(short));
        assert_eq!(def.map(|def| def.name), Some(*op));
    }
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
