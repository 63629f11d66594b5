//! Snapshots of exported models.

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_ir::opdef::Registry;
use mind_ir::verify::{VerifyConfig, verify};
use mind_onnx::proto::{GraphProto, ModelProto, NodeProto};
use mind_onnx::{ExportOptions, Exported, ImportOptions, OPSETS, read, write};
use mind_text::Limits;
use mind_text::core::Syntax;
use prost::Message;

pub fn module(text: &str) -> Graph {
    let registry = Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
    let mut g = Syntax::new(&registry)
        .parse(text, 0, &Limits::default())
        .unwrap_or_else(|found| panic!("{found:?}"));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{found:?}");
    g
}

fn written(text: &str, options: &ExportOptions) -> Result<Exported, Diagnostics> {
    write(&module(text), options)
}

fn model(text: &str, opset: i64) -> ModelProto {
    let options = ExportOptions {
        opset,
        ..ExportOptions::default()
    };
    let exported = written(text, &options).unwrap_or_else(|found| panic!("{found:?}"));
    ModelProto::decode(&exported.model[..]).expect("a model")
}

fn call(node: &NodeProto) -> String {
    let graphs = node.attribute.iter().filter_map(|own| own.g.as_ref());
    let graphs: String = graphs
        .map(|graph| format!(" {{\n{}}}", listing(graph)))
        .collect();
    let (outputs, inputs) = (node.output.join(", "), node.input.join(", "));
    format!("{outputs} = {}({inputs}){graphs}\n", node.op_type)
}

/// Returns the nodes of a graph, one per line.
fn listing(graph: &GraphProto) -> String {
    graph.node.iter().map(call).collect()
}

pub fn nodes(text: &str, opset: i64) -> String {
    listing(model(text, opset).graph.as_ref().expect("a graph"))
}

fn refusal(text: &str, opset: i64) -> String {
    let options = ExportOptions {
        opset,
        ..ExportOptions::default()
    };
    let found = written(text, &options).expect_err("it is refused");
    let messages = found.iter().map(|own| own.message.clone());
    messages.collect::<Vec<_>>().join("\n")
}

const ADD: &str = "%0 = Input {name=x} : tensor<f32[B, 3]>\n%1 = Add (%0, %0)\noutputs: %1\n";

#[test]
fn names_and_types_of_the_interface_are_kept() {
    let model = model(ADD, 21);
    assert_eq!(model.ir_version, 10);
    let graph = model.graph.expect("a graph");
    assert_eq!(listing(&graph), "out0 = Add(x, x)\n");
    let names = |list: &[mind_onnx::proto::ValueInfoProto]| -> Vec<String> {
        list.iter().map(|own| own.name.clone()).collect()
    };
    assert_eq!(names(&graph.input), ["x"]);
    assert_eq!(names(&graph.output), ["out0"]);
    assert_eq!(graph.input[0].r#type, graph.output[0].r#type);
}

#[test]
fn the_interface_of_a_module_comes_back_from_its_model() {
    for version in ["7", "1.2-rc"] {
        let text = format!(
            "metadata: author=\"Jane Doe\"\nmetadata: description=sums\nmetadata: license=MIT\n\
             metadata: version=\"{version}\"\nmetadata: \"key\"=\"value\"\n\
             input: x {{description=\"two of these\"}}\n\
             %0 = Input {{name=x}} : tensor<f32[2]>\n%1 = Add (%0, %0) : tensor<f32[2]>\n\
             outputs: %1 {{description=\"the sum\", name=\"a/sum:0\"}}, %1 {{name=again}}"
        );
        let g = module(&text);
        let exported = write(&g, &ExportOptions::default()).expect("a model");
        let model = ModelProto::decode(&exported.model[..]).expect("a model");
        let output = &model.graph.as_ref().expect("a graph").output[0];
        assert_eq!(
            (&output.name[..], &output.doc_string[..]),
            ("a/sum:0", "the sum")
        );
        let back = read(exported.model.into(), &ImportOptions::default()).expect("our own model");
        assert_eq!(back.interface, g.interface, "{version}");
    }
}

#[test]
fn an_output_that_is_listed_twice_has_one_name() {
    let graph = crate::model::graph(
        vec![crate::model::value("x", crate::model::FLOAT, &[])],
        Vec::new(),
        Vec::new(),
        &["x", "x"],
    );
    let imported = crate::model::imported(&crate::model::model(graph)).expect("a module");
    let names = [0, 1].map(|at| imported.interface.output_name(at));
    assert_eq!(names, [Some("x"), None]);
}

#[test]
fn outputs_that_no_node_makes_and_names_that_are_taken_get_their_own() {
    let text = "%0 = Input {name=out0} : tensor<f32[2]>\n%1 = Neg (%0)\noutputs: %0, %1, %1\n";
    let wanted = "out1 = Neg(out0)\nout0_1 = Identity(out0)\nout2 = Identity(out1)\n";
    assert_eq!(nodes(text, 21), wanted);
}

#[test]
fn what_an_older_opset_does_not_have_is_written_out_or_refused() {
    let narrow = "%0 = Input {name=x} : tensor<u8[2]>\n%1 = Add (%0, %0)\noutputs: %1\n";
    assert_eq!(nodes(narrow, 14), "out0 = Add(x, x)\n");
    let casts = "cast = Cast(x)\ncast_1 = Cast(x)\nadd = Add(cast, cast_1)\nout0 = Cast(add)\n";
    assert_eq!(nodes(narrow, 13), casts);
    let bits = "%0 = Input {name=x} : tensor<u8[2]>\n%1 = And (%0, %0)\noutputs: %1\n";
    assert_eq!(nodes(bits, 18), "out0 = BitwiseAnd(x, x)\n");
    let why = "`core.and` cannot be written as ONNX: the operator set is 17, expected 18 or later for this form of \
               `BitwiseAnd`; `--opset 18` writes it";
    assert_eq!(refusal(bits, 17), why);
}

#[test]
fn opsets_outside_of_the_range_are_refused() {
    let next = OPSETS.end() + 1;
    assert!(refusal(ADD, next).contains("expected 13 to"));
    assert!(refusal(ADD, i64::MIN).starts_with("the operator set is -9223372036854775808"));
}

#[test]
fn every_op_that_cannot_be_written_is_named() {
    let text = "%0 = Input {name=x} : tensor<i32[2, 2]>\n%1 = Bitcast (%0) {dtype=i16}\n\
                %2 = Input {name=y} : tensor<i64[1, 1, 1, 1]>\n%3 = Conv2d (%2, %2)\noutputs: %1, %3\n";
    let wanted = "`core.bitcast` cannot be written as ONNX: `dtype` is i16, expected one of 4 bytes, as i32 has, because `BitCast` keeps the shape\n\
                  `core.conv2d` cannot be written as ONNX: the dtype of its operands is i64, expected floats, or integers of 8 or 16 \
                  bits with sums that f64 holds, because `Conv` takes no integers";
    assert_eq!(refusal(text, 26), wanted);
}

#[test]
fn large_constants_stand_beside_the_model_if_that_is_asked_for() {
    let numbers: Vec<String> = (0..512).map(|own| format!("{own}.0")).collect();
    let text = format!(
        "%0 = Input {{name=x}} : tensor<f32[512]>\n%1 = ConstTensor {{data=[{}]}} : tensor<f32[512]>\n\
         %2 = ConstF32 {{value=2}}\n%3 = Mul (%0, %1)\n%4 = Mul (%3, %2)\noutputs: %4\n",
        numbers.join(", ")
    );
    let options = ExportOptions {
        data_file: Some("m.onnx.data".to_owned()),
        ..ExportOptions::default()
    };
    let exported = written(&text, &options).expect("a model");
    let data = exported.data.expect("a file beside it");
    let model = ModelProto::decode(&exported.model[..]).expect("a model");
    let initialisers = model.graph.expect("a graph").initializer;
    let [large, small] = &initialisers[..] else {
        panic!("{initialisers:?}");
    };
    assert!(large.raw_data.is_empty());
    let entries = large
        .external_data
        .iter()
        .map(|own| format!("{}={}", own.key, own.value));
    let entries: Vec<String> = entries.collect();
    assert_eq!(entries, ["location=m.onnx.data", "offset=0", "length=2048"]);
    assert_eq!(data.len(), 2048);
    assert_eq!(data[4..8], 1f32.to_le_bytes());
    assert_eq!(small.raw_data[..], 2f32.to_le_bytes());
    let inline = written(&text, &ExportOptions::default()).expect("a model");
    assert_eq!(inline.data, None);
}

#[test]
fn a_function_that_onnx_has_not_comes_with_the_model() {
    let text = "%0 = Input {name=x} : tensor<f16[2]>\n%1 = Expm1 (%0)\noutputs: %1\n";
    let model = model(text, 21);
    let domains: Vec<&str> = model
        .opset_import
        .iter()
        .map(|own| &own.domain[..])
        .collect();
    assert_eq!(domains, ["", "mind"]);
    let functions: Vec<&str> = model.functions.iter().map(|own| &own.name[..]).collect();
    assert_eq!(functions, ["Expm1"]);
    let nodes = listing(model.graph.as_ref().expect("a graph"));
    assert_eq!(
        nodes,
        "cast = Cast(x)\nexpm1 = Expm1(cast, c, c_1, c_2)\nout0 = Cast(expm1)\n"
    );
}

#[test]
fn regions_are_graphs_that_read_what_is_outside() {
    let text = "%0 = Input {name=p} : tensor<bool[]>\n%1 = Input {name=x} : tensor<f32[2]>\n\
                %2 = If (%0, %1) : tensor<f32[2]> {\n  args: %3\n  %4 = Neg (%3)\n  yield: %4\n} {\n  args: %5\n\
                yield: %5\n}\noutputs: %2\n";
    let wanted = "out0 = If(p) {\nv4 = Neg(x)\n} {\nidentity = Identity(x)\n}\n";
    assert_eq!(nodes(text, 21), wanted);
}

#[test]
fn the_bytes_are_the_same_every_time() {
    let options = ExportOptions::default();
    assert_eq!(written(ADD, &options), written(ADD, &options));
}
