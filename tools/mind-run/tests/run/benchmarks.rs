//! Timings on a clock that advances one millisecond per reading.

use serde_json::{Value, json};

use crate::memory_host::{MemoryHost, RunTool};

const MODULE: &str = "\
%0 = Input {name=x} : tensor<f32[250]>
%1 = Relu (%0)
outputs: %1
";

#[test]
fn json_has_the_documented_keys() {
    let text =
        MemoryHost::with(MODULE).output("m.core --random 1 --engine=interp --bench --format=json");
    let value: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "compile_us": 1000.0,
        "bind_us": 1000.0,
        "run_us": { "min": 1000.0, "median": 1000.0, "p90": 1000.0 },
        "runs": 1000,
        "gb_per_s": 0.002,
        "threads": 1,
        "isa": "interp",
        "workspace_bytes": null,
        "segments": null,
        "cuts": null,
        "tuned": null,
    });
    assert_eq!(value, expected);
}

#[test]
fn compiled_runs_say_what_they_ran_on() {
    let flags = "m.core --random 1 --isa=portable --threads=2 --bench --format=json";
    let value: Value = serde_json::from_str(&MemoryHost::with(MODULE).output(flags)).unwrap();
    assert_eq!(
        (&value["isa"], &value["threads"]),
        (&json!("portable"), &json!(2))
    );
    assert_eq!(value["run_us"]["median"], json!(1000.0));
    assert_eq!(value["workspace_bytes"], json!(0));
}

#[test]
fn results_in_between_are_memory_of_a_run() {
    // The product and its transposition, each in whole cache lines.
    let module = "\
%0 = Input {name=x} : tensor<f32[100, 50]>
%1 = Input {name=y} : tensor<f32[50, 25]>
%2 = MatMul (%0, %1)
%3 = Transpose (%2) {permutation=[1, 0]}
%4 = MatMul (%2, %3)
outputs: %4
";
    let flags = "m.core --random 1 --isa=portable --threads=1 --bench";
    let text = MemoryHost::with(module).output(flags);
    assert!(text.contains("memory of a run 20096 bytes\n"), "{text}");
}

#[test]
fn text_shows_the_same() {
    let expected = "\
compile 1000.0 us
bind    1000.0 us
run     1000.0 us (min 1000.0, p90 1000.0, 1000 runs)
inputs and outputs 0.002 GB/s
";
    assert_eq!(
        MemoryHost::with(MODULE).output("m.core --random 1 --engine=interp --bench"),
        expected
    );
}

#[test]
fn outputs_are_still_written_when_asked_for() {
    let mut host = MemoryHost::with(MODULE);
    assert!(
        host.output("m.core --random 1 --bench --outputs out.npz")
            .starts_with("compile")
    );
    assert_eq!(host.arrays("out.npz")["out0"].shape(), [250]);
}
