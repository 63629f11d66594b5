//! Outputs of successful runs.

use mind_interp::{Extents, random_inputs};
use mind_ir::tensor::Tensor;
use serde_json::{Value, json};

use crate::memory_host::{MemoryHost, RunTool};

const SMALL: &str = "\
%0 = Input {name=x} : tensor<f32[2, 3]>
%1 = Input {name=y} : tensor<i64[]>
%6 = Relu (%0)
%7 = Add (%1, %1)
outputs: %6, %7, %0
";

fn small() -> MemoryHost {
    let x = Tensor::of(
        vec![2, 3],
        vec![1.5f32, -2.0, 0.1, f32::NAN, f32::INFINITY, -0.0],
    );
    MemoryHost::with(SMALL).and_arrays([("x", &x), ("y", &Tensor::scalar(21i64))])
}

#[test]
fn outputs_are_printed_with_name_type_checksum_and_elements() {
    let expected = "\
%6: f32[2, 3] fnv1a:ba635e524b64b9c7
[[1.5, 0.0, 0.1],
 [0.0, inf, 0.0]]
%7: i64[] fnv1a:ff3add6b3789daef
42
%0: f32[2, 3] fnv1a:52e52b225219102b
[[1.5, -2.0, 0.1],
 [nan, inf, -0.0]]
";
    assert_eq!(small().output("m.core --inputs in.npz"), expected);
}

#[test]
fn json_holds_the_same_with_nan_and_infinities_as_strings() {
    let text = small().output("m.core --inputs in.npz --format=json");
    assert_eq!(text.lines().count(), 1);
    let value: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({ "outputs": [
        { "name": "%6", "array": "out0", "dtype": "f32", "shape": [2, 3], "elided": 0,
          "checksum": "fnv1a:ba635e524b64b9c7", "data": [1.5, 0.0, 0.1, 0.0, "inf", 0.0] },
        { "name": "%7", "array": "out1", "dtype": "i64", "shape": [], "elided": 0,
          "checksum": "fnv1a:ff3add6b3789daef", "data": [42] },
        { "name": "%0", "array": "out2", "dtype": "f32", "shape": [2, 3], "elided": 0,
          "checksum": "fnv1a:52e52b225219102b", "data": [1.5, -2.0, 0.1, "nan", "inf", -0.0] },
    ]});
    assert_eq!(value, expected);
}

#[test]
fn an_archive_takes_the_place_of_printing() {
    let mut host = small();
    assert_eq!(host.output("m.core --inputs in.npz --outputs out.npz"), "");
    let arrays = host.arrays("out.npz");
    assert_eq!(arrays.keys().collect::<Vec<_>>(), ["out0", "out1", "out2"]);
    assert_eq!(arrays["out1"].elements::<i64>(), [42]);
    assert!(arrays["out2"].same_bits(&host.arrays("in.npz")["x"]));
    let first = host.files.remove(std::path::Path::new("out.npz"));
    host.output("m.core --inputs in.npz --outputs out.npz");
    assert_eq!(
        first.as_ref(),
        host.files.get(std::path::Path::new("out.npz"))
    );
}

#[test]
fn outputs_with_names_go_by_them() {
    let named = SMALL.replace(
        "%6, %7, %0",
        "%6 {name=\"scores/of:0\"}, %7, %0 {name=out1}",
    );
    let x = Tensor::of(vec![2, 3], vec![1.0f32; 6]);
    let mut host = MemoryHost::with(&named).and_arrays([("x", &x), ("y", &Tensor::scalar(21i64))]);
    let text = host.output("m.core --inputs in.npz");
    assert!(text.starts_with("scores/of:0: f32[2, 3]"), "{text}");
    assert!(
        text.contains("\n%7: i64[]") && text.contains("\nout1: f32[2, 3]"),
        "{text}"
    );
    let json = host.output("m.core --inputs in.npz --format=json");
    let value: Value = serde_json::from_str(&json).unwrap();
    let names = |key: &str| -> Vec<&str> {
        let outputs = value["outputs"].as_array().unwrap().iter();
        outputs.map(|own| own[key].as_str().unwrap()).collect()
    };
    assert_eq!(names("name"), ["scores/of:0", "%7", "out1"]);
    assert_eq!(names("array"), ["scores/of:0", "out1_", "out1"]);
    host.output("m.core --inputs in.npz --outputs out.npz");
    let mut keys: Vec<String> = host.arrays("out.npz").into_keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["out1", "out1_", "scores/of:0"]);
}

#[test]
fn the_module_may_come_from_standard_input() {
    let mut host = small();
    host.stdin = SMALL.into();
    let piped = host.output("- --inputs in.npz");
    assert_eq!(piped, host.output("m.core --inputs in.npz"));
}

fn identity(ty: &str) -> String {
    format!("%0 = Input {{name=x}} : tensor<{ty}>\noutputs: %0\n")
}

#[test]
fn large_outputs_are_elided_unless_all_is_asked_for() {
    let x = Tensor::of(vec![2, 8, 40], (0..640).collect::<Vec<i32>>());
    let mut host = MemoryHost::with(&identity("i32[2, 8, 40]")).and_arrays([("x", &x)]);
    let text = host.output("m.core --inputs in.npz");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "[[[0, 1, 2, ..., 37, 38, 39],");
    assert_eq!(
        lines[3..6],
        [
            "  [80, 81, 82, ..., 117, 118, 119],",
            "  ...,",
            "  [200, 201, 202, ..., 237, 238, 239],"
        ]
    );
    assert_eq!(lines[8], " [[320, 321, 322, ..., 357, 358, 359],");
    assert_eq!(
        lines.last(),
        Some(&"  [600, 601, 602, ..., 637, 638, 639]]]")
    );
    let full = host.output("m.core --inputs in.npz --full");
    assert!(full.contains("38, 39],\n  [40, 41,") && !full.contains("..."));
}

#[test]
fn no_shape_prints_more_than_a_thousand_elements() {
    let x = Tensor::of(vec![2; 12], vec![false; 4096]);
    let dims = ["2"; 12].join(", ");
    let mut host = MemoryHost::with(&identity(&format!("bool[{dims}]"))).and_arrays([("x", &x)]);
    let text = host.output("m.core --inputs in.npz");
    assert_eq!(text.matches("false").count(), 1000);
    assert_eq!(text.matches('[').count(), text.matches(']').count());
    let json = host.output("m.core --inputs in.npz --format=json");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["outputs"][0]["elided"], 3096);
    assert_eq!(value["outputs"][0]["data"].as_array().unwrap().len(), 1000);
    let full = host.output("m.core --inputs in.npz --format=json --full");
    let value: Value = serde_json::from_str(&full).unwrap();
    assert_eq!(value["outputs"][0]["data"].as_array().unwrap().len(), 4096);
}

const SYMBOLIC: &str = "\
%0 = Input {name=x} : tensor<f32[B, 4]>
%1 = Input {name=w, role=param} : tensor<f32[4]>
%2 = Add (%0, %1)
outputs: %2, %0
";

#[test]
fn random_arrays_are_reproducible_and_as_documented() {
    let mut host = MemoryHost::with(SYMBOLIC);
    let text = host.output("m.core --random 7 --dim B=5");
    assert!(text.starts_with("%2: f32[5, 4] "));
    assert_eq!(text, host.output("m.core --random 7 --dim B=5"));
    assert_ne!(text, host.output("m.core --random 8 --dim B=5"));
    let chosen = "note: `--random` chose B=3; `--dim B=4` sets another extent\n";
    assert_eq!(host.run("m.core --random 7"), 0);
    assert_eq!(host.error(), chosen);
    let text = String::from_utf8(std::mem::take(&mut host.stdout)).unwrap();
    assert!(text.starts_with("%2: f32[3, 4] "), "{text}");
    host.stderr.clear();
    host.output("m.core --random 7 --dim B=5 --outputs out.npz");
    let session = mind_driver::session::Session::default();
    let loaded =
        mind_driver::load::load_module(&session.formats, "m", SYMBOLIC.into(), &Default::default());
    let g = loaded
        .map_err(|rejected| rejected.diagnostics)
        .unwrap()
        .graph;
    let extents = Extents::given(&g, [("B", 5)]).unwrap();
    let arrays = random_inputs(&g, 7, extents).unwrap();
    assert!(arrays["x"].same_bits(&host.arrays("out.npz")["out1"]));
}

#[test]
fn random_fills_only_what_the_archive_lacks() {
    let x = Tensor::of(vec![2, 4], vec![0f32; 8]);
    let mut host = MemoryHost::with(SYMBOLIC).and_arrays([("x", &x)]);
    let text = host.output("m.core --inputs in.npz --random 7");
    assert!(text.starts_with("%2: f32[2, 4] "), "{text}");
    assert!(
        text.contains("%0: f32[2, 4] fnv1a:0c8210784d8af5a5\n[[0.0, 0.0, 0.0, 0.0],"),
        "{text}"
    );
}

#[test]
fn bf16_comes_and_goes_as_uint16() {
    let bits = Tensor::of(vec![2], vec![0x3fc0u16, 0xc000]);
    let module = "%0 = Input {name=x} : tensor<bf16[2]>\n%1 = Relu (%0)\noutputs: %1\n";
    let mut host = MemoryHost::with(module).and_arrays([("x", &bits)]);
    let text = host.output("m.core --inputs in.npz");
    assert!(
        text.starts_with("%1: bf16[2] ") && text.ends_with("\n[1.5, 0.0]\n"),
        "{text}"
    );
    host.output("m.core --inputs in.npz --outputs out.npz");
    assert_eq!(
        host.arrays("out.npz")["out0"].elements::<u16>(),
        [0x3fc0, 0]
    );
}
