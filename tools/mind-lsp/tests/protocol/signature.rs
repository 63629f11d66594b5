//! Signature help.

use mind_snapshot::snapshot;
use serde_json::Value;

use crate::client::Client;
use crate::sample::{MIL, RULES, Sample};

/// Returns the signature at the mark `c` of `text`, with the active part between `<` and `>`.
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

/// Returns the signature for each line that replaces `LINE`.
fn shown_for(language: &'static str, text: &str, lines: &[&str]) -> String {
    let mut client = Client::start();
    let shown = lines.iter().map(|line| {
        let signature = shown(&mut client, language, &text.replace("LINE", line));
        format!("{line}\n    {signature}\n")
    });
    shown.collect()
}

#[test]
fn core_text_shows_operands_and_attributes() {
    snapshot!(shown_for(
        "mind-core",
        "%0 = Input {name=x} : tensor<f32[4]>\nLINE\noutputs: %0\n",
        &[
            "%1 = Add(«c»",
            "%1 = Add (%0, «c»%0)",
            "%1 = core.add(%0, %0, «c»",
            "%1 = Concat (%0, %0, «c»",
            "%1 = Sum (%0) {«c»",
            "%1 = Sum (%0) {k«c»",
            "%1 = Sum (%0) {keepdims=true, «c»}",
            "%1 = Sum (%0) {axes=[0, «c»1]}",
            "%1 = Sum (%0) {axes=[0], «c»",
            "%1 = Sum (%0) {depth=«c»",
            "%1 = Input {name=\"a, b\", «c»",
            "%1 = Input {name=\"#, \\\"é\", «c»",
            "%1 = Sum (%0) {axes=[0]} «c»",
            "%1 = Sun («c»",
            "# %1 = Add(«c»",
            "%1 = Fused (%0) {kind=k} : tensor<f32[4]> { %2 = Neg(«c»",
            "«c»",
        ],
    ));
}

#[test]
fn mic1_shows_operands_and_attributes() {
    snapshot!(shown_for(
        "mind-mic",
        "mic@1\nT0 [f32;4]\nN0 input \"x\" T0\nLINE\nO N0\n",
        &[
            "N1 add «c»",
            "N1 add N0 N«c»",
            "N1 add N0 N0 N«c»",
            "N1 sum N0 «c»",
            "N1 sum N0 [0,«c»",
            "N1 sum N0 [0] «c»",
            "N1 sum N0 kd=1 «c»",
            "N1 sum N0 k«c»",
            "N1 sum_all N0 «c»",
            "N1 split N0 ax=0 n«c»=2",
            "N1 concat N0 N0 «c»",
            "N1 conv2d N0 N0 s=[1, «c»1]",
            "N1 slice N0 «c»0:1:1",
            "N1 param «c»",
            "N1 input \"a b\" «c»",
            "N1 sum«c»",
            "T1 [f32;«c»4]",
            "# N1 add «c»",
        ],
    ));
}

#[test]
fn mic2_shows_inputs_and_params() {
    snapshot!(shown_for(
        "mind-mic2",
        "mic@2\nT0 f32 4\na X T0\nLINE\nO 0",
        &[
            "m «c»",
            "m 0 0«c»",
            "m 0 0 «c»",
            "sum 0 0 «c»1",
            "rshp 0 «c»",
            "split 0 0 2 «c»",
            "cat 0 0 «c»",
            "s 0 «c»",
            "s«c»",
            "T1 «c»",
            "# m «c»",
        ],
    ));
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
