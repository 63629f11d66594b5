#![no_main]

mod mutated;

use mind_irv2::checkpoint::Source;
use mind_irv2::{Families, ReadOptions, hf, read, write};
use mind_weights::WeightFile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = mutated::config(data);
    if let Ok((document, _)) = hf::document(Some(&text), &[], Families::default()) {
        read(&write(&document), &ReadOptions::default()).expect("a written document is read");
    }
    let bytes = mutated::header(data);
    let file = WeightFile::parse(&bytes).expect("a header of any keys is well-formed");
    let source = Source { name: "file".to_owned(), file };
    match hf::document(None, &[source], Families::default()) {
        Ok((document, _)) => {
            read(&write(&document), &ReadOptions::default()).expect("a written document is read");
        }
        Err(found) => assert!(found.has_errors()),
    }
});
