//! Blocks of every quantised format must decode to the same bits as in the Python package `gguf`.
//!
//! `blocks.txt` is written by the judge in `lit_tests/tests/gguf_judge.rs`.

use std::collections::BTreeSet;

use mind_weights::{WeightType, decode_blocks};

fn words(line: &str) -> impl Iterator<Item = u32> {
    let word = |word: &str| u32::from_str_radix(word, 16).expect("hexadecimal digits");
    line.split_whitespace().map(word)
}

#[test]
fn blocks_decode_to_the_bits_of_the_reference() {
    let mut seen = BTreeSet::new();
    for entry in include_str!("blocks.txt").split("\n\n") {
        let mut lines = entry.trim().lines();
        let weight_type = lines.next().and_then(WeightType::parse);
        let weight_type = weight_type.expect("a type");
        let block: Vec<u8> = words(lines.next().expect("a block"))
            .map(|byte| byte as u8)
            .collect();
        let expected: Vec<u32> = lines.flat_map(words).collect();
        let mut numbers = vec![f32::NAN; weight_type.block_elements()];
        decode_blocks(weight_type, &block, &mut numbers).expect("a whole block");
        let found: Vec<u32> = numbers.iter().map(|number| number.to_bits()).collect();
        assert_eq!(found, expected, "{weight_type}");
        seen.insert(weight_type);
    }
    let quantised = WeightType::all().filter(|own| own.block_elements() > 1);
    assert!(quantised.eq(seen), "a type has no block");
}
