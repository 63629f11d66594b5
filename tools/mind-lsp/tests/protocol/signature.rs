//! Signature help.

use serde_json::Value;

use crate::client::Client;
use crate::sample::{MIL, RULES, Sample};

/// The signature at the mark `c` of `text`, and the part of it that is active, between `<` and `>`.
fn shown(client: &mut Client, language: &'static str, text: &str) -> String {
    let sample = Sample::new(language, text);
    sample.open_broken(client);
    let found = client.request("textDocument/signatureHelp", sample.at('c'));
    if found == Value::Null {
        return "nothing".to_owned();
    }
    let signature = &found["signatures"][0];
    let mut label = signature["label"].as_str().expect("a label").to_owned();
    let active = signature["activeParameter"].as_u64().expect("a number") as usize;
    let parameters = signature["parameters"].as_array().expect("a list");
    if let Some(parameter) = parameters.get(active) {
        let offset = |end: usize| parameter["label"][end].as_u64().expect("an offset") as usize;
        label.insert(offset(1), '>');
        label.insert(offset(0), '<');
    }
    label
}

#[track_caller]
fn shows(language: &'static str, text: &str, lines: &[(&str, &str)]) {
    let mut client = Client::start();
    for (line, expected) in lines {
        let text = text.replace("LINE", line);
        assert_eq!(shown(&mut client, language, &text), *expected, "{line}");
    }
}

#[test]
fn core_text_shows_operands_and_attributes() {
    shows(
        "mind-core",
        "%0 = Input {name=x} : tensor<f32[4]>\nLINE\noutputs: %0\n",
        &[
            ("%1 = Add(«c»", "Add(<lhs>, rhs)"),
            ("%1 = Add (%0, «c»%0)", "Add(lhs, <rhs>)"),
            ("%1 = core.add(%0, %0, «c»", "core.add(lhs, rhs)"),
            ("%1 = Concat (%0, %0, «c»", "Concat(<inputs...>) {axis}"),
            (
                "%1 = Sum (%0) {«c»",
                "Sum(input) {<axes=[]>, keepdims=false}",
            ),
            (
                "%1 = Sum (%0) {k«c»",
                "Sum(input) {axes=[], <keepdims=false>}",
            ),
            (
                "%1 = Sum (%0) {keepdims=true, «c»}",
                "Sum(input) {<axes=[]>, keepdims=false}",
            ),
            (
                "%1 = Sum (%0) {axes=[0, «c»1]}",
                "Sum(input) {<axes=[]>, keepdims=false}",
            ),
            (
                "%1 = Sum (%0) {axes=[0], «c»",
                "Sum(input) {axes=[], <keepdims=false>}",
            ),
            (
                "%1 = Sum (%0) {depth=«c»",
                "Sum(input) {axes=[], keepdims=false}",
            ),
            (
                "%1 = Input {name=\"a, b\", «c»",
                "Input {name, <role=input>, stored} : type",
            ),
            (
                "%1 = Input {name=\"#, \\\"é\", «c»",
                "Input {name, <role=input>, stored} : type",
            ),
            ("%1 = Sum (%0) {axes=[0]} «c»", "nothing"),
            ("%1 = Sun («c»", "nothing"),
            ("# %1 = Add(«c»", "nothing"),
            (
                "%1 = Fused (%0) {kind=k} : tensor<f32[4]> { %2 = Neg(«c»",
                "Neg(<input>)",
            ),
            ("«c»", "nothing"),
        ],
    );
}

#[test]
fn mic1_shows_operands_and_attributes() {
    shows(
        "mind-mic",
        "mic@1\nT0 [f32;4]\nN0 input \"x\" T0\nLINE\nO N0\n",
        &[
            ("N1 add «c»", "add <lhs> rhs"),
            ("N1 add N0 N«c»", "add lhs <rhs>"),
            ("N1 add N0 N0 N«c»", "add lhs rhs"),
            ("N1 sum N0 «c»", "sum input <[axes]> kd=0"),
            ("N1 sum N0 [0,«c»", "sum input <[axes]> kd=0"),
            ("N1 sum N0 [0] «c»", "sum input [axes] <kd=0>"),
            ("N1 sum N0 kd=1 «c»", "sum input <[axes]> kd=0"),
            ("N1 sum N0 k«c»", "sum input [axes] <kd=0>"),
            ("N1 sum_all N0 «c»", "sum_all input"),
            ("N1 split N0 ax=0 n«c»=2", "split input ax= <n=> part=0"),
            ("N1 concat N0 N0 «c»", "concat <inputs...> ax="),
            (
                "N1 conv2d N0 N0 s=[1, «c»1]",
                "conv2d input filter <s=[1,1]> p=valid",
            ),
            ("N1 slice N0 «c»0:1:1", "slice input <starts>:ends:steps"),
            ("N1 param «c»", "param <name> T"),
            ("N1 input \"a b\" «c»", "input name <T>"),
            ("N1 sum«c»", "nothing"),
            ("T1 [f32;«c»4]", "nothing"),
            ("# N1 add «c»", "nothing"),
        ],
    );
}

#[test]
fn mic2_shows_inputs_and_params() {
    shows(
        "mind-mic2",
        "mic@2\nT0 f32 4\na X T0\nLINE\nO 0",
        &[
            ("m «c»", "m <lhs> rhs"),
            ("m 0 0«c»", "m lhs <rhs>"),
            ("m 0 0 «c»", "m lhs rhs"),
            ("sum 0 0 «c»1", "sum input <axes...>"),
            ("rshp 0 «c»", "rshp input <new_shape...>"),
            ("split 0 0 2 «c»", "split input axis count <part=0>"),
            ("cat 0 0 «c»", "cat <inputs...> axis"),
            ("s 0 «c»", "s input <axis=-1>"),
            ("s«c»", "nothing"),
            ("T1 «c»", "nothing"),
            ("# m «c»", "nothing"),
        ],
    );
}

#[test]
fn other_languages_show_none() {
    let mut client = Client::start();
    assert_eq!(
        shown(&mut client, "mil", &MIL.replace("«k»", "«c»")),
        "nothing"
    );
    assert_eq!(
        shown(&mut client, "mind-rules", &RULES.replace("«n»", "«c»")),
        "nothing"
    );
}

#[test]
fn parts_say_what_they_hold() {
    let mut client = Client::start();
    let sample = Sample::new("mind-mic2", "mic@2\nT0 f32 4\na X T0\ns 0 «c»\nO 1");
    sample.open_broken(&mut client);
    let found = client.request("textDocument/signatureHelp", sample.at('c'));
    let signature = &found["signatures"][0];
    let said = |at: usize| signature["parameters"][at]["documentation"].as_str();
    assert_eq!(said(0), Some("operand `input`: a float dtype"));
    assert_eq!(said(1), Some("attribute `axis`: Int, `-1` if absent"));
    let doc = signature["documentation"]["value"]
        .as_str()
        .expect("a text");
    assert!(doc.contains("**Shapes:**"), "{doc}");
    assert!(!doc.contains("```"), "{doc}");
}

#[test]
fn hostile_lines_are_answered() {
    let mut client = Client::start();
    for language in ["mind-core", "mind-mic", "mind-mic2"] {
        for piece in ["(", "Sum(", "[){", "{a=", "\"", "N0 ", "add [", "cat 0 "] {
            let line = piece.repeat(200 * 1024 / piece.len());
            let text = format!("({line}");
            shown(&mut client, language, &format!("{text}«c»"));
            shown(&mut client, language, &format!("N1 add {line}«c»"));
        }
    }
}
