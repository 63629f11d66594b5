//! Formatting.

use mind_snapshot::snapshot;

use crate::client::Client;
use crate::sample::{RULES, Sample, all};

/// Returns the text in canonical form, or the error.
fn formatted(language: &'static str, text: &str) -> String {
    let mut client = Client::start();
    let sample = Sample::new(language, text);
    sample.open_broken(&mut client);
    let mut params = sample.document();
    params["options"] = serde_json::json!({ "tabSize": 4, "insertSpaces": true });
    match client.ask("textDocument/formatting", params) {
        Ok(edits) => sample.edited(edits.as_array().expect("a list")),
        Err(error) => error["message"].as_str().expect("a reason").to_owned(),
    }
}

#[test]
fn texts_become_canonical_with_their_comments_or_are_refused() {
    let cases = [
        (
            "mind-mic2",
            "# top\nmic@2\nT0   f32 4 # four\na  X T0\n\nr 0\nO 1\n",
        ),
        (
            "mind-mic",
            "mic@1\nT0 f32\nN0   input \"x\" T0 # x\nO  N0\n",
        ),
        (
            "mind-core",
            "%0=Input{name=x}:tensor<f32[4]> # x\noutputs:%0\n",
        ),
        (
            "mil",
            "program(1.3)\n{\n// a\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = relu(\n// b\nx = x); // c\n} -> (y);\n}",
        ),
        (
            "mind-rules",
            "# top\nrule a where  is_int(?x) # ints\nclass exact core.sub(?x,?x)=>like( ?x,0 )",
        ),
        ("mind-rules", RULES),
        // Documents that cannot be formatted.
        ("mind-mic2", "mic@2\nT0 f32\nO 7"),
        (
            "mil",
            "program(1.3)\n{\n// a\nfunc main<ios18>(tensor<fp16, [1]> x) {\n} -> (x);\n}",
        ),
        (
            "mind-mic",
            "mic@1\nT0 f32\nT1 f64 # used by nothing\nN0 input \"x\" T0\nO N0\n",
        ),
        ("mind-rules", "rule a\n  class exact\n  ?x =>"),
    ];
    snapshot!(
        cases
            .map(|(language, text)| formatted(language, text))
            .join("\n\n")
    );
}

#[test]
fn what_is_canonical_stays() {
    for (language, text) in all() {
        let once = formatted(language, text);
        assert_eq!(formatted(language, &once), once);
    }
}
