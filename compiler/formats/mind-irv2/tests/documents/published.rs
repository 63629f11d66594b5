//! Published configurations, and the keys of the configuration classes of `transformers`.

use mind_irv2::{Families, Family, hf, write};
use mind_json::{Limits, Value};

use crate::round_trip::read_silently;

/// Returns the name of each model, its configuration, and the expected refusal, if any.
fn models() -> Vec<(String, String, Option<String>)> {
    let text = include_str!("published.jsonl");
    let model = |line: &str| {
        let root = mind_json::parse(line, &Limits::default()).expect("JSON");
        let text = |key: &str| root.get(key).and_then(Value::text).map(str::to_owned);
        let config = root.get("config").expect("a configuration").print();
        (text("name").expect("a name"), config, text("expect"))
    };
    text.lines().map(model).collect()
}

fn refusal(config: &str) -> Option<String> {
    let read = hf::document(Some(config), &[], Families::default());
    let found = read.err()?;
    let messages: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
    Some(messages.join("; "))
}

#[test]
fn published_models_are_read_or_refused_by_a_listed_reason() {
    let models = models();
    assert!(models.len() >= 80, "{} models", models.len());
    for (name, config, expected) in &models {
        match (refusal(config), expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => assert!(found.contains(expected), "{name}: {found}"),
            (found, expected) => panic!("{name}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn published_models_cover_the_families_and_become_documents() {
    let mut seen = Vec::new();
    for (name, config, expected) in models() {
        if expected.is_some() {
            continue;
        }
        let read = hf::document(Some(&config), &[], Families::default());
        let (document, _) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
        seen.push(document.config.family.name());
        assert!(read_silently(&write(&document)) == document, "{name}");
        let unread: Vec<&str> = document.config.unread_weights().collect();
        assert!(unread.is_empty(), "{name}: {unread:?}");
    }
    for family in Family::shipped() {
        assert!(seen.contains(&family.name()), "{}", family.name());
    }
}

fn windows(name: &str) -> (usize, Vec<bool>) {
    let models = models();
    let (_, config, _) = models
        .iter()
        .find(|(own, ..)| own == name)
        .expect("a model");
    let (document, _) = hf::document(Some(config), &[], Families::default()).expect("a document");
    let config = document.config;
    let width = config.attributes.get(mind_irv2::Attribute::SlidingWindow) as usize;
    let layers = (0..config.num_layers).map(|layer| config.sliding_layers.has(layer));
    (width, layers.collect())
}

#[test]
fn layer_types_of_mistral_say_which_layers_have_a_window() {
    let types = |types: &str, window: &str| {
        let text = format!(
            r#"{{"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 48,
               "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "vocab_size": 64,
               "max_position_embeddings": 512, "sliding_window": {window}, "layer_types": {types}}}"#
        );
        let (document, _) = hf::document(Some(&text), &[], Families::default()).expect("a model");
        let config = document.config;
        [0, 1].map(|layer| config.sliding_layers.has(layer))
    };
    let full = r#"["full_attention", "full_attention"]"#;
    assert_eq!(types(full, "16"), [false, false]);
    assert_eq!(
        types(r#"["full_attention", "sliding_attention"]"#, "16"),
        [false, true]
    );
    assert_eq!(types("null", "16"), [true, true]);
    assert_eq!(types("null", "null"), [false, false]);
    // The window of this model is as large as its context, so no layer has one.
    assert_eq!(windows("mistralai/Ministral-8B-Instruct-2410").0, 0);
    let (width, layers) = windows("google/gemma-3-270m-it");
    assert_eq!((width, layers[4], layers[5]), (512, true, false));
}

/// Returns a configuration with only the keys of the published description.
fn six_keys(more: &str) -> String {
    format!(
        r#"{{"hidden_size": 896, "vocab_size": 151936, "num_attention_heads": 14, "num_key_value_heads": 2,
           "intermediate_size": 4864, "num_hidden_layers": 24{more}}}"#
    )
}

#[test]
fn the_six_keys_of_the_description_are_a_model() {
    let (document, found) =
        hf::document(Some(&six_keys("")), &[], Families::default()).expect("a model");
    let config = document.config;
    assert_eq!(
        (config.family.name(), config.context_window),
        ("llama", 2048)
    );
    let messages: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
    let expected =
        "`model_type` is missing: the model is read as llama, with a context of 2048 tokens";
    assert_eq!(messages, [expected]);
    for more in [
        r#", "modle_type": "gemma2""#,
        r#", "architectures": ["Gemma2ForCausalLM"]"#,
    ] {
        let found = refusal(&six_keys(more)).expect("a refusal");
        assert!(found.contains("`model_type` is missing"), "{found}");
    }
}

#[test]
fn experts_of_which_no_layer_has_any_are_none() {
    let text = r#"{"model_type": "qwen3_moe", "num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 48,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "vocab_size": 64,
        "max_position_embeddings": 64, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
        "mlp_only_layers": [0, 1]}"#;
    let (document, _) = hf::document(Some(text), &[], Families::default()).expect("a model");
    assert!(document.config.experts.is_none());
    assert!(read_silently(&write(&document)) == document);
}

/// The keys are recorded by `lit_tests/tests/transformers_keys.py`, see docs/testing.md.
#[test]
fn every_key_of_the_reference_is_known() {
    let mut unknown = Vec::new();
    let mut count = 0;
    for line in include_str!("reference_keys.txt").lines() {
        let (family, keys) = line.split_once(": ").expect("a family and its keys");
        let family = Family::named(family).expect("a family");
        for key in keys.split(' ') {
            count += 1;
            if !hf::knows_key(family, key) {
                unknown.push(format!("{}: {key}", family.name()));
            }
        }
    }
    assert!(count > 700, "{count} keys");
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}
