#![no_main]

//! Any text of StableHLO ends in errors, or in a module that verifies.

use mind_ir::verify::{VerifyConfig, verify};
use mind_stablehlo::{ImportOptions, read};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(mut graph) = read(text, &ImportOptions::default()) else {
        return;
    };
    let found = verify(&mut graph, &VerifyConfig::default());
    assert!(!found.has_errors(), "a text that is read is a module");
});
