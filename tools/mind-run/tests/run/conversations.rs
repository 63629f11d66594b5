//! Conversations at a fixed time.

use std::time::Duration;

use crate::memory_host::{MemoryHost, RunTool};

macro_rules! model_file {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../lit_tests/mind-run/inputs/tiny-qwen2/",
            $name
        ))
    };
}

/// Returns the error of a conversation at `time` whose template prints the time.
fn refusal(time: Option<Duration>) -> String {
    let mut host = MemoryHost::default();
    let files: [(&str, &[u8]); 4] = [
        ("m/config.json", model_file!("config.json")),
        ("m/model.safetensors", model_file!("model.safetensors")),
        ("m/tokenizer.json", model_file!("tokenizer.json")),
        (
            "m/chat_template.jinja",
            b"{{ raise_exception('it is ' + strftime_now('%d %b %Y, %H:%M')) }}",
        ),
    ];
    for (name, bytes) in files {
        host.files.insert(name.into(), bytes.to_vec());
    }
    host.stdin = b"the cat\n".to_vec();
    host.wall_clock = time;
    assert_eq!(host.run("--model m/config.json --chat"), 1);
    host.error()
}

#[test]
fn templates_have_the_time_of_the_host() {
    let time = Duration::from_secs(1_709_211_909);
    let found = refusal(Some(time));
    assert!(found.contains("it is 29 Feb 2024, 13:05"), "{found}");
    let found = refusal(None);
    assert!(
        found.contains("`strftime_now` needs the current time, which is not given"),
        "{found}"
    );
}
