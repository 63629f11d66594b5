//! Corrupted tokenizers: each is rejected, or tokenizes and decodes texts, without a panic.

use std::path::Path;

use mind_ir::random::Rng;
use mind_model::Text;

use crate::writers::corrupt;

/// A tokenizer with every component that occurs in files of models.
const WHOLE: &str = r#"{"version": "1.0", "truncation": null,
 "padding": {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": 8, "pad_id": 0, "pad_type_id": 0,
  "pad_token": "<s>"},
 "added_tokens": [{"id": 6, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
  "normalized": false, "special": true}],
 "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"},
  {"type": "Replace", "pattern": {"String": " "}, "content": "_"}, {"type": "Prepend", "prepend": "_"}]},
 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
  {"type": "Split", "pattern": {"Regex": "[a-z]+|\\\\s"}, "behavior": "Isolated", "invert": false},
  {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
 "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
  {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
  "special_tokens": {"<s>": {"id": "<s>", "ids": [6], "tokens": ["<s>"]}}},
 "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"},
  {"type": "Strip", "content": "_", "start": 1, "stop": 0},
  {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
 "model": {"type": "BPE", "dropout": null, "unk_token": "a", "continuing_subword_prefix": null,
  "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": false, "ignore_merges": false,
  "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "_": 5}, "merges": [["a", "b"], ["ab", "c"]]}}"#;

/// Words that replace each other.
const WORDS: [&str; 16] = [
    "null",
    "true",
    "0",
    "-1",
    "18446744073709551615",
    "1e300",
    "{}",
    "[]",
    "\"\"",
    "\"a\"",
    "\"BPE\"",
    "\"Sequence\"",
    "\"type\"",
    "\"vocab\"",
    "\"Metaspace\"",
    "\"Regex\"",
];

/// Returns the text with one word replaced by another, or with changed bytes.
fn variant(text: &str, random: &mut Rng) -> Vec<u8> {
    let word = WORDS[random.below(WORDS.len())];
    let places: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
    if random.below(2) == 0 || places.is_empty() {
        return corrupt(text.as_bytes(), random);
    }
    let at = places[random.below(places.len())];
    let other = WORDS[random.below(WORDS.len())];
    format!("{}{other}{}", &text[..at], &text[at + word.len()..]).into_bytes()
}

#[test]
fn corrupted_tokenizers() {
    let tiny = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../lit_tests/mind-run/inputs/tiny-qwen2/tokenizer.json"
    );
    let tiny = std::fs::read_to_string(Path::new(tiny)).expect("the tiny tokenizer");
    let mut random = Rng::new(51);
    let (mut refused, mut read) = (0, 0);
    for text in [WHOLE, &tiny] {
        let whole = Text::new(text.as_bytes()).expect("a tokenizer");
        assert!(!whole.encode("abc ab").expect("tokens").is_empty());
        for _ in 0..1000 {
            match Text::new(&variant(text, &mut random)) {
                Err(why) => {
                    assert!(why.to_string().starts_with("tokenizer.json: "), "{why}");
                    refused += 1;
                }
                Ok(own) => {
                    read += 1;
                    let Ok(tokens) = own.encode("abc ab\u{e9} tea") else {
                        continue;
                    };
                    // Tokens that cannot be decoded are an error, as are texts that cannot be encoded.
                    drop(own.decode(&tokens));
                    drop(own.decode(&[0, 5, u32::MAX]));
                }
            }
        }
    }
    assert!(
        refused > 100 && read > 100,
        "{refused} refused, {read} read"
    );
}
