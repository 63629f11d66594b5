//! Documents of the maximal size: every request takes linear time, or is rejected.

use serde_json::json;

use crate::client::Client;

/// Sends every request that processes a whole document.
fn ask(client: &mut Client, uri: &str, line: usize) {
    let end = json!({ "line": line, "character": 0 });
    let params = json!({
        "textDocument": { "uri": uri },
        "position": end,
        "range": { "start": { "line": 0, "character": 0 }, "end": end },
        "context": { "includeDeclaration": true, "diagnostics": [] },
        "newName": "x",
        "options": { "tabSize": 4, "insertSpaces": true },
    });
    for method in [
        "hover",
        "references",
        "documentSymbol",
        "rename",
        "completion",
        "signatureHelp",
        "inlayHint",
        "formatting",
        "semanticTokens/full",
    ] {
        let _ = client.ask(&format!("textDocument/{method}"), params.clone());
    }
}

#[test]
fn a_long_module_is_answered_while_it_reads_and_while_it_does_not() {
    const NODES: usize = 20_000;
    let mut client = Client::start();
    let uri = "file:///long.mic2";
    let lines: String = (0..NODES).map(|id| format!("r {id}\n")).collect();
    let text = format!("mic@2\nT0 f32 4\na X T0\n{lines}O {NODES}");
    assert!(client.open(uri, "mind-mic2", &text).is_empty());
    ask(&mut client, uri, NODES);
    let last = NODES as u32 + 2;
    assert_eq!(client.edit(uri, 2, [last, 0, last, 1], "x").len(), 1);
    ask(&mut client, uri, NODES);
}

#[test]
fn hostile_rules_are_answered() {
    let mut client = Client::start();
    for (number, piece) in ["a,", "a ", "?x ", "(", "rule a ", "'t[", "where "]
        .iter()
        .enumerate()
    {
        let uri = format!("file:///{number}.rules");
        let text = piece.repeat(200 * 1024 / piece.len());
        client.open(&uri, "mind-rules", &text);
        ask(&mut client, &uri, 0);
    }
    let found = client.open(
        "file:///long.rules",
        "mind-rules",
        &"# long\n".repeat(60_000),
    );
    let message = found[0]["message"].as_str().expect("a message");
    assert!(message.contains("is not checked"), "{message}");
}

#[test]
fn a_text_past_the_limit_is_refused() {
    let mut client = Client::start();
    let text = format!("mic@2\n{}", "#".repeat(10 * 1024 * 1024));
    let found = client.open("file:///huge.mic2", "mind-mic2", &text);
    let message = found[0]["message"].as_str().expect("a message");
    assert!(message.contains("the limit is"), "{message}");
    ask(&mut client, "file:///huge.mic2", 1);
}
