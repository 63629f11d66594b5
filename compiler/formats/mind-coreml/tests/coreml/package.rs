//! Tests of the contents of written packages.

use mind_coreml::mil::{self, Spelling};
use mind_coreml::package::proto::Model;
use mind_coreml::package::{Package, package};
use mind_ir::Graph;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::Limits;
use prost::Message;

pub fn program(opset: &str, version: &str) -> String {
    let string = if version == "1.0" {
        "tensor<string, []>"
    } else {
        "string"
    };
    format!(
        "program({version})\n[buildInfo = dict<{string}, {string}>({{{{\"made\", \"here\"}}}})]\n{{\n\
         func main<{opset}>(tensor<fp16, [2, 3]> x) {{ tensor<fp16, [2, 3]> y = relu(x = x); }} -> (y);\n\
         func more<{opset}>(tensor<fp16, [4]> z) {{ tensor<fp16, [4]> y = tanh(x = z); }} -> (y);\n}}"
    )
}

pub fn read(text: &str) -> Graph {
    let parsed = mil::parse(text, 0, &Limits::default(), Spelling::Compiler);
    let mut g = parsed.unwrap_or_else(|found| panic!("{:?}\n{text}", found.first_error()));
    assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
    g
}

pub fn model(package: &Package) -> Model {
    Model::decode(&package.model[..]).expect("a message")
}

#[test]
fn several_functions_are_described_one_by_one() {
    let own = package(&read(&program("ios18", "1.3"))).expect("a package");
    let model = model(&own);
    let description = model.description.expect("a description");
    let names: Vec<&str> = description
        .functions
        .iter()
        .map(|own| own.name.as_str())
        .collect();
    assert_eq!(names, ["main", "more"]);
    assert_eq!(description.default_function_name, "main");
    assert!(description.input.is_empty() && description.output.is_empty());
    assert_eq!(description.functions[1].input[0].name, "z");
    let program = model.ml_program.expect("a program");
    assert_eq!(
        program.functions.keys().collect::<Vec<_>>(),
        ["main", "more"]
    );
    assert!(program.attributes.contains_key("buildInfo"));
    assert_eq!(model.specification_version, 9);
}

#[test]
fn several_functions_need_ios18() {
    let found = package(&read(&program("ios17", "1.0"))).expect_err("two functions before ios18");
    let first = found.first_error().expect("an error");
    assert_eq!(
        first.message,
        "a package of several functions needs opset ios18"
    );
}

#[test]
fn equal_programs_give_equal_bytes() {
    let text = program("ios18", "1.3");
    assert_eq!(package(&read(&text)).ok(), package(&read(&text)).ok());
}
