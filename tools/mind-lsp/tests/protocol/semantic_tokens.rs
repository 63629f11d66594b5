//! Semantic tokens.

use mind_snapshot::snapshot;
use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::{self, Sample};

/// Returns the tokens as `line:word type`, with `=` after declarations.
fn tokens(language: &'static str, text: &str, range: Option<Value>) -> Vec<String> {
    let mut client = Client::start();
    let sample = Sample::new(language, text);
    sample.open_broken(&mut client);
    let legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let mut params = sample.document();
    let found = match range {
        None => client.request("textDocument/semanticTokens/full", params),
        Some(range) => {
            params["range"] = range;
            client.request("textDocument/semanticTokens/range", params)
        }
    };
    let data: Vec<u64> = found["data"]
        .as_array()
        .expect("numbers")
        .iter()
        .map(|number| number.as_u64().expect("a number"))
        .collect();
    let (mut line, mut column) = (0, 0);
    let decode = |token: &[u64]| {
        column = if token[0] == 0 {
            column + token[1]
        } else {
            token[1]
        };
        line += token[0];
        let end = column + token[2];
        let range = json!({
            "start": { "line": line, "character": column },
            "end": { "line": line, "character": end },
        });
        let mark = if token[4] == 1 { "=" } else { "" };
        let kind = legend[token[3] as usize].as_str().expect("a type");
        format!("{} {kind}{mark}", sample.shown(&range))
    };
    data.chunks_exact(5).map(decode).collect()
}

#[test]
fn every_word_is_told() {
    let shown = sample::all().map(|(language, text)| {
        let tokens = tokens(language, text, None);
        format!("{language}\n    {}\n", tokens.join("\n    "))
    });
    snapshot!(shown.concat());
}

#[test]
fn comments_are_told_and_a_part_of_a_text_can_be_asked_for() {
    let text = "mic@2 # é𝄞\nT0 f32\na X T0 # in\nO 0";
    assert_eq!(tokens("mind-mic2", text, None)[0], "1:# é𝄞 comment");
    let range = json!({
        "start": { "line": 2, "character": 3 },
        "end": { "line": 2, "character": 4 },
    });
    assert_eq!(
        tokens("mind-mic2", text, Some(range)),
        [
            "3:a function",
            "3:X variable=",
            "3:T0 type",
            "3:# in comment"
        ]
    );
}
