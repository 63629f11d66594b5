//! Encoders against a reference written from the formulas, in every engine, as documents, as files and as C.

use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::graph::document::{self, Padding};
use mind_irv2::{Config, Document, ReadOptions, hf};
use mind_model::c::{Tensors as Stored, c_program};
use mind_model::{
    CheckpointWeights, Encoded, Encoder, Model, ModelError, Pooling, Runner, Session,
};
use mind_weights::{WeightFile, WeightType};

use crate::document::{arrays, outputs, read_back};
use crate::random::{Tensors, family, jit, llama, model, tokens};
use crate::writers::{Tensor, safetensors};
use crate::{c, described, encoder_reference as reference, table};

/// Configuration keys of a tiny model of each family, besides its sizes.
const ENCODERS: [(&str, &str); 6] = [
    ("bert", r#""type_vocab_size": 3"#),
    ("roberta", r#""type_vocab_size": 1"#),
    ("distilbert", r#""hidden_dim": 42"#),
    (
        "modernbert",
        r#""local_attention": 6, "global_attn_every_n_layers": 2, "global_rope_theta": 1000.0, "local_rope_theta": 100.0"#,
    ),
    // Every layer but the first has a window, and every optional bias is present.
    (
        "modernbert",
        r#""local_attention": 7, "norm_bias": true, "attention_bias": true, "mlp_bias": true, "hidden_activation": "silu""#,
    ),
    ("nomic_bert", r#""type_vocab_size": 3"#),
];

/// Numbers of tokens: one, a few, one less than a full pass, and more than one pass.
const LENGTHS: [usize; 4] = [1, 17, 255, 300];

fn text(name: &str, more: &str) -> String {
    format!(
        r#"{{"model_type": "{name}", "num_hidden_layers": 3, "hidden_size": 24, "intermediate_size": 42,
            "num_attention_heads": 6, "vocab_size": 37, "max_position_embeddings": 400, {more}}}"#
    )
}

fn config(name: &str, more: &str) -> Config {
    let read = hf::document(Some(&text(name, more)), &[], described::families(name));
    let (document, found) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert!(found.is_empty(), "{name}: {found:?}");
    document.config
}

fn encoder(config: Config, tensors: &Tensors, runner: Runner) -> Encoder<'static> {
    Encoder::new(model(config, tensors, runner)).unwrap_or_else(|why| panic!("{why}"))
}

fn bits(encoded: &Encoded) -> Vec<u32> {
    let pooled = encoded.pooled.iter().flatten();
    let all = encoded.hidden.iter().chain(pooled);
    all.map(|x| x.to_bits()).collect()
}

/// Returns the largest absolute error, relative to the largest expected number.
fn distance(found: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let most = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let pairs = found.iter().zip(expected);
    let far = pairs.map(|(&x, y)| (f64::from(x) - y).abs() / most);
    far.fold(0.0, f64::max)
}

/// Returns the largest error of any vector.
fn error(config: Config, tensors: &Tensors) -> f64 {
    let encoder = encoder(config, tensors, jit(1));
    let mut worst = 0.0f64;
    for count in LENGTHS {
        let tokens = tokens(&config, count);
        let found = encoder.run(&tokens, &[]).unwrap();
        let expected = reference::hidden(&config, tensors, &tokens);
        for (found, expected) in found.hidden.chunks(config.hidden_size).zip(&expected) {
            worst = worst.max(distance(found, expected));
        }
        assert_eq!(found.hidden.len(), count * config.hidden_size);
        if config.has_bias("pooler_weight") {
            let pooled = found.pooled.expect("a pooler");
            worst = worst.max(distance(&pooled, &reference::pooled(tensors, &expected)));
        } else {
            assert_eq!(found.pooled, None);
        }
    }
    worst
}

#[test]
fn every_encoder_computes_what_its_formulas_say() {
    let mut table = "| family | fp32 | fp16 | bf16 |\n|---|---|---|---|\n".to_owned();
    for (at, (name, more)) in ENCODERS.into_iter().enumerate() {
        let config = config(name, more);
        let variant = if at == 4 { ", biases" } else { "" };
        table += &format!("| {name}{variant} |");
        for stored in [WeightType::F32, WeightType::F16, WeightType::Bf16] {
            let error = error(config, &Tensors::random(&config, stored, 11));
            assert!(error < 1e-5, "{name} in {stored}: {error}");
            table += &format!(" {error:.0e} |");
        }
        table += "\n";
    }
    table::check("encoders", &table);
}

#[test]
fn threads_and_engines_change_no_bit_of_an_encoder() {
    for (name, more) in ENCODERS {
        let config = config(name, more);
        let tensors = Tensors::random(&config, WeightType::Bf16, 12);
        let runners = [jit(1), jit(2), Runner::Interpreter];
        let [one, two, interpreted] = runners.map(|runner| encoder(config, &tensors, runner));
        for count in LENGTHS {
            let tokens = tokens(&config, count);
            let run = |own: &Encoder<'_>| bits(&own.run(&tokens, &[]).unwrap());
            assert_eq!(run(&one), run(&two), "{name} {count}");
            assert_eq!(run(&one), run(&interpreted), "{name} {count}");
        }
    }
}

#[test]
fn a_document_of_every_encoder_gives_the_vectors_of_its_model() {
    for (name, more) in ENCODERS {
        let config = config(name, more);
        let tensors = Tensors::random(&config, WeightType::F32, 13);
        let families = described::families(name);
        let again = read_back(config, WeightType::F32, families, name);
        let encoder = encoder(config, &tensors, jit(1));
        for count in [1, 17] {
            let tokens = tokens(&config, count);
            let expected = bits(&encoder.run(&tokens, &[]).unwrap());
            // Padding that is cut off may have any value.
            for (padding, filled) in [(Padding::Stripped, 9.0), (Padding::Kept, 0.0)] {
                let g = document::model(&again, padding).expect("a module");
                let found = outputs(&g, arrays(&config, &tensors, filled), &config, &tokens);
                let found: Vec<u32> = found.concat().iter().map(|x| x.to_bits()).collect();
                assert_eq!(found, expected, "{name} {count} {padding:?}");
            }
        }
    }
}

/// Fused tensors of ModernBERT's checkpoints.
const FUSED: [(&str, &[&str]); 4] = [
    ("w_qkv", &["wq", "wk", "wv"]),
    ("b_qkv", &["bq", "bk", "bv"]),
    ("w_gate_up", &["w_gate", "w_up"]),
    ("b_gate_up", &["b_gate", "b_up"]),
];

/// Returns a file with these weights, renamed by `called`.
fn file(config: &Config, tensors: &Tensors, called: &dyn Fn(String) -> String) -> Vec<u8> {
    let mut all = Vec::new();
    for ((part, layer), own) in &tensors.tensors {
        let name = |part: &str| config.family.tensor_name(part, *layer);
        if let Some(name) = name(part) {
            all.push(Tensor::f32(&called(name), &own.shape, &own.elements));
            continue;
        }
        let (fused, parts) = FUSED
            .iter()
            .find(|(_, parts)| parts.contains(&part.as_str()))
            .expect("a tensor that holds it");
        if parts[0] == part {
            let elements = parts.iter().map(|part| tensors.get(part, *layer));
            let elements = elements.collect::<Vec<_>>().concat();
            let mut shape = own.shape.clone();
            shape[0] = elements.len() / shape[1..].iter().product::<usize>();
            let name = called(name(fused).expect("a name"));
            all.push(Tensor::f32(&name, &shape, &elements));
        }
    }
    safetensors(&all)
}

/// Returns the document and the hidden states of a file.
fn of_file(
    (name, more): (&str, &str),
    bytes: &[u8],
    check: impl FnOnce(&Config, Checkpoint<'_>),
) -> Document {
    let sources = [Source {
        name: "model.safetensors".to_owned(),
        file: WeightFile::parse(bytes).unwrap(),
    }];
    let read = hf::document(Some(&text(name, more)), &sources, described::families(name));
    let (document, found) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert!(found.is_empty(), "{name}: {found:?}");
    let checkpoint = Checkpoint::new(&document.config, &sources);
    let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    check(&document.config, checkpoint);
    document
}

#[test]
fn files_are_read_with_and_without_the_prefix_and_with_old_names() {
    for (name, more) in ENCODERS {
        let config = config(name, more);
        let tensors = Tensors::random(&config, WeightType::F32, 14);
        let tokens = tokens(&config, 17);
        let expected = encoder(config, &tensors, jit(1)).run(&tokens, &[]);
        let expected = bits(&expected.unwrap());
        let prefix = config
            .family
            .tensor_name("token_emb", None)
            .expect("a name");
        let prefix = prefix.split_once('.').expect("a prefix").0.to_owned() + ".";
        let short = |name: String| name.strip_prefix(&prefix).unwrap_or(&name).to_owned();
        let old = |name: String| {
            let gain = name.replace(".LayerNorm.weight", ".LayerNorm.gamma");
            gain.replace(".LayerNorm.bias", ".LayerNorm.beta")
        };
        let changes: [&dyn Fn(String) -> String; 3] = [&|name| name, &short, &old];
        for called in changes {
            let bytes = file(&config, &tensors, called);
            of_file((name, more), &bytes, |config, checkpoint| {
                let weights = Box::new(CheckpointWeights(checkpoint));
                let model = Model::new(*config, weights, jit(1)).expect("a model");
                let found = Encoder::new(Arc::new(model)).unwrap().run(&tokens, &[]);
                assert_eq!(bits(&found.unwrap()), expected, "{name}");
            });
        }
    }
}

#[test]
fn a_checkpoint_says_whether_there_is_a_pooler() {
    let (name, more) = ENCODERS[0];
    let config = config(name, more);
    let mut tensors = Tensors::random(&config, WeightType::F32, 15);
    assert!(config.has_bias("pooler_weight"));
    for part in ["pooler_weight", "pooler_bias"] {
        tensors = tensors.without(part, None);
    }
    let bytes = file(&config, &tensors, &|name| name);
    let document = of_file((name, more), &bytes, |config, checkpoint| {
        assert!(!config.has_bias("pooler_weight"));
        let weights = Box::new(CheckpointWeights(checkpoint));
        let model = Model::new(*config, weights, jit(1)).expect("a model");
        let found = Encoder::new(Arc::new(model)).unwrap().run(&[1, 2], &[]);
        assert_eq!(found.unwrap().pooled, None);
    });
    let written = mind_irv2::write(&document);
    assert!(!written.contains("\"op\": \"pooler\""));
    let (again, _) = mind_irv2::read(&written, &ReadOptions::default()).unwrap();
    assert!(again == document);
}

#[test]
fn kinds_of_tokens_have_a_table() {
    let (name, more) = ENCODERS[0];
    let config = config(name, more);
    let tensors = Tensors::random(&config, WeightType::F32, 16);
    let encoder = encoder(config, &tensors, jit(1));
    let plain = encoder.run(&[5, 6, 7], &[]).unwrap();
    let first = encoder.run(&[5, 6, 7], &[0, 0, 0]).unwrap();
    let second = encoder.run(&[5, 6, 7], &[0, 2, 2]).unwrap();
    assert_eq!(plain, first);
    assert!(plain != second);
    let refused = |tokens: &[u32], kinds: &[u32]| {
        let found = encoder.run(tokens, kinds);
        found.unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[5, 6], &[0, 3]),
        "unknown token type 3: expected a number below 3"
    );
    assert_eq!(
        refused(&[5, 6], &[0]),
        "found 1 token types for 2 tokens, expected one per token"
    );
}

#[test]
fn what_an_encoder_refuses() {
    let (name, more) = ENCODERS[0];
    let config = config(name, more);
    let tensors = Tensors::random(&config, WeightType::F32, 17);
    let model = model(config, &tensors, jit(1));
    let encoder = Encoder::new(model.clone()).unwrap();
    let refused = |tokens: &[u32]| encoder.run(tokens, &[]).unwrap_err().to_string();
    assert_eq!(refused(&[]), "no tokens: expected at least one");
    assert_eq!(
        refused(&[1, 37]),
        "token 37 is outside of the vocabulary, which ends at 36"
    );
    assert_eq!(
        refused(&[1; 401]),
        "401 tokens exceed the model's context of 400"
    );
    let session = Session::new(model, 8).err().map(|why| why.to_string());
    let expected = "models of bert are encoders, which do not generate tokens";
    assert_eq!(session.as_deref(), Some(expected));
    let decoder = Config::new(llama()).unwrap();
    let decoder = crate::random::model(
        decoder,
        &Tensors::random(&decoder, WeightType::F32, 3),
        jit(1),
    );
    let refused = Encoder::new(decoder).err();
    assert!(matches!(
        refused,
        Some(ModelError::Decoder { family: "llama" })
    ));
    assert!(family("bert").is_encoder());
}

#[test]
fn an_encoder_as_c_gives_the_same_bits() {
    // All embedding tables and a pooler; rotations, windows and a final normalisation; rotations and gates without
    // either.
    for (name, more) in [ENCODERS[1], ENCODERS[4], ENCODERS[5]] {
        let config = config(name, more);
        let tensors = Tensors::random(&config, WeightType::F32, 18);
        let bytes = file(&config, &tensors, &|name| name);
        let tokens = tokens(&config, 300);
        of_file((name, more), &bytes, |config, checkpoint| {
            let stored = Stored::new(config, &checkpoint, &[&bytes]).expect("weights of the file");
            let program = c_program(config, &stored, 300, &Default::default()).expect("a program");
            let weights = Box::new(CheckpointWeights(checkpoint));
            let model = Model::new(*config, weights, jit(1)).expect("a model");
            let encoder = Encoder::new(Arc::new(model)).expect("an encoder");
            let built = c::Built::new(name, &program, &bytes);
            let list = |tokens: &[u32]| {
                let words: Vec<String> = tokens.iter().map(u32::to_string).collect();
                words.join(",")
            };
            for count in LENGTHS {
                let expected = encoder.run(&tokens[..count], &[]).unwrap();
                let [hidden, pooled] = ["hidden", "pooled"].map(|name| built.folder.join(name));
                let mut words = vec![
                    list(&tokens[..count]),
                    built.weights.display().to_string(),
                    format!("--hidden={}", hidden.display()),
                ];
                if expected.pooled.is_some() {
                    words.push(format!("--pooled={}", pooled.display()));
                }
                let printed = built.run(&words);
                let mean = Pooling::Mean.apply(&expected, config.hidden_size);
                let printed: Vec<f32> = printed
                    .trim_end()
                    .split(',')
                    .map(|x| x.parse().unwrap())
                    .collect();
                assert_eq!(Some(printed), mean, "{name} {count}");
                let mut found = std::fs::read(&hidden).expect("vectors");
                if expected.pooled.is_some() {
                    found.extend(std::fs::read(&pooled).expect("a vector"));
                }
                let all = bits(&expected).into_iter();
                let all: Vec<u8> = all.flat_map(u32::to_le_bytes).collect();
                assert!(found == all, "{name} {count}: vectors differ");
            }
            let outside = list(&[1, config.vocab_size as u32]);
            assert_eq!(built.status(&[&outside, "--seed=4"]), Some(1));
            assert_eq!(built.status(&["", "--seed=4"]), Some(1));
            assert_eq!(built.status(&["1,2", "--seed=4"]), Some(0));
        });
    }
}
