//! Renaming.

use mind_snapshot::snapshot;
use serde_json::json;

use crate::client::Client;
use crate::sample::{CORE, MIC1, MIC2, MIL, RULES, Sample};

fn opened(language: &'static str, text: &str) -> (Client, Sample) {
    let (mut client, sample) = (Client::start(), Sample::new(language, text));
    sample.open(&mut client);
    (client, sample)
}

/// Returns the lines that a renaming changes, or its error.
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
    // The renamed text still parses without errors.
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
fn names_are_replaced_everywhere_or_refused() {
    let cases = [
        ("mind-mic", MIC1, 'n', "N70"),
        ("mind-mic", MIC1, 'n', "70"),
        ("mind-mic", MIC1, 't', "T9"),
        ("mind-mic", MIC1, 'B', "batch"),
        ("mind-mic", MIC1, 'n', "N2"),
        ("mind-mic", MIC1, 'n', "weight"),
        ("mind-core", CORE, 'n', "%9"),
        ("mind-core", CORE, 'n', "%2"),
        ("mind-core", CORE, 'B', "rows"),
        ("mind-mic2", MIC2, 'x', "image"),
        ("mind-mic2", MIC2, 'x', "w"),
        // An opcode is not a name.
        ("mind-mic2", MIC2, 'x', "m"),
        ("mind-mic2", MIC2, 'B', "batch"),
        ("mind-mic2", MIC2, 'u', "y"),
        ("mind-mic2", MIC2, 'm', "y"),
        ("mind-mic2", MIC2, 't', "T7"),
        ("mil", MIL, 'n', "activated"),
        ("mil", MIL, 'n', "z"),
        ("mil", MIL, 'n', "fp16"),
        ("mil", MIL, 'n', "1y"),
        ("mil", MIL, 'f', "other"),
        ("mil", MIL, 'm', "other"),
        ("mind-rules", RULES, 'u', "input"),
        ("mind-rules", RULES, 'a', "$where"),
        ("mind-rules", RULES, 'r', "relu-relu"),
        ("mind-rules", RULES, 'r', "concat"),
    ];
    let shown = cases.map(|(language, text, mark, name)| {
        let lines = renamed(language, text, mark, name);
        format!("{language} {mark} {name}\n    {}\n", lines.join("\n    "))
    });
    snapshot!(shown.concat());
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
    assert!(refusal.starts_with("fix the errors first"), "{refusal}");
}
