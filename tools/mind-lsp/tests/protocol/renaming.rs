//! Renaming.

use serde_json::json;

use crate::client::Client;
use crate::sample::{CORE, MIC1, MIC2, MIL, RULES, Sample};

fn opened(language: &'static str, text: &str) -> (Client, Sample) {
    let (mut client, sample) = (Client::start(), Sample::new(language, text));
    sample.open(&mut client);
    (client, sample)
}

/// The lines that a renaming changes, or why it is refused.
fn renamed(language: &'static str, text: &str, mark: char, name: &str) -> Vec<String> {
    let (mut client, sample) = opened(language, text);
    let mut params = sample.at(mark);
    params["newName"] = json!(name);
    let answer = client.ask("textDocument/rename", params);
    let edit = match answer {
        Ok(edit) => edit,
        Err(error) => return vec![error["message"].as_str().expect("a reason").to_owned()],
    };
    let after = sample.after(&edit);
    // What was renamed reads as before.
    assert!(
        client.open("file:///renamed", language, &after).is_empty(),
        "{after}"
    );
    let lines = sample.text.lines().zip(after.lines());
    lines
        .filter(|(before, after)| before != after)
        .map(|(_, after)| after.trim().to_owned())
        .collect()
}

#[test]
fn ids_of_mic1_are_renumbered_everywhere() {
    assert_eq!(
        renamed("mind-mic", MIC1, 'n', "N70"),
        ["N70 param \"w\" T1", "N2 matmul N0 N70"]
    );
    assert_eq!(
        renamed("mind-mic", MIC1, 'n', "70")[0],
        "N70 param \"w\" T1"
    );
    assert_eq!(
        renamed("mind-mic", MIC1, 't', "T9"),
        ["T9 [f32;B,4]", "N0 input S0 T9"]
    );
    assert_eq!(
        renamed("mind-mic", MIC1, 'B', "batch"),
        ["T0 [f32;batch,4]"]
    );
    assert_eq!(renamed("mind-mic", MIC1, 'n', "N2"), ["`N2` is taken"]);
    assert_eq!(
        renamed("mind-mic", MIC1, 'n', "weight"),
        ["`weight` is no id: those are `N0` to `N9223372036854775807`"]
    );
}

#[test]
fn ids_of_core_text_are_renumbered() {
    assert_eq!(renamed("mind-core", CORE, 'n', "%9").len(), 2);
    assert_eq!(renamed("mind-core", CORE, 'n', "%2"), ["`%2` is taken"]);
    assert_eq!(renamed("mind-core", CORE, 'B', "rows").len(), 1);
}

#[test]
fn mic2_has_names_for_inputs_and_dimensions_alone() {
    assert_eq!(renamed("mind-mic2", MIC2, 'x', "image"), ["a image T0"]);
    assert_eq!(renamed("mind-mic2", MIC2, 'x', "w"), ["`w` is taken"]);
    // An opcode is no name.
    assert_eq!(renamed("mind-mic2", MIC2, 'x', "m"), ["a m T0"]);
    assert_eq!(
        renamed("mind-mic2", MIC2, 'B', "batch"),
        ["S batch", "T0 f32 batch 4"]
    );
    let refused =
        "values of mic@2 have no names: an id is the position of the line that defines it";
    assert_eq!(renamed("mind-mic2", MIC2, 'u', "y"), [refused]);
    assert_eq!(renamed("mind-mic2", MIC2, 'm', "y"), [refused]);
    let refused = "types of mic@2 are numbered in the order of their lines";
    assert_eq!(renamed("mind-mic2", MIC2, 't', "T7"), [refused]);
}

#[test]
fn values_of_mil_are_renamed_but_for_reserved_words() {
    assert_eq!(
        renamed("mil", MIL, 'n', "activated"),
        [
            "tensor<fp16, [1, 4]> activated = relu(x = x)[name = string(\"y\")];",
            "tensor<fp16, [1, 4]> z = add(x = activated, y = x)[name = string(\"z\")];"
        ]
    );
    assert_eq!(renamed("mil", MIL, 'n', "z"), ["`z` is taken"]);
    assert_eq!(
        renamed("mil", MIL, 'n', "fp16"),
        ["`fp16` would change what the text says"]
    );
    assert_eq!(renamed("mil", MIL, 'n', "1y").len(), 1);
    assert_eq!(
        renamed("mil", MIL, 'f', "other"),
        ["the functions of a program are its interface"]
    );
    assert_eq!(
        renamed("mil", MIL, 'm', "other"),
        ["this name belongs to the language"]
    );
}

#[test]
fn names_in_rules_keep_their_marks() {
    assert_eq!(
        renamed("mind-rules", RULES, 'u', "input"),
        [
            "where is_float(?input)",
            "core.relu(core.relu(?input)) => core.relu(?input)"
        ]
    );
    assert_eq!(renamed("mind-rules", RULES, 'a', "$where").len(), 1);
    assert_eq!(
        renamed("mind-rules", RULES, 'r', "relu-relu"),
        ["rule relu-relu"]
    );
    assert_eq!(
        renamed("mind-rules", RULES, 'r', "concat"),
        ["`concat` is taken"]
    );
}

#[test]
fn what_would_be_renamed_is_shown_first() {
    let (mut client, sample) = opened("mind-core", CORE);
    let found = client.request("textDocument/prepareRename", sample.at('u'));
    assert_eq!(found["placeholder"], "%1");
    assert_eq!(sample.shown(&found["range"]), "3:%1");
    let refusal = client.refusal("textDocument/prepareRename", sample.at('m'));
    assert_eq!(refusal, "this name belongs to the language");
}

#[test]
fn a_text_with_errors_is_not_renamed_in() {
    let (mut client, sample) = opened("mind-mic", MIC1);
    assert_eq!(client.edit(&sample.uri, 2, [9, 0, 9, 4], "O N9").len(), 1);
    let mut params = sample.at('n');
    params["newName"] = json!("N70");
    let refusal = client.refusal("textDocument/rename", params);
    assert!(refusal.starts_with("the text has errors"), "{refusal}");
}
