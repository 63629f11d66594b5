//! Inlay hints.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::{CORE, MIC1, MIC2, MIL, RULES, Sample};

/// Returns the text from line `from` to line `to`, with its hints in braces.
fn hinted(language: &'static str, text: &str, [from, to]: [u32; 2]) -> String {
    let mut client = Client::start();
    let sample = Sample::new(language, text);
    sample.open_broken(&mut client);
    let mut params = sample.document();
    params["range"] = json!({
        "start": { "line": from, "character": 0 },
        "end": { "line": to, "character": 0 },
    });
    let found = client.request("textDocument/inlayHint", params);
    let edits: Vec<Value> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|hint| {
            let text = format!("{{{}}}", hint["label"].as_str().expect("a label"));
            let range = json!({ "start": hint["position"], "end": hint["position"] });
            json!({ "range": range, "newText": text })
        })
        .collect();
    sample.edited(&edits)
}

#[test]
fn mic2_shows_ids_and_inferred_types() {
    let expected = "mic@2\nS B\nT0 f32 B 4\nT1 f32 4 4\n{0}a X T0\n{1}p w T1\n{2}m 0 1{f32[B, 4]}\n\
        {3}r 2{f32[B, 4]}\n{4}sum 3 1{f32[B]}\nO 4";
    assert_eq!(hinted("mind-mic2", MIC2, [0, 99]), expected);
    assert!(!hinted("mind-mic2", MIC2, [7, 8]).contains("{2}"));
}

#[test]
fn hints_stand_before_comments_and_survive_errors() {
    let text = "mic@2\nT0 f32 4\na X T0\n  r 0  # é\nr 9\nO 1";
    let expected = "mic@2\nT0 f32 4\n{0}a X T0\n  {1}r 0  # é\n{2}r 9\nO 1";
    assert_eq!(hinted("mind-mic2", text, [0, 99]), expected);
}

#[test]
fn other_languages_show_types_that_are_not_written() {
    assert!(hinted("mind-mic", MIC1, [0, 99]).contains("N3 relu N2{f32[B, 4]}\n"));
    assert!(hinted("mind-core", CORE, [0, 99]).contains("{f32[B]}\noutputs"));
    assert!(!hinted("mind-core", CORE, [0, 99]).contains("4]>{"));
    for (language, text) in [("mil", MIL), ("mind-rules", RULES)] {
        let sample = Sample::new(language, text);
        assert_eq!(hinted(language, text, [0, 99]), sample.text);
    }
}
