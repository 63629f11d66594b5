#![no_main]

mod weight_file;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    weight_file::check(data);
    let start: &[u8] = b"GGUF\x03\0\0\0";
    weight_file::check(&[start, data].concat());
});
