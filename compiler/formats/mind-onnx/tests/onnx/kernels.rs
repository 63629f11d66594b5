//! Exports use forms for which runtimes have kernels, and survive a round trip.

use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};
use mind_onnx::proto::ModelProto;
use mind_onnx::{ExportOptions, ImportOptions, read, write};
use mind_text::Limits;
use mind_text::core::Syntax;
use prost::Message;

use super::model::printed;

fn module(text: &str) -> Graph {
    let registry = Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
    let mut g = Syntax::new(&registry)
        .parse(text, 0, &Limits::default())
        .unwrap_or_else(|found| panic!("{found:?}"));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{found:?}");
    g
}

fn model(text: &str, opset: i64) -> ModelProto {
    let options = ExportOptions {
        opset,
        ..ExportOptions::default()
    };
    let written = write(&module(text), &options).unwrap_or_else(|found| panic!("{found:?}"));
    ModelProto::decode(&written.model[..]).expect("a model")
}

/// Returns the operators of an exported model in order.
fn operators(text: &str, opset: i64) -> String {
    let graph = model(text, opset).graph.expect("a graph");
    let names: Vec<String> = graph.node.into_iter().map(|own| own.op_type).collect();
    names.join(" ")
}

fn unary(dtype: &str, op: &str) -> String {
    format!("%0 = Input {{name=x}} : tensor<{dtype}[2, 3]>\n%1 = {op}\noutputs: %1\n")
}

#[test]
fn ops_are_written_in_forms_that_runtimes_have() {
    let cases = [
        ("i64", "Relu (%0)", "Max"),
        ("i32", "Relu (%0)", "Relu"),
        ("i16", "Relu (%0)", "Cast Cast Max Cast"),
        ("f32", "Relu (%0)", "Relu"),
        ("i16", "Maximum (%0, %0)", "Cast Cast Max Cast"),
        ("bf16", "Add (%0, %0)", "Cast Cast Add Cast"),
        ("u16", "Pad (%0) {low=[1, 0], high=[0, 0]}", "Cast Pad Cast"),
        (
            "bf16",
            "BroadcastTo (%0) {shape=[4, 2, 3]}",
            "Cast Expand Cast",
        ),
        ("i16", "NonZero (%0)", "Equal Not NonZero"),
        ("u32", "ArgMax (%0) {axis=0}", "Cast ArgMax"),
    ];
    for (dtype, op, wanted) in cases {
        assert_eq!(operators(&unary(dtype, op), 21), wanted, "{op} of {dtype}");
    }
}

#[test]
fn forms_without_a_kernel_are_noted() {
    let notes = |dtype: &str, op: &str| -> Vec<String> {
        let options = ExportOptions::default();
        let written = write(&module(&unary(dtype, op)), &options).expect("a model");
        written
            .notes
            .iter()
            .map(|own| own.message.clone())
            .collect()
    };
    for (dtype, op, form) in [
        ("f64", "Erf (%0)", "`Erf` of f64"),
        ("f64", "Tan (%0)", "`Tan` of f64"),
        ("u64", "Sum (%0) {axes=[0]}", "`ReduceSum` of u64"),
    ] {
        let found = notes(dtype, op);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains(&format!("no kernel for {form}")),
            "{found:?}"
        );
    }
    for (dtype, op) in [
        ("f32", "Erf (%0)"),
        ("f16", "Tan (%0)"),
        ("i64", "Relu (%0)"),
    ] {
        assert!(notes(dtype, op).is_empty(), "{op} of {dtype}");
    }
}

#[test]
fn unsigned_words_are_chosen_by_products() {
    let text = "%0 = Input {name=c} : tensor<bool[2]>\n%1 = Input {name=x} : tensor<u64[2]>\n\
                %2 = Select (%0, %1, %1)\noutputs: %2\n";
    assert_eq!(operators(text, 21), "Not Cast Mul Cast Mul Add");
}

#[test]
fn functions_are_brought_in_every_opset() {
    for opset in [13, 14, 15, 21] {
        let own = model(&unary("f32", "Log1p (%0)"), opset);
        assert!(own.ir_version >= 8, "{opset}");
        assert_eq!(own.functions.len(), 1);
        let back = read(own.encode_to_vec().into(), &ImportOptions::default());
        let back = printed(&back.unwrap_or_else(|found| panic!("{found:?}")));
        assert!(back.contains("Log1p (%0)"), "{back}");
    }
}

/// Returns a resize after a round trip through its model.
fn back(attrs: &str, scales: &str, opset: i64) -> String {
    let text = format!(
        "%0 = Input {{name=x}} : tensor<f32[1, 1, 5, 6]>\n{scales}\
         %2 = Resize ({}) {{{attrs}}}\noutputs: %2\n",
        if scales.is_empty() { "%0" } else { "%0, %1" }
    );
    let own = model(&text, opset);
    let back = read(own.encode_to_vec().into(), &ImportOptions::default());
    printed(&back.unwrap_or_else(|found| panic!("{found:?}")))
}

#[test]
fn resizes_come_back_with_their_scales() {
    let third =
        "%1 = ConstTensor {data=[1.3333333333333333, 1.3333333333333333]} : tensor<f64[2]>\n";
    // Sizes 7 and 8 result from 5 and 6 by rounding with the single scale 4/3.
    let policy = back("axes=[2, 3], sizes=[7, 8], mode=linear", third, 21);
    assert!(policy.contains("sizes=[7, 8]"), "{policy}");
    assert!(policy.contains("1.3333333333333333"), "{policy}");
    let down = "%1 = ConstTensor {data=[1.5]} : tensor<f64[1]>\n";
    for opset in [13, 17, 18, 21] {
        let found = back("axes=[2], sizes=[7], mode=linear", down, opset);
        assert!(
            found.contains("axes=[2]") && found.contains("1.5"),
            "{found}"
        );
    }
    // With aligned corners, the scale has no effect.
    let odd = "%1 = ConstTensor {data=[1.5833333333333333]} : tensor<f64[1]>\n";
    let aligned = "axes=[2], sizes=[7], mode=linear, coordinates=align_corners";
    assert!(back(aligned, odd, 13).contains("sizes=[7]"));
}

#[test]
fn nearest_elements_are_gathered_where_no_resize_says_them() {
    let text = |dtype: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<{dtype}[1, 4]>\n\
             %1 = Resize (%0) {{axes=[1], sizes=[2], mode=nearest}}\noutputs: %1\n"
        )
    };
    assert_eq!(operators(&text("f32"), 21), "Resize");
    assert_eq!(operators(&text("bf16"), 21), "Cast Resize Cast");
    assert_eq!(operators(&text("i64"), 21), "Gather");
    assert_eq!(operators(&text("f64"), 21), "Gather");
}
