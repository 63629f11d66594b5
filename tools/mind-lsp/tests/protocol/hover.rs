//! Hovering.

use serde_json::Value;

use crate::client::Client;
use crate::sample::{CORE, MIC1, MIC2, MIL, RULES, Sample};

fn hover(sample: &Sample, client: &mut Client, mark: char) -> String {
    let found = client.request("textDocument/hover", sample.at(mark));
    match &found {
        Value::Null => "nothing".to_owned(),
        found => found["contents"]["value"]
            .as_str()
            .expect("a text")
            .to_owned(),
    }
}

fn shows(language: &'static str, text: &str, mark: char, parts: &[&str]) {
    let mut client = Client::start();
    let sample = Sample::new(language, text);
    sample.open(&mut client);
    let shown = hover(&sample, &mut client, mark);
    for part in parts {
        assert!(shown.contains(part), "{language} {mark}: {shown}");
    }
}

#[test]
fn an_opcode_shows_its_value_and_the_ops_documentation() {
    shows(
        "mind-mic2",
        MIC2,
        'm',
        &["2: f32[B, 4]", "core.matmul(lhs, rhs)", "**Shapes:**"],
    );
    shows(
        "mind-mic2",
        MIC2,
        's',
        &["4: f32[B]", "core.sum(", "axes=[]"],
    );
    shows(
        "mind-mic",
        MIC1,
        'm',
        &["core.matmul(lhs, rhs)", "**Errors:**"],
    );
    shows("mind-core", CORE, 'm', &["core.matmul(lhs, rhs)"]);
    shows("mil", MIL, 'm', &["mil.relu("]);
    shows("mind-rules", RULES, 'm', &["core.relu(input)"]);
}

#[test]
fn a_value_shows_its_inferred_type() {
    shows("mind-mic2", MIC2, 'u', &["2: f32[B, 4]"]);
    shows("mind-mic2", MIC2, 'x', &["X: f32[B, 4]"]);
    shows("mind-mic", MIC1, 'u', &["N1: f32[4, 4]"]);
    shows("mind-core", CORE, 'u', &["%1: f32[4, 4]"]);
    shows("mil", MIL, 'u', &["y: f16[1, 4]"]);
}

#[test]
fn other_names_show_what_they_are() {
    shows("mind-mic2", MIC2, 't', &["T0 f32 B 4"]);
    shows(
        "mind-mic2",
        MIC2,
        'B',
        &["dimension `B`, places that use it: 1"],
    );
    shows("mind-mic", MIC1, 'k', &["keepdims=false", "core.sum"]);
    shows("mind-core", CORE, 'k', &["keepdims=false"]);
    shows("mil", MIL, 'k', &["argument `x` of `add`"]);
    shows(
        "mind-rules",
        RULES,
        'r',
        &["class exact", "core.relu(core.relu(?x))"],
    );
    shows("mind-rules", RULES, 'p', &["predicate `is_float`"]);
}

#[test]
fn a_broken_text_shows_the_types_of_the_last_one_that_read() {
    let mut client = Client::start();
    let sample = Sample::new("mind-mic2", MIC2);
    sample.open(&mut client);
    assert_eq!(client.edit(&sample.uri, 2, [8, 0, 8, 3], "sun").len(), 1);
    let shown = hover(&sample, &mut client, 'u');
    assert!(shown.contains("2: f32[B, 4]"), "{shown}");
    assert!(shown.contains("last text without errors"), "{shown}");
}

#[test]
fn a_comment_shows_nothing() {
    let mut client = Client::start();
    let sample = Sample::new("mind-mic2", "mic@2\nT0 f32\na X T0 # «c»relu\nO 0");
    sample.open(&mut client);
    assert_eq!(hover(&sample, &mut client, 'c'), "nothing");
}
