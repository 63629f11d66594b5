//! Initialisation, shutdown, and violations of the protocol.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::Sample;

#[test]
fn an_editor_comes_and_goes() {
    let client = Client::start();
    for offered in [
        "hoverProvider",
        "definitionProvider",
        "referencesProvider",
        "documentHighlightProvider",
        "documentSymbolProvider",
        "workspaceSymbolProvider",
        "foldingRangeProvider",
        "renameProvider",
        "completionProvider",
        "signatureHelpProvider",
        "inlayHintProvider",
        "codeActionProvider",
        "documentFormattingProvider",
        "semanticTokensProvider",
    ] {
        assert!(!client.capabilities[offered].is_null(), "{offered}");
    }
    assert_eq!(client.capabilities["textDocumentSync"]["change"], 2);
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn an_editor_that_just_leaves_is_told_by_the_exit_code() {
    let mut client = Client::start();
    client.notify("exit", Value::Null);
    assert_eq!(client.wait().code(), Some(1));
    let mut client = Client::start();
    assert_eq!(client.wait().code(), Some(1));
}

#[test]
fn requests_that_cannot_be_answered_are_refused() {
    let mut client = Client::start();
    let unknown = json!({
        "textDocument": { "uri": "file:///nowhere" },
        "position": { "line": 0, "character": 0 },
    });
    let refusal = client.refusal("textDocument/hover", unknown);
    assert_eq!(refusal, "no document `file:///nowhere` is open");
    assert!(
        client
            .refusal("textDocument/hover", json!(7))
            .starts_with("wrong parameters")
    );
    assert_eq!(
        client.refusal("mind/nothing", json!({})),
        "`mind/nothing` is not offered"
    );
    client.notify("mind/nothing", json!({}));
    client.notify("textDocument/didChange", json!("nothing"));
    let sample = Sample::new("mind-mic2", crate::sample::MIC2);
    sample.open(&mut client);
    client.notify("textDocument/didClose", sample.document());
    let refusal = client.refusal("textDocument/documentSymbol", sample.document());
    assert!(refusal.contains("is open"), "{refusal}");
}

#[test]
fn bytes_that_are_no_message_end_the_server() {
    let mut client = Client::spawn();
    client.send_bytes(b"Content-Length: x\r\n\r\n");
    assert_eq!(client.wait().code(), Some(1));
}
