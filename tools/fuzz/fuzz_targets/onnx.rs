#![no_main]

//! Any model bytes give errors, or a module that verifies.

use mind_ir::verify::{VerifyConfig, verify};
use mind_onnx::{Bytes, Files, ImportOptions, files, read};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // All external files of the model have the same bytes as the model.
    let beside = files(data).into_iter();
    let beside: Files = beside
        .map(|name| (name, Ok(Bytes::copy_from_slice(data))))
        .collect();
    let options = ImportOptions {
        files: beside,
        ..ImportOptions::default()
    };
    let Ok(mut graph) = read(Bytes::copy_from_slice(data), &options) else {
        return;
    };
    let found = verify(&mut graph, &VerifyConfig::default());
    assert!(!found.has_errors(), "a model that is read is a module");
});
