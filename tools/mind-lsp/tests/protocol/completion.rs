//! Completion.

use serde_json::Value;

use crate::client::Client;
use crate::sample::Sample;

/// Returns the completions at the mark `c` of a text, which may have errors.
fn offered(language: &'static str, text: &str) -> Vec<Value> {
    let mut client = Client::start();
    let sample = Sample::new(language, text);
    sample.open_broken(&mut client);
    let found = client.request("textDocument/completion", sample.at('c'));
    found.as_array().expect("a list").clone()
}

fn labels(language: &'static str, text: &str) -> Vec<String> {
    let label = |item: &Value| item["label"].as_str().expect("a label").to_owned();
    offered(language, text).iter().map(label).collect()
}

#[track_caller]
fn offers(language: &'static str, text: &str, expected: &[&str]) {
    let labels = labels(language, text);
    for label in expected {
        assert!(
            labels.iter().any(|own| own == label),
            "{label} in {labels:?}"
        );
    }
}

#[test]
fn mic2_offers_what_the_line_lacks() {
    let text = "mic@2\nS B\nT0 f32 B 4\na X T0\n";
    let with = |line: &str| format!("{text}{line}\nO 0");
    offers("mind-mic2", &with("g«c»"), &["gelu", "gth", "a", "T1", "O"]);
    assert_eq!(labels("mind-mic2", &with("r «c»")), ["0"]);
    assert_eq!(labels("mind-mic2", &with("+ 0 «c»")), ["0"]);
    assert!(labels("mind-mic2", &with("+ 0 0 «c»")).is_empty());
    assert_eq!(labels("mind-mic2", &with("a Y «c»")), ["T0"]);
    offers("mind-mic2", &with("T1 «c»"), &["f32", "bf16", "bool"]);
    assert_eq!(labels("mind-mic2", &with("T1 f32 «c»")), ["B", "?"]);
    assert!(labels("mind-mic2", &with("# r «c»")).is_empty());
}

#[test]
fn values_come_with_their_types_and_the_nearest_first() {
    let text = "mic@2\nT0 f32 4\na X T0\nr 0\nsum 1 «c»0\nr «d»0\nO 3";
    let found = offered("mind-mic2", &text.replace("«c»", "").replace("«d»", "«c»"));
    let shown: Vec<String> = found
        .iter()
        .map(|item| {
            format!(
                "{} {}",
                item["label"].as_str().unwrap(),
                item["detail"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(shown, ["2 f32[]", "1 f32[4]", "0 f32[4]"]);
}

#[test]
fn mic1_offers_heads_kinds_operands_keys_and_types() {
    let text = "mic@1\nS0 \"x\"\nT0 [f32;B,4]\nN0 input S0 T0\n";
    let with = |line: &str| format!("{text}{line}\nO N0\n");
    assert_eq!(labels("mind-mic", &with("«c»")), ["N1", "T1", "S1", "O"]);
    offers(
        "mind-mic",
        &with("N1 re«c»"),
        &["relu", "reshape", "param", "sum_all"],
    );
    let node = labels("mind-mic", &with("N1 softmax «c»"));
    assert_eq!(node, ["N0", "ax", "T0"]);
    assert_eq!(labels("mind-mic", &with("N1 param «c»")), ["S0", "T0"]);
    offers("mind-mic", &with("T1 [«c»"), &["f32"]);
    assert_eq!(labels("mind-mic", &with("T1 [f32;«c»")), ["B", "?"]);
}

#[test]
fn core_text_offers_by_bracket() {
    let text = "%0 = Input {name=x} : tensor<f32[B, 4]>\n";
    let with = |line: &str| format!("{text}{line}\noutputs: %0\n");
    offers(
        "mind-core",
        &with("%1 = «c»"),
        &["Relu", "MatMul", "tensor.map"],
    );
    assert_eq!(labels("mind-core", &with("%1 = Relu («c»")), ["%0"]);
    assert_eq!(
        labels("mind-core", &with("%1 = Sum (%0) {«c»")),
        ["axes", "keepdims"]
    );
    assert_eq!(
        labels("mind-core", &with("%1 = Relu (%0) : «c»")),
        ["tensor<"]
    );
    offers("mind-core", &with("%1 = Relu (%0) : tensor<«c»"), &["f32"]);
    assert_eq!(
        labels("mind-core", &with("%1 = Relu (%0) : tensor<f32[«c»")),
        ["B", "?"]
    );
    assert_eq!(labels("mind-core", &format!("{text}outputs: «c»")), ["%0"]);
}

#[test]
fn mil_offers_types_ops_arguments_and_values() {
    let with = |statement: &str| {
        format!(
            "program(1.3)\n{{\nfunc main<ios18>(tensor<fp16, [1, 4]> x) {{\ntensor<fp16, [1, 4]> y = relu(x = x);\n{statement}\n}} -> (y);\n}}"
        )
    };
    offers("mil", &with("«c»"), &["tensor<", "fp16", "int32"]);
    offers("mil", &with("tensor<«c»"), &["fp16"]);
    offers(
        "mil",
        &with("tensor<fp16, [1, 4]> z = «c»"),
        &["relu", "add", "const"],
    );
    assert_eq!(
        labels("mil", &with("tensor<fp16, [1, 4]> z = add(«c»")),
        ["x", "y"]
    );
    offers(
        "mil",
        &with("tensor<fp16, [1, 4]> z = add(x = «c»"),
        &["x", "y"],
    );
}

#[test]
fn rules_offer_ops_calls_classes_and_bound_names() {
    let with =
        |line: &str| format!("rule a\n  class exact\n  core.add(?left, ?right) => ?left\n{line}\n");
    offers(
        "mind-rules",
        &with("  where «c»"),
        &["is_float", "and", "core.relu"],
    );
    assert_eq!(
        labels("mind-rules", &with("  where is_float(?«c»")),
        ["?left", "?right"]
    );
    offers(
        "mind-rules",
        &with("rule b\n  class «c»"),
        &["nsz", "reassoc", "approx"],
    );
    offers("mind-rules", &with("«c»"), &["rule", "fusion"]);
}

#[test]
fn ops_carry_their_documentation() {
    let found = offered("mind-mic2", "mic@2\nT0 f32\na X T0\n«c»\nO 0");
    let relu = found
        .iter()
        .find(|item| item["label"] == "r")
        .expect("relu");
    let text = relu["documentation"]["value"].as_str().expect("a text");
    assert!(text.contains("core.relu(input)"), "{text}");
    assert!(text.contains("**Source:**"), "{text}");
}
