//! Diagnostics while a document is typed.

use mind_snapshot::snapshot;
use serde_json::Value;

use crate::client::Client;
use crate::sample::{MIC2, Sample};

/// Returns the code, the location and the first line of the message of each diagnostic.
fn shown(sample: &Sample, found: &[Value]) -> Vec<String> {
    let line = |each: &Value| {
        let code = each["code"].as_str().unwrap_or("-");
        let place = sample.shown(&each["range"]);
        let message = each["message"].as_str().expect("a message");
        let first = message.lines().next().unwrap_or_default();
        format!("{code} {place} {first}")
    };
    found.iter().map(line).collect()
}

fn broken(language: &'static str, text: &str) -> Vec<String> {
    let sample = Sample::new(language, text);
    let found = sample.open_broken(&mut Client::start());
    shown(&sample, &found)
}

#[test]
fn every_error_is_told_at_once_with_its_code_and_place() {
    let cases = [
        (
            "mind-mic2",
            "mic@2\nT0 f32 4\na X T0\n+ 0\nrleu 0\nr 9\nO 3",
        ),
        (
            "mind-mic",
            "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 add N0\nO N7\n",
        ),
        (
            "mind-core",
            "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Rleu (%0)\noutputs: %2\n",
        ),
        (
            "mil",
            "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = rleu(x = x);\n} -> (y);\n}",
        ),
        (
            "mind-rules",
            "rule a\n  class exact\n  core.rleu(?x) => ?x\n\nrule b\n  core.relu(core.relu(?x)) => core.relu(?x)\n",
        ),
        // A text that parses is also verified.
        (
            "mind-mic2",
            "mic@2\nT0 f32 2 3\nT1 f32 4 5\na X T0\na Y T1\nm 0 1\nO 2",
        ),
        // Columns count UTF-16 units.
        (
            "mind-core",
            "# 𝄞 é\n%0 = Input {name=\"𝄞é\"} : tensor<f33[4]>\noutputs: %0\n",
        ),
        // A file of an unknown format is parsed according to its extension.
        ("plaintext", "nothing at all"),
    ];
    let shown = cases.map(|(language, text)| {
        format!(
            "{language}\n    {}\n",
            broken(language, text).join("\n    ")
        )
    });
    snapshot!(shown.concat());
}

#[test]
fn help_is_in_the_message_and_other_places_are_related() {
    let sample = Sample::new(
        "mind-mic",
        "mic@1\nT0 f32\nN0 input \"x\" T0\nN0 input \"y\" T0\nO N0\n",
    );
    let found = sample.open_broken(&mut Client::start());
    let message = found[0]["message"].as_str().expect("a message");
    assert!(
        message.ends_with("\nhelp: each node has its own id"),
        "{message}"
    );
    let related = found[0]["relatedInformation"].as_array().expect("places");
    let said: Vec<String> = related
        .iter()
        .map(|each| {
            let place = sample.shown(&each["location"]["range"]);
            format!("{place}: {}", each["message"].as_str().expect("a message"))
        })
        .collect();
    assert_eq!(said, ["3:N0 input \"x\" T0: N0 is first defined here"]);
}

#[test]
fn errors_come_and_go_with_edits() {
    let mut client = Client::start();
    let sample = Sample::new("mind-mic2", MIC2);
    sample.open(&mut client);
    let found = client.edit(&sample.uri, 2, [6, 2, 6, 3], "99");
    assert_eq!(found.len(), 1);
    let found = client.edit(&sample.uri, 3, [6, 2, 6, 4], "0");
    assert_eq!(found, Vec::<Value>::new());
    // Two changes that are published together.
    let found = client.edit(&sample.uri, 4, [9, 0, 9, 3], "");
    let message = found[0]["message"].as_str().expect("a message");
    assert!(message.starts_with("the module has no output\n"));
}
