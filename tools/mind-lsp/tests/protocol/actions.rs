//! Code actions.

use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::Sample;

/// The titles of what is offered for the whole text, and the text after the first.
fn fixed(language: &'static str, text: &str) -> (Vec<String>, String) {
    let mut client = Client::start();
    let sample = Sample::new(language, text);
    sample.open_broken(&mut client);
    let mut params = sample.document();
    params["range"] = json!({
        "start": { "line": 0, "character": 0 },
        "end": { "line": 99, "character": 0 },
    });
    params["context"] = json!({ "diagnostics": [] });
    let found = client.request("textDocument/codeAction", params);
    let found = found.as_array().expect("a list");
    let title = |action: &Value| action["title"].as_str().expect("a title").to_owned();
    let after = found.first().map(|action| sample.after(&action["edit"]));
    (found.iter().map(title).collect(), after.unwrap_or_default())
}

#[track_caller]
fn fixes(language: &'static str, text: &str, title: &str, after: &str) {
    let (titles, fixed) = fixed(language, text);
    assert_eq!(titles.first().map(String::as_str), Some(title));
    assert!(fixed.contains(after), "{fixed}");
}

#[test]
fn help_that_comes_to_an_edit_is_offered() {
    fixes(
        "mind-mic2",
        "mic@2\nT0 f32 4\na X T0\ngeul 0\nO 1",
        "Replace `geul` with `gelu`",
        "\ngelu 0\n",
    );
    fixes(
        "mind-mic2",
        "mic@2\nT0 f32 B\na X T0\nO 0",
        "Insert `S B`",
        "mic@2\nS B\nT0 f32 B",
    );
    fixes(
        "mind-mic2",
        "mic@2\nT0 f23\na X T0\nO 0",
        "Replace `f23` with `f32`",
        "T0 f32\n",
    );
    fixes(
        "mind-mic",
        "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 rleu N0\nO N1\n",
        "Replace `rleu` with `relu`",
        "N1 relu N0",
    );
    fixes(
        "mind-mic",
        "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 softmax N0 axes=0\nO N1\n",
        "Replace `axes` with `ax`",
        "ax=0",
    );
    fixes(
        "mind-core",
        "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Rleu (%0)\noutputs: %1\n",
        "Replace `Rleu` with `Relu`",
        "= Relu (",
    );
    fixes(
        "mil",
        "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = rleu(x = x);\n} -> (y);\n}",
        "Replace `rleu` with `relu`",
        "= relu(x",
    );
    fixes(
        "mind-rules",
        "rule a\n  class exat\n  core.relu(core.relu(?x)) => core.relu(?x)\n",
        "Replace `exat` with `exact`",
        "class exact",
    );
    fixes(
        "mind-rules",
        "rule a\n  class exact\n  core.relu(core.relu(?xs)) => core.relu(?xx)\n",
        "Replace `?xx` with `?xs`",
        "core.relu(?xs)\n",
    );
}

#[test]
fn a_fixed_text_has_no_error_left() {
    let (_, after) = fixed("mind-mic2", "mic@2\nT0 f32 B\na X T0\nO 0");
    assert!(
        Client::start()
            .open("file:///x", "mind-mic2", &after)
            .is_empty()
    );
}

#[test]
fn nothing_is_offered_where_no_edit_is_known() {
    let (titles, _) = fixed("mind-mic2", "mic@2\nT0 f32\na X T0\n+ 0\nO 1");
    assert_eq!(titles, Vec::<String>::new());
}
