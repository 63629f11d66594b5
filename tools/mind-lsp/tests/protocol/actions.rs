//! Code actions.

use mind_snapshot::snapshot;
use serde_json::{Value, json};

use crate::client::Client;
use crate::sample::Sample;

/// Returns the titles of the actions for the whole text, and the text after the first one.
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

#[test]
fn help_that_comes_to_an_edit_is_offered() {
    let cases = [
        ("mind-mic2", "mic@2\nT0 f32 4\na X T0\ngeul 0\nO 1"),
        ("mind-mic2", "mic@2\nT0 f32 B\na X T0\nO 0"),
        ("mind-mic2", "mic@2\nT0 f23\na X T0\nO 0"),
        (
            "mind-mic",
            "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 rleu N0\nO N1\n",
        ),
        (
            "mind-mic",
            "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 softmax N0 axes=0\nO N1\n",
        ),
        (
            "mind-core",
            "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Rleu (%0)\noutputs: %1\n",
        ),
        (
            "mil",
            "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = rleu(x = x);\n} -> (y);\n}",
        ),
        (
            "mind-rules",
            "rule a\n  class exat\n  core.relu(core.relu(?x)) => core.relu(?x)\n",
        ),
        (
            "mind-rules",
            "rule a\n  class exact\n  core.relu(core.relu(?xs)) => core.relu(?xx)\n",
        ),
    ];
    let shown = cases.map(|(language, text)| {
        let (titles, after) = fixed(language, text);
        format!("{language}: {}\n{}\n", titles.join(", "), after.trim_end())
    });
    snapshot!(shown.join("\n"));
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
