#![no_main]

//! Any StableHLO text gives errors, or a module that verifies.

use mind_ir::verify::{VerifyConfig, verify};
use mind_stablehlo::{ImportOptions, read};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(mut graph) = read(text, &ImportOptions::default()) else {
        return;
    };
    let found = verify(&mut graph, &VerifyConfig::default());
    assert!(!found.has_errors(), "a text that is read is a module");
});
