//! Corrupted documents and checkpoints are rejected with a location, or remain valid.

use std::path::Path;

use mind_ir::random::Rng;
use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Families, ReadOptions, hf, read, write};
use mind_weights::WeightFile;

use crate::models::{config, config_json, document, family, parameters, tensors};
use crate::mutated;
use crate::writers::{corrupt, safetensors};

/// Words of documents that are exchanged for each other.
const WORDS: [&str; 24] = [
    "\"wq\"",
    "\"wk\"",
    "\"input\"",
    "\"output\"",
    "\"q\"",
    "\"k\"",
    "\"layer\"",
    "\"global\"",
    "\"weight\"",
    "\"grad\"",
    "\"rmsnorm\"",
    "\"rope\"",
    "\"token_emb\"",
    "\"lm_head_weight\"",
    "null",
    "0",
    "1",
    "-1",
    "2",
    "18446744073709551615",
    "1e999",
    "\"bf16\"",
    "true",
    "[]",
];

/// Returns a document with words exchanged, lines removed, doubled or moved, or bytes changed.
pub fn variant(text: &str, random: &mut Rng) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let line = |random: &mut Rng| random.below(lines.len());
    match random.below(6) {
        0 | 1 => {
            let word = WORDS[random.below(WORDS.len())];
            let places: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
            let other = WORDS[random.below(WORDS.len())];
            if places.is_empty() {
                text.replacen("null", other, 1)
            } else {
                let at = places[random.below(places.len())];
                format!("{}{other}{}", &text[..at], &text[at + word.len()..])
            }
        }
        2 => {
            let lost = line(random);
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != lost);
            kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
        }
        3 => {
            let (one, two) = (line(random), line(random));
            let mut lines = lines.clone();
            lines.swap(one, two);
            lines.join("\n")
        }
        4 => {
            let twice = line(random);
            let mut lines = lines.clone();
            lines.insert(twice, lines[twice]);
            lines.join("\n")
        }
        _ => String::from_utf8_lossy(&corrupt(text.as_bytes(), random)).into_owned(),
    }
}

/// Checks that docs/models.md records how many corrupted files of a kind are rejected.
pub fn documented(what: &str, refused: usize) {
    let row = format!("| {what} | 1000 | {refused} | {} |\n", 1000 - refused);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/models.md");
    let docs = std::fs::read_to_string(docs).expect("docs/models.md");
    assert!(
        docs.contains(&row),
        "docs/models.md has another row than\n{row}"
    );
}

#[test]
fn corrupted_documents() {
    let own = document(parameters(family("qwen3")));
    let text = write(&own);
    let mut random = Rng::new(21);
    let (mut refused, mut same, mut other) = (0, 0, 0);
    for _ in 0..1000 {
        let variant = variant(&text, &mut random);
        match read(&variant, &ReadOptions::default()) {
            Err(found) => {
                let first = found.first_error().expect("a reason");
                assert!(first.code.is_some(), "{first:?}");
                refused += 1;
            }
            Ok((read_back, _)) => {
                // An accepted variant is a valid model, which can be written and read again.
                let written = write(&read_back);
                let (again, _) = read(&written, &ReadOptions::default()).unwrap();
                assert_eq!(write(&again), written);
                if read_back.config == own.config {
                    same += 1
                } else {
                    other += 1
                }
            }
        }
    }
    assert_eq!(refused + same + other, 1000);
    documented("IR v2", refused);
}

#[test]
fn corrupted_configurations() {
    let text = config_json(
        family("llama"),
        r#", "rope_scaling": null, "tie_word_embeddings": false"#,
    );
    let mut random = Rng::new(22);
    let outcome = |variant: &str| hf::document(Some(variant), &[], Families::default()).is_err();
    let refused = (0..1000).filter(|_| {
        let bytes = corrupt(text.as_bytes(), &mut random);
        outcome(&String::from_utf8_lossy(&bytes))
    });
    let refused = refused.count();
    documented("`config.json`", refused);
}

#[test]
fn corrupted_checkpoints() {
    let config = config(family("qwen2"));
    let file = safetensors(&tensors(&config, 23));
    let mut random = Rng::new(23);
    let refused = (0..1000).filter(|_| {
        let bytes = corrupt(&file, &mut random);
        let Ok(file) = WeightFile::parse(&bytes) else {
            return true;
        };
        let source = Source {
            name: "m.safetensors".to_owned(),
            file,
        };
        Checkpoint::new(&config, &[source]).is_err()
    });
    let refused = refused.count();
    documented("safetensors beside a configuration", refused);
}

/// The fuzz target `config` on random bytes.
#[test]
fn configurations_and_headers_of_known_keys_with_any_values() {
    let mut random = Rng::new(24);
    let (mut read_back, mut refused) = (0, 0);
    for _ in 0..2000 {
        let data: Vec<u8> = (0..24).map(|_| random.bits() as u8).collect();
        let text = mutated::config(&data);
        let header = mutated::header(&data);
        let file = WeightFile::parse(&header).expect("a header of any keys is well-formed");
        let source = Source {
            name: "m.gguf".to_owned(),
            file,
        };
        // A header without tensors is always rejected.
        let found = hf::document(None, &[source], Families::default()).unwrap_err();
        assert!(found.first_error().is_some_and(|own| own.code.is_some()));
        match hf::document(Some(&text), &[], Families::default()) {
            Ok((document, _)) => {
                let written = write(&document);
                let (again, _) =
                    read(&written, &ReadOptions::default()).expect("a written document");
                assert_eq!(write(&again), written, "{text}");
                read_back += 1;
            }
            Err(found) => {
                assert!(
                    found.first_error().is_some_and(|own| own.code.is_some()),
                    "{text}"
                );
                refused += 1;
            }
        }
    }
    assert!(
        read_back > 100 && refused > 100,
        "{read_back} read, {refused} refused"
    );
}
