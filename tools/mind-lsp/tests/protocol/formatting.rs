//! Formatting.

use crate::client::Client;
use crate::sample::{RULES, Sample, all};

/// The text in canonical form, or why it is refused.
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
fn comments_stay_with_their_statements() {
    assert_eq!(
        formatted(
            "mind-mic2",
            "# top\nmic@2\nT0   f32 4 # four\na  X T0\n\nr 0\nO 1\n"
        ),
        "# top\nmic@2\nT0 f32 4  # four\na X T0\nr 0\nO 1"
    );
    assert_eq!(
        formatted(
            "mind-mic",
            "mic@1\nT0 f32\nN0   input \"x\" T0 # x\nO  N0\n"
        ),
        "mic@1\nS0 \"x\"\nT0 f32\nN0 input S0 T0  # x\nO N0\n"
    );
    assert!(
        formatted(
            "mind-core",
            "%0=Input{name=x}:tensor<f32[4]> # x\noutputs:%0\n"
        )
        .contains("  # x\noutputs: %0\n")
    );
    let program = formatted(
        "mil",
        "program(1.3)\n{\n// a\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = relu(\n// b\nx = x); // c\n} -> (y);\n}",
    );
    let function = program.split_once("]\n{\n").map(|(_, rest)| rest);
    assert_eq!(
        function,
        Some(
            "    // a
    func main<ios18>(tensor<fp16, [1]> x) {
            // b
            tensor<fp16, [1]> y = relu(x = x);  // c
        } -> (y);
}"
        ),
        "{program}"
    );
}

#[test]
fn rules_are_lines_in_one_order() {
    assert_eq!(
        formatted(
            "mind-rules",
            "# top\nrule a where  is_int(?x) # ints\nclass exact core.sub(?x,?x)=>like( ?x,0 )"
        ),
        "# top\nrule a\n  class exact\n  where is_int(?x)  # ints\n  core.sub(?x, ?x) => like(?x, 0)\n"
    );
    assert_ne!(formatted("mind-rules", RULES), "");
}

#[test]
fn what_is_canonical_stays() {
    for sample in &all() {
        let language = match sample.uri.rsplit_once("sample.") {
            Some((_, "mind-mic2")) => "mind-mic2",
            Some((_, "mind-mic")) => "mind-mic",
            Some((_, "mind-core")) => "mind-core",
            Some((_, "mind-rules")) => "mind-rules",
            _ => "mil",
        };
        let once = formatted(language, &sample.text);
        assert_eq!(formatted(language, &once), once);
    }
}

#[test]
fn what_cannot_be_formatted_says_why() {
    assert_eq!(
        formatted("mind-mic2", "mic@2\nT0 f32\nO 7"),
        "a text with errors has no canonical form"
    );
    assert_eq!(
        formatted(
            "mil",
            "program(1.3)\n{\n// a\nfunc main<ios18>(tensor<fp16, [1]> x) {\n} -> (x);\n}"
        ),
        "a text with errors has no canonical form"
    );
    let refused = formatted(
        "mind-mic",
        "mic@1\nT0 f32\nT1 f64 # used by nothing\nN0 input \"x\" T0\nO N0\n",
    );
    assert!(
        refused.contains("line 3: this comment cannot be kept"),
        "{refused}"
    );
    assert_eq!(
        formatted("mind-rules", "rule a\n  class exact\n  ?x =>"),
        "a text with errors has no canonical form"
    );
}
