#![no_main]

//! Any bytes of a package end in errors, or in a program whose own package reads back as it is.

mod round_trip;

use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::Element;
use mind_coreml::package::{blob, package, read};
use mind_text::Limits;
use mind_driver::formats::Format;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = read::model_path(data);
    let _ = blob::read(data, 64, Element::Fp16, data.len() as u64);
    let Ok(text) = read::text(data) else { return };
    round_trip::check(Format::Mil, text.as_bytes());
    let Ok(mut graph) = round_trip::FORMATS.parse(Format::Mil, &text, 0, &Limits::default()) else { return };
    if verify(&mut graph, &VerifyConfig::default()).has_errors() {
        return;
    }
    mind_mil::names::settle(&mut graph);
    let Ok(own) = package(&graph) else { return };
    let text = read::text(&own.model).expect("a package of ours is read");
    round_trip::FORMATS.parse(Format::Mil, &text, 0, &Limits::default()).expect("a package of ours holds a program");
});
