#![no_main]

use mind_driver::session::PASSES;
use mind_pass::parse_pipeline;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(pipeline) = parse_pipeline(text, &PASSES) {
        let again = parse_pipeline(&pipeline.text(), &PASSES).ok().expect("printed text parses");
        assert_eq!(again.text(), pipeline.text());
    }
});
