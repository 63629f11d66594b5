//! Random edits: after each, every request gets a response whose positions are inside the document.

use std::path::{Path, PathBuf};

use mind_ir::random::Rng;
use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::{self, Sample};

/// The text as lines of UTF-16 units, as an editor stores it. Edits do not separate `\r` from `
/// `.
struct Mirror {
    text: String,
}

impl Mirror {
    fn lines(&self) -> Vec<usize> {
        self.text
            .split('\n')
            .map(|line| line.trim_end_matches('\r').encode_utf16().count())
            .collect()
    }

    fn contains(&self, position: &Value) -> bool {
        let lines = self.lines();
        let line = position["line"].as_u64().expect("a line") as usize;
        let column = position["character"].as_u64().expect("a column") as usize;
        lines.get(line).is_some_and(|&length| column <= length)
    }

    fn position(&self, offset: usize) -> Value {
        let before = &self.text[..offset];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        json!({
            "line": before.matches('\n').count(),
            "character": before[start..].encode_utf16().count(),
        })
    }
}

/// Checks that every position in a response is inside the document.
fn check(mirror: &Mirror, answer: &Value, what: &str) {
    match answer {
        Value::Object(fields) => {
            if fields.contains_key("line") && fields.contains_key("character") {
                assert!(
                    mirror.contains(answer),
                    "{what}: {answer} in\n{}",
                    mirror.text
                );
            }
            fields.values().for_each(|field| check(mirror, field, what));
        }
        Value::Array(items) => items.iter().for_each(|item| check(mirror, item, what)),
        _ => {}
    }
}

/// Checks that every semantic token is inside the document and after the previous one.
fn check_tokens(mirror: &Mirror, answer: &Value) {
    let lines = mirror.lines();
    let numbers = answer["data"].as_array().expect("tokens").iter();
    let numbers: Vec<usize> = numbers
        .map(|own| own.as_u64().expect("a number") as usize)
        .collect();
    let (mut line, mut column) = (0, 0);
    for token in numbers.chunks_exact(5) {
        column = if token[0] == 0 {
            column + token[1]
        } else {
            token[1]
        };
        line += token[0];
        let length = lines.get(line).copied().unwrap_or(0);
        assert!(
            column + token[2] <= length,
            "token {token:?} in\n{}",
            mirror.text
        );
    }
}

const PIECES: [&str; 24] = [
    "\n",
    " ",
    "0",
    "99",
    "relu",
    "%1",
    "N3",
    "T0",
    "(",
    ")",
    "{",
    "}",
    "\"",
    "#",
    "//",
    "é𝄞",
    "?x",
    "=>",
    "core.add",
    "f32",
    "=",
    ",",
    "\n\n",
    "-9223372036854775808",
];

fn ask_everything(client: &mut Client, mirror: &Mirror, uri: &str, position: &Value) {
    let document = json!({ "uri": uri });
    let everything = json!({
        "start": { "line": 0, "character": 0 },
        "end": mirror.position(mirror.text.len()),
    });
    let params = json!({
        "textDocument": document,
        "position": position,
        "range": everything,
        "context": { "includeDeclaration": true, "diagnostics": [] },
        "newName": "N7",
        "options": { "tabSize": 4, "insertSpaces": true },
    });
    for method in [
        "hover",
        "definition",
        "references",
        "documentHighlight",
        "documentSymbol",
        "prepareRename",
        "rename",
        "completion",
        "signatureHelp",
        "inlayHint",
        "codeAction",
        "formatting",
        "semanticTokens/full",
    ] {
        // An error is a valid response; a timeout or an exit of the server fails in the client.
        if let Ok(answer) = client.ask(&format!("textDocument/{method}"), params.clone()) {
            check(mirror, &answer, method);
            if method == "semanticTokens/full" {
                check_tokens(mirror, &answer);
            }
        }
    }
}

/// File extensions of texts for the server.
const TEXTS: [&str; 4] = ["core", "mic", "mil", "rules"];

/// Returns the texts to edit: the samples, the examples of the repository and a shipped rule file.
fn texts() -> Vec<(String, &'static str, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let examples = std::fs::read_dir(root.join("examples")).expect("the examples");
    let mut paths: Vec<PathBuf> = examples
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.push(root.join("passes/mind-rules/rules/slices.rules"));
    paths.sort();
    let samples = sample::all().map(|(language, text)| {
        let sample = Sample::new(language, text);
        (sample.uri, language, sample.text)
    });
    let files = paths.iter().filter(|path| {
        path.extension()
            .is_some_and(|end| TEXTS.iter().any(|own| *own == end))
    });
    let files = files.map(|path| {
        let text = std::fs::read_to_string(path).expect("an example");
        (format!("file://{}", path.display()), "", text)
    });
    samples.into_iter().chain(files).collect()
}

#[test]
fn every_request_is_answered_after_any_edit() {
    const EDITS: usize = 30;
    let (mut client, mut draw) = (Client::start(), Rng::new(7));
    for (uri, language, text) in texts() {
        client.open(&uri, language, &text);
        let mut mirror = Mirror { text };
        for version in 2..2 + EDITS {
            let mut start = draw.below(mirror.text.len() + 1);
            let mut end = (start + draw.below(6)).min(mirror.text.len());
            while !mirror.text.is_char_boundary(start) {
                start -= 1;
            }
            while !mirror.text.is_char_boundary(end) {
                end -= 1;
            }
            let end = end.max(start);
            let piece = PIECES[draw.below(PIECES.len())];
            let (from, to) = (mirror.position(start), mirror.position(end));
            let at = |place: &Value, key: &str| place[key].as_u64().expect("a number") as u32;
            let range = [
                at(&from, "line"),
                at(&from, "character"),
                at(&to, "line"),
                at(&to, "character"),
            ];
            let found = client.edit(&uri, version as i64, range, piece);
            mirror.text.replace_range(start..end, piece);
            check(&mirror, &Value::Array(found), "diagnostics");
            let place = draw.below(mirror.text.len() + 1);
            let place = (0..=place)
                .rev()
                .find(|&at| mirror.text.is_char_boundary(at));
            let position = mirror.position(place.unwrap_or(0));
            ask_everything(&mut client, &mirror, &uri, &position);
            // Half of the edits are undone, so that the text stays close to one that parses.
            if draw.below(2) == 0 {
                let full = json!({ "textDocument": { "uri": uri, "version": 1000 + version }, "contentChanges": [{ "text": mirror.text }] });
                client.notify("textDocument/didChange", full);
                client.diagnostics(&uri, 1000 + version as i64);
            }
        }
    }
    assert_eq!(client.leave(), Some(0));
}
