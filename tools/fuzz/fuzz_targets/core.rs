#![no_main]

mod round_trip;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    round_trip::check(mind_driver::formats::Format::Core, data);
});
