//! Exported ONNX models compute identical results when read back, and are accepted by third-party engines.
//!
//! `MIND_ONNX` names a Python with the packages onnx and onnxruntime. Without it the judges are reported as not run;
//! `MIND_ONNX_REQUIRED=1` makes that a failure. `not_passed.txt` lists the models that a judge rejects or computes
//! differently, with the reason; see docs/testing.md.

mod judge;
mod round_trip;
mod sources;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_ONNX").ok();
    let required = std::env::var("MIND_ONNX_REQUIRED").is_ok_and(|value| value == "1");
    let name = "models_before_judges";
    let judged = match python {
        Some(python) => Trial::test(name, move || judge::check(&python).map_err(Failed::from)),
        None if required => Trial::test(name, || {
            Err(Failed::from(
                "`MIND_ONNX` names no Python with onnx and onnxruntime",
            ))
        }),
        None => Trial::test(format!("{name} (not run: MIND_ONNX is not set)"), || Ok(()))
            .with_ignored_flag(true),
    };
    let came_back = Trial::test("models_come_back_with_the_same_bits", || {
        round_trip::check().map_err(Failed::from)
    });
    libtest_mimic::run(&arguments, vec![came_back, judged]).exit();
}
