//! Encoder-decoders against a reference written from the formulas, in every engine, in several passes, as documents, as
//! files and as C.

use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::graph::document::{self, Padding};
use mind_irv2::{Config, hf};
use mind_model::c::{Drawn, Tensors as Stored, c_program};
use mind_model::{CheckpointWeights, Encoder, Forced, Model, Runner, Session, Suppressed, largest};
use mind_weights::{WeightFile, WeightType};

use crate::document::{arrays, outputs, read, read_back};
use crate::random::{Tensors, family, jit, llama, model, tokens};
use crate::writers::{Tensor, safetensors};
use crate::{c, described, pair_reference as reference, table};

/// Configuration keys of a tiny model of each family, and its name in the table.
const PAIRS: [(&str, &str, &str); 5] = [
    (
        "t5",
        "t5",
        r#""d_model": 24, "d_kv": 6, "d_ff": 42, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 6,
           "vocab_size": 37, "relative_attention_num_buckets": 12, "relative_attention_max_distance": 40"#,
    ),
    (
        "t5",
        "t5, gated",
        r#""d_model": 24, "d_kv": 4, "d_ff": 42, "num_layers": 3, "num_heads": 6, "vocab_size": 37,
           "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false"#,
    ),
    (
        "bart",
        "bart",
        r#""d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 6,
           "encoder_ffn_dim": 42, "decoder_ffn_dim": 30, "vocab_size": 37, "max_position_embeddings": 300"#,
    ),
    (
        "mbart",
        "mbart",
        r#""d_model": 24, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 6, "decoder_attention_heads": 4,
           "encoder_ffn_dim": 30, "decoder_ffn_dim": 42, "vocab_size": 37, "max_position_embeddings": 300,
           "scale_embedding": true, "activation_function": "gelu_new""#,
    ),
    (
        "pegasus",
        "pegasus",
        r#""d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
           "encoder_ffn_dim": 42, "decoder_ffn_dim": 42, "vocab_size": 37, "max_position_embeddings": 300,
           "scale_embedding": true, "activation_function": "relu", "tie_word_embeddings": false"#,
    ),
];

/// Numbers of encoder tokens: one, a few, and more than one pass.
const LENGTHS: [usize; 3] = [1, 17, 300];

fn text(name: &str, more: &str) -> String {
    format!("{{\"model_type\": \"{name}\", {more}}}")
}

fn config(name: &str, more: &str) -> Config {
    let read = hf::document(Some(&text(name, more)), &[], described::families(name));
    let (document, found) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert!(found.is_empty(), "{name}: {found:?}");
    document.config
}

fn behind(model: &Arc<Model<'static>>, text: &[u32]) -> Session<'static> {
    let session = Session::behind(model.clone(), text, 64);
    session.unwrap_or_else(|why| panic!("{why}"))
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn every_pair_computes_what_its_formulas_say() {
    let mut table = "| family | fp32 | fp16 | bf16 |\n|---|---|---|---|\n".to_owned();
    for (name, called, more) in PAIRS {
        let config = config(name, more);
        table += &format!("| {called} |");
        for stored in [WeightType::F32, WeightType::F16, WeightType::Bf16] {
            let weights = Tensors::random(&config, stored, 51);
            let model = model(config, &weights, jit(1));
            let mut worst = 0.0f64;
            for count in LENGTHS {
                let (text, own) = (tokens(&config, count), tokens(&config, 40));
                let found = behind(&model, &text).prefill_all(&own).unwrap();
                let expected = reference::logits(&config, &weights, &text, &own);
                let most = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                assert_eq!(found.len(), expected.len());
                for (&found, expected) in found.iter().zip(&expected) {
                    worst = worst.max((f64::from(found) - expected).abs() / most);
                }
            }
            assert!(worst < 1e-5, "{called} in {stored}: {worst}");
            table += &format!(" {worst:.0e} |");
        }
        table += "\n";
    }
    table::check("pairs", &table);
}

#[test]
fn threads_engines_and_cuts_change_no_bit_of_a_pair() {
    for (name, called, more) in PAIRS {
        let config = config(name, more);
        let weights = Tensors::random(&config, WeightType::Bf16, 52);
        let runners = [jit(1), jit(2), Runner::Interpreter];
        let [one, two, interpreted] = runners.map(|runner| model(config, &weights, runner));
        for count in LENGTHS {
            let (text, own) = (tokens(&config, count), tokens(&config, 21));
            let whole = behind(&one, &text).prefill_all(&own).unwrap();
            let again = behind(&two, &text).prefill_all(&own).unwrap();
            assert_eq!(bits(&whole), bits(&again), "{called} {count}");
            let again = behind(&interpreted, &text).prefill_all(&own).unwrap();
            assert_eq!(bits(&whole), bits(&again), "{called} {count}");
            let mut session = behind(&one, &text);
            let mut pieces = session.prefill_all(&own[..5]).unwrap();
            let mut fork = session.fork().unwrap();
            for &token in &own[5..] {
                pieces.extend(session.decode(token).unwrap());
            }
            assert_eq!(bits(&whole), bits(&pieces), "{called} {count}");
            let rest = fork.prefill_all(&own[5..]).unwrap();
            let behind = &whole[5 * config.vocab_size..];
            assert_eq!(bits(behind), bits(&rest), "{called} {count}");
        }
    }
}

#[test]
fn a_document_of_every_pair_gives_the_logits_of_its_model() {
    for (name, called, more) in PAIRS {
        let config = config(name, more);
        let weights = Tensors::random(&config, WeightType::F32, 53);
        let families = described::families(name);
        let again = read_back(config, WeightType::F32, families, called);
        let model = model(config, &weights, jit(1));
        let encoder = config.encoder().expect("an encoder");
        for (count, behind_it) in [(1, 1), (17, 5), (3, 9)] {
            let (text, own) = (tokens(&config, count), tokens(&config, behind_it));
            let expected = behind(&model, &text).prefill_all(&own).unwrap();
            // Padding that is cut off may have any value.
            for (padding, filled) in [(Padding::Stripped, 9.0), (Padding::Kept, 0.0)] {
                let g = document::model(&again, padding).expect("a module");
                let mut all = arrays(&config, &weights, filled);
                read(&mut all, &encoder, &text);
                let found = outputs(&g, all, &config, &own).swap_remove(0);
                assert_eq!(
                    bits(&found),
                    bits(&expected),
                    "{called} {count} {padding:?}"
                );
            }
        }
    }
}

/// Returns a file with these weights.
fn file(config: &Config, weights: &Tensors) -> Vec<u8> {
    safetensors(&tensors(config, weights))
}

/// Returns these weights in the layout of files.
fn tensors(config: &Config, weights: &Tensors) -> Vec<Tensor> {
    let all = weights.tensors.iter().map(|((part, layer), own)| {
        let name = config.family.tensor_name(part, *layer).expect("a name");
        // Files have the bias of the logits as a matrix of one row.
        let row = [1, own.elements.len()];
        let shape = if part == "final_logits_bias" {
            &row[..]
        } else {
            &own.shape
        };
        Tensor::f32(&name, shape, &own.elements)
    });
    all.collect()
}

#[test]
fn a_table_under_several_names_is_one_table() {
    let (name, _, more) = PAIRS[2];
    let own = config(name, more);
    let weights = Tensors::random(&own, WeightType::F32, 56);
    let table = &weights.tensors[&("token_emb".to_owned(), None)];
    let other = weights.tensors[&("token_emb".to_owned(), None)]
        .elements
        .iter()
        .map(|x| x + 1.0)
        .collect::<Vec<f32>>();
    let file = |first: &str, copy: &[f32]| {
        let mut all = tensors(&own, &weights);
        all.retain(|own| own.name != "model.shared.weight");
        for (name, elements) in [
            (first, table.elements.as_slice()),
            ("model.decoder.embed_tokens.weight", copy),
        ] {
            all.push(Tensor::f32(name, &table.shape, elements));
        }
        safetensors(&all)
    };
    let text = text(name, more);
    let read = |bytes: &[u8]| {
        let sources = [Source {
            name: "model.safetensors".to_owned(),
            file: WeightFile::parse(bytes).unwrap(),
        }];
        let (document, _) = hf::document(Some(&text), &sources, described::families(name))?;
        Checkpoint::new(&document.config, &sources).map(|_| ())
    };
    for first in ["model.shared.weight", "encoder.embed_tokens.weight"] {
        assert!(read(&file(first, &table.elements)).is_ok(), "{first}");
        let found = read(&file(first, &other)).unwrap_err();
        let message = found.first_error().expect("a reason").message.clone();
        assert!(message.contains("differs from"), "{message}");
    }
}

#[test]
fn a_pair_as_c_gives_the_same_bits() {
    for (name, called, more) in PAIRS {
        let own = config(name, more);
        let weights = Tensors::random(&own, WeightType::F32, 54);
        let bytes = file(&own, &weights);
        let sources = [Source {
            name: "model.safetensors".to_owned(),
            file: WeightFile::parse(&bytes).unwrap(),
        }];
        let text = text(name, more);
        let read = hf::document(Some(&text), &sources, described::families(name));
        let (document, _) = read.unwrap_or_else(|why| panic!("{called}: {why:?}"));
        let config = document.config;
        let checkpoint = Checkpoint::new(&config, &sources).expect("a checkpoint");
        let stored = Stored::new(&config, &checkpoint, &[&bytes]).expect("weights of the file");
        let forced = Forced {
            first: Some(3),
            last: Some(1),
        };
        // One of the models forces and suppresses tokens.
        let drawn = match called {
            "bart" => Drawn {
                forced,
                suppressed: Suppressed {
                    always: (4..20).collect(),
                    first: vec![3],
                },
            },
            _ => Drawn::default(),
        };
        let program = c_program(&config, &stored, 80, &drawn).expect("a program");
        let weights = Box::new(CheckpointWeights(checkpoint));
        let model = Arc::new(Model::new(config, weights, jit(1)).expect("a model"));
        let called = called.replace(", ", "-");
        let built = c::Built::new(&called, &program, &bytes);
        let list = |tokens: &[u32]| {
            let words: Vec<String> = tokens.iter().map(u32::to_string).collect();
            words.join(",")
        };
        for (count, prompt) in [(1, 1), (17, 3), (80, 19)] {
            let (text, mut all) = (tokens(&config, count), tokens(&config, prompt));
            let mut session = Session::behind(model.clone(), &text, 80).unwrap();
            let mut last = session.prefill(&all).unwrap();
            let mut expected = last.clone();
            let next = |at: usize, logits: &mut [f32]| {
                drawn.suppressed.apply(at, logits);
                let forced = drawn.forced.token(at, 4);
                // The first token is forced only after the start token.
                let forced = forced.filter(|_| at > 0 || prompt == 1);
                forced.unwrap_or_else(|| largest(logits))
            };
            all.push(next(0, &mut last));
            for at in 1..4 {
                last = session.decode(all[all.len() - 1]).unwrap();
                expected.extend_from_slice(&last);
                all.push(next(at, &mut last));
            }
            let logits = built.folder.join("logits");
            let printed = built.run(&[
                list(&text),
                list(&all[..prompt]),
                "4".to_owned(),
                built.weights.display().to_string(),
                format!("--logits={}", logits.display()),
            ]);
            assert_eq!(printed.trim_end(), list(&all[prompt..]), "{called} {count}");
            let found = std::fs::read(&logits).expect("logits");
            let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_le_bytes()).collect();
            assert!(found == expected, "{called} {count}: logits differ");
        }
        let outside = list(&[1, config.vocab_size as u32]);
        assert_eq!(built.status(&[&outside, "0", "3", "--seed=4"]), Some(1));
        assert_eq!(built.status(&["", "0", "3", "--seed=4"]), Some(1));
        assert_eq!(built.status(&["1,2", &outside, "3", "--seed=4"]), Some(1));
        assert_eq!(built.status(&["1,2", "0", "90", "--seed=4"]), Some(1));
        assert_eq!(built.status(&["1,2", "0", "--seed=4"]), Some(2));
        assert_eq!(built.status(&["1,2", "0", "3", "--seed=4"]), Some(0));
    }
}

#[test]
fn what_a_pair_refuses() {
    let (name, _, more) = PAIRS[0];
    let config = config(name, more);
    let weights = Tensors::random(&config, WeightType::F32, 55);
    let pair = model(config, &weights, jit(1));
    let refused = |text: &[u32], capacity: usize| {
        let session = Session::behind(pair.clone(), text, capacity);
        session.err().map(|why| why.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(&[], 8), "no tokens: expected at least one");
    assert_eq!(
        refused(&[1, 37], 8),
        "token 37 is outside of the vocabulary, which ends at 36"
    );
    assert_eq!(
        refused(&[1], 0),
        "1 tokens do not fit: the cache has room for 0"
    );
    let alone = Session::new(pair.clone(), 8)
        .err()
        .map(|why| why.to_string());
    let expected = "models of t5 are encoder-decoders, whose encoder needs a text";
    assert_eq!(alone.as_deref(), Some(expected));
    assert!(Encoder::new(pair).is_err());
    let decoder = Config::new(llama()).unwrap();
    let weights = Tensors::random(&decoder, WeightType::F32, 3);
    let decoder = model(decoder, &weights, jit(1));
    let behind = Session::behind(decoder, &[1], 8)
        .err()
        .map(|why| why.to_string());
    let expected = "models of llama are not encoder-decoders: they have no encoder to read a text";
    assert_eq!(behind.as_deref(), Some(expected));
    assert!(family("t5").encoder().is_some() && !family("t5").is_encoder());
}
