#![no_main]

//! Any package bytes give errors, or a program whose own package round-trips.

mod round_trip;

use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Element;
use mind_coreml::mil::{self, Spelling};
use mind_coreml::blob;
use mind_coreml::package::{package, read};
use mind_text::Limits;
use mind_driver::formats::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = read::model_path(data);
    let _ = blob::read(data, 64, Element::Fp16, data.len() as u64);
    let program = |model: &[u8]| read::program("fuzz", model, &Limits::default()).1;
    let Ok(mut graph) = program(data) else { return };
    if verify(&mut graph, &VerifyConfig::default()).has_errors() {
        return;
    }
    let text = mil::print(&graph, Spelling::Compiler).expect("a program prints");
    round_trip::check(Format::Mil, text.as_bytes());
    mind_mil::names::assign_names(&mut graph);
    let Ok(own) = package(&graph) else { return };
    let mut back = program(&own.model).expect("a package of ours holds a program");
    assert!(!verify(&mut back, &VerifyConfig::default()).has_errors());
});
