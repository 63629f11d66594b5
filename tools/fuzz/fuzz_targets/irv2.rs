#![no_main]

use mind_irv2::{Families, ReadOptions, hf, read, write};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for allow_unknown in [false, true] {
        let options = ReadOptions { allow_unknown, ..ReadOptions::default() };
        match read(text, &options) {
            Err(found) => assert!(found.has_errors()),
            Ok((document, _)) => {
                let printed = write(&document);
                let (again, _) = read(&printed, &options).expect("a written document is read");
                assert_eq!(write(&again), printed);
            }
        }
    }
    if let Ok((document, _)) = hf::document(Some(text), &[], Families::default()) {
        read(&write(&document), &ReadOptions::default()).expect("a written document is read");
    }
});
