//! What is wrong with a document, while it is typed.

use serde_json::Value;

use crate::client::Client;
use crate::sample::{MIC2, Sample};

/// What is wrong: code, place and the first line of the message.
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
    let found = broken(
        "mind-mic2",
        "mic@2\nT0 f32 4\na X T0\n+ 0\nrleu 0\nr 9\nO 3",
    );
    assert_eq!(
        found,
        [
            "E2007 4:+ 0 '+' needs 2 inputs, found 1",
            "- 5:rleu unknown opcode 'rleu'",
            "E4001 6:9 input 9 is not defined yet (values so far: 0..3)",
        ]
    );
    let found = broken(
        "mind-mic",
        "mic@1\nT0 f32\nN0 input \"x\" T0\nN1 add N0\nO N7\n",
    );
    assert_eq!(found.len(), 2, "{found:?}");
    let found = broken(
        "mind-core",
        "%0 = Input {name=x} : tensor<f32[4]>\n%1 = Rleu (%0)\noutputs: %2\n",
    );
    assert!(found[0].contains("2:Rleu"), "{found:?}");
    let found = broken(
        "mil",
        "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [1]> x) {\ntensor<fp16, [1]> y = rleu(x = x);\n} -> (y);\n}",
    );
    assert!(found[0].contains("there is no op `rleu`"), "{found:?}");
    let found = broken(
        "mind-rules",
        "rule a\n  class exact\n  core.rleu(?x) => ?x\n\nrule b\n  core.relu(core.relu(?x)) => core.relu(?x)\n",
    );
    assert!(found[0].starts_with("- 3:core.rleu"), "{found:?}");
    assert!(
        found[1].starts_with("- 5:b rule `b` has no class"),
        "{found:?}"
    );
}

#[test]
fn a_text_that_reads_is_verified() {
    let found = broken(
        "mind-mic2",
        "mic@2\nT0 f32 2 3\nT1 f32 4 5\na X T0\na Y T1\nm 0 1\nO 2",
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("E3003 6:m 0 1"), "{found:?}");
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
fn places_count_utf16_units() {
    let found = broken(
        "mind-core",
        "# 𝄞 é\n%0 = Input {name=\"𝄞é\"} : tensor<f33[4]>\noutputs: %0\n",
    );
    assert!(found[0].contains("2:f33"), "{found:?}");
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
    // Two changes that are answered together.
    let found = client.edit(&sample.uri, 4, [9, 0, 9, 3], "");
    let message = found[0]["message"].as_str().expect("a message");
    assert!(message.starts_with("the module has no output\n"));
}

#[test]
fn a_file_that_cannot_be_told_is_read_as_its_ending_says() {
    let found = broken("plaintext", "nothing at all");
    assert!(found[0].contains("expected the header"), "{found:?}");
}
