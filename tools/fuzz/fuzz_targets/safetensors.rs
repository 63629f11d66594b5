#![no_main]

mod weight_file;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    weight_file::check(data);
    let start: &[u8] = &(data.len() as u64).to_le_bytes();
    weight_file::check(&[start, data].concat());
});
