#![no_main]

mod round_trip;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    round_trip::check(mind_text::Format::Mil, data);
    round_trip::check(mind_text::Format::MilPrimer, data);
});
