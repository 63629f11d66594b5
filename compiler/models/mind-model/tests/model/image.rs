//! Image encoders against a reference written from the formulas, in every engine, as documents, as files and as C.

use std::sync::Arc;

use mind_interp::{Arrays, Extents, RunConfig};
use mind_ir::tensor::Tensor as Array;
use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::graph::document::{self, Padding};
use mind_irv2::{Config, Families, hf};
use mind_model::c::{Tensors as Stored, c_program};
use mind_model::{CheckpointWeights, Encoded, Encoder, Model, Runner};
use mind_weights::{WeightFile, WeightType};

use crate::document::{arrays, read_back};
use crate::random::{Tensors, jit, llama, model, tokens};
use crate::writers::{Tensor, safetensors};
use crate::{c, encoder_reference as reference, table};

/// Names and configurations of tiny models: with seventeen positions, and with more than fit into a pass.
const MODELS: [(&str, &str); 2] = [
    (
        "vit",
        r#""image_size": 12, "patch_size": 3, "num_channels": 3, "num_labels": 5"#,
    ),
    (
        "vit, 325 positions",
        r#""image_size": 36, "patch_size": 2, "num_channels": 2, "qkv_bias": false, "hidden_act": "relu",
           "id2label": {"0": "cat", "1": "dog", "2": "cow"}"#,
    ),
];

fn text(more: &str) -> String {
    format!(
        r#"{{"model_type": "vit", "num_hidden_layers": 2, "hidden_size": 24, "intermediate_size": 42,
            "num_attention_heads": 6, {more}}}"#
    )
}

fn config(more: &str) -> Config {
    let read = hf::document(Some(&text(more)), &[], Families::default());
    let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
    assert!(found.is_empty(), "{found:?}");
    document.config
}

fn encoder(config: Config, tensors: &Tensors, runner: Runner) -> Encoder<'static> {
    Encoder::new(model(config, tensors, runner)).unwrap_or_else(|why| panic!("{why}"))
}

/// Returns an image with numbers from -1 to 1.
fn pixels(config: &Config) -> Vec<f32> {
    let count = config.image().expect("images").elements();
    let number = |at: usize| ((at * at * 31 + 7 * at) % 255) as f32 / 127.0 - 1.0;
    (0..count).map(number).collect()
}

fn bits(encoded: &Encoded) -> Vec<u32> {
    let first = encoded.pooled.iter().chain(&encoded.scores).flatten();
    let all = encoded.hidden.iter().chain(first);
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

#[test]
fn every_image_encoder_computes_what_its_formulas_say() {
    let mut table = "| family | fp32 | fp16 | bf16 |\n|---|---|---|---|\n".to_owned();
    for (called, more) in MODELS {
        let config = config(more);
        table += &format!("| {called} |");
        for stored in [WeightType::F32, WeightType::F16, WeightType::Bf16] {
            let tensors = Tensors::random(&config, stored, 61);
            let pixels = pixels(&config);
            let found = encoder(config, &tensors, jit(1))
                .run_image(&pixels)
                .unwrap();
            let expected = reference::hidden_of_image(&config, &tensors, &pixels);
            let rows = found.hidden.chunks(config.hidden_size).zip(&expected);
            let mut worst = rows
                .map(|(found, expected)| distance(found, expected))
                .fold(0.0, f64::max);
            let (pooled, scores) = (found.pooled.unwrap(), found.scores.unwrap());
            worst = worst.max(distance(&pooled, &reference::pooled(&tensors, &expected)));
            worst = worst.max(distance(&scores, &reference::scores(&tensors, &expected)));
            assert!(worst < 1e-5, "{called} in {stored}: {worst}");
            table += &format!(" {worst:.0e} |");
        }
        table += "\n";
    }
    table::check("images", &table);
}

#[test]
fn threads_and_engines_change_no_bit_of_an_image() {
    for (called, more) in MODELS {
        let config = config(more);
        let tensors = Tensors::random(&config, WeightType::Bf16, 62);
        let pixels = pixels(&config);
        let runners = [jit(1), jit(2), Runner::Interpreter];
        let [one, two, interpreted] = runners.map(|runner| {
            let found = encoder(config, &tensors, runner).run_image(&pixels);
            bits(&found.unwrap())
        });
        assert_eq!(one, two, "{called}");
        assert_eq!(one, interpreted, "{called}");
    }
}

#[test]
fn a_document_of_an_image_encoder_gives_the_numbers_of_its_model() {
    for (called, more) in MODELS {
        let config = config(more);
        let tensors = Tensors::random(&config, WeightType::F32, 63);
        let again = read_back(config, WeightType::F32, Default::default(), called);
        let pixels = pixels(&config);
        let expected = encoder(config, &tensors, jit(1)).run_image(&pixels);
        let expected = bits(&expected.unwrap());
        // Padding that is cut off may have any value.
        for (padding, filled) in [(Padding::Stripped, 9.0), (Padding::Kept, 0.0)] {
            let g = document::model(&again, padding).expect("a module");
            let mut all: Arrays = arrays(&config, &tensors, filled);
            let image = config.image().expect("images");
            let shape = vec![image.channels, image.size, image.size];
            all.insert("pixels".to_owned(), Array::of(shape, pixels.clone()));
            let bound = mind_interp::bind(&g, &all, Extents::default());
            let bound = bound.unwrap_or_else(|why| panic!("{why:?}"));
            let results = mind_interp::run(&g, &bound, &RunConfig::default());
            let results = results.expect("a run");
            let found = results.iter().flat_map(|own| own.elements::<f32>());
            let found: Vec<u32> = found.map(|x| x.to_bits()).collect();
            assert_eq!(found, expected, "{called} {padding:?}");
        }
    }
}

/// Returns a file with these weights except for those of `without`, with Hugging Face names or, if `renamed`, with the
/// names of modules.
fn file(config: &Config, tensors: &Tensors, without: &str, renamed: bool) -> Vec<u8> {
    let image = config.image().expect("images");
    let kept = tensors
        .tensors
        .iter()
        .filter(|((part, _), _)| without.is_empty() || !part.starts_with(without));
    let all = kept.map(|((part, layer), own)| {
        let name = config.family.tensor_name(part, *layer).expect("a name");
        let name = if renamed {
            let modules = [
                ("encoder.layer.", "layers."),
                ("attention.attention.query", "attention.q_proj"),
                ("attention.attention.key", "attention.k_proj"),
                ("attention.attention.value", "attention.v_proj"),
                ("attention.output.dense", "attention.o_proj"),
                ("intermediate.dense", "mlp.fc1"),
                ("output.dense", "mlp.fc2"),
            ];
            let all = modules.into_iter();
            all.fold(name, |name, (from, to)| name.replace(from, to))
        } else {
            name
        };
        let shape = match part.as_str() {
            "patch_weight" => vec![own.shape[0], image.channels, image.patch, image.patch],
            "cls_token" => vec![1, 1, own.shape[0]],
            "pos_emb" => vec![1, own.shape[0], own.shape[1]],
            _ => own.shape.clone(),
        };
        Tensor::f32(&name, &shape, &own.elements)
    });
    safetensors(&all.collect::<Vec<_>>())
}

/// Runs `check` on the model of a file.
fn of_file(more: &str, bytes: &[u8], check: impl FnOnce(&Config, Checkpoint<'_>)) {
    let sources = [Source {
        name: "model.safetensors".to_owned(),
        file: WeightFile::parse(bytes).unwrap(),
    }];
    let read = hf::document(Some(&text(more)), &sources, Families::default());
    let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
    assert!(found.is_empty(), "{found:?}");
    let checkpoint = Checkpoint::new(&document.config, &sources);
    let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{why:?}"));
    check(&document.config, checkpoint);
}

#[test]
fn files_are_read_with_the_names_of_releases_and_of_modules() {
    let (_, more) = MODELS[0];
    let config = config(more);
    let tensors = Tensors::random(&config, WeightType::F32, 64);
    let pixels = pixels(&config);
    let expected = encoder(config, &tensors, jit(1))
        .run_image(&pixels)
        .unwrap();
    for renamed in [false, true] {
        let bytes = file(&config, &tensors, "", renamed);
        of_file(more, &bytes, |config, checkpoint| {
            let weights = Box::new(CheckpointWeights(checkpoint));
            let model = Model::new(*config, weights, jit(1)).expect("a model");
            let found = Encoder::new(Arc::new(model)).unwrap().run_image(&pixels);
            assert_eq!(bits(&found.unwrap()), bits(&expected));
        });
    }
}

#[test]
fn a_checkpoint_says_whether_there_is_a_classifier_or_a_pooler() {
    let (_, more) = MODELS[0];
    let config = config(more);
    let tensors = Tensors::random(&config, WeightType::F32, 65);
    let pixels = pixels(&config);
    for (without, has) in [("classifier", [true, false]), ("pooler", [false, true])] {
        let bytes = file(&config, &tensors, without, false);
        of_file(more, &bytes, |config, checkpoint| {
            let weights = Box::new(CheckpointWeights(checkpoint));
            let model = Model::new(*config, weights, jit(1)).expect("a model");
            let found = Encoder::new(Arc::new(model)).unwrap().run_image(&pixels);
            let found = found.unwrap();
            assert_eq!([found.pooled.is_some(), found.scores.is_some()], has);
        });
    }
}

#[test]
fn an_image_encoder_as_c_gives_the_same_bits() {
    for (at, (called, more)) in MODELS.into_iter().enumerate() {
        let own = config(more);
        let tensors = Tensors::random(&own, WeightType::F32, 66);
        let without = ["pooler", "classifier"][at];
        let bytes = file(&own, &tensors, without, false);
        let pixels = pixels(&own);
        of_file(more, &bytes, |config, checkpoint| {
            let stored = Stored::new(config, &checkpoint, &[&bytes]).expect("weights of the file");
            let program = c_program(config, &stored, 1, &Default::default()).expect("a program");
            let weights = Box::new(CheckpointWeights(checkpoint));
            let model = Model::new(*config, weights, jit(1)).expect("a model");
            let encoder = Encoder::new(Arc::new(model)).expect("an encoder");
            let expected = encoder.run_image(&pixels).unwrap();
            let built = c::Built::new(
                &called.replace(", ", "-").replace(' ', "-"),
                &program,
                &bytes,
            );
            let [image, hidden, short] =
                ["image", "hidden", "short"].map(|name| built.folder.join(name));
            let raw: Vec<u8> = pixels.iter().flat_map(|x| x.to_le_bytes()).collect();
            std::fs::write(&image, &raw).expect("an image");
            std::fs::write(&short, &raw[4..]).expect("an image");
            let printed = built.run(&[
                image.display().to_string(),
                built.weights.display().to_string(),
                format!("--hidden={}", hidden.display()),
            ]);
            let numbers = printed.trim_end().split(',').map(|x| x.parse().unwrap());
            let numbers: Vec<f32> = numbers.collect();
            match &expected.scores {
                Some(scores) => assert_eq!(&numbers, scores, "{called}"),
                None => {
                    let mean = mind_model::Pooling::Mean.apply(&expected, config.hidden_size);
                    assert_eq!(Some(numbers), mean, "{called}");
                }
            }
            let found = std::fs::read(&hidden).expect("vectors");
            let all = expected.hidden.iter().flat_map(|x| x.to_le_bytes());
            assert!(
                found == all.collect::<Vec<u8>>(),
                "{called}: vectors differ"
            );
            let name = |path: &std::path::Path| path.display().to_string();
            assert_eq!(built.status(&[&name(&short), "--seed=4"]), Some(1));
            assert_eq!(built.status(&["nowhere", "--seed=4"]), Some(1));
            assert_eq!(built.status(&[&name(&image), "--seed=4"]), Some(0));
        });
    }
}

#[test]
fn what_an_image_encoder_refuses() {
    let (_, more) = MODELS[0];
    let config = config(more);
    let tensors = Tensors::random(&config, WeightType::F32, 67);
    let own = encoder(config, &tensors, jit(1));
    let refused = own.run(&tokens(&config, 3), &[]).unwrap_err().to_string();
    assert_eq!(refused, "models of vit read images, not tokens");
    let refused = own.run_image(&[0.0; 430]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "an image has 430 numbers, expected 432: 3 channels of 12 rows of 12 pixels"
    );
    let said = r#"{"model_type": "bert", "num_hidden_layers": 1, "hidden_size": 24, "intermediate_size": 42,
        "num_attention_heads": 6, "vocab_size": 37, "max_position_embeddings": 40}"#;
    let (document, _) = hf::document(Some(said), &[], Families::default()).unwrap();
    let bert = Tensors::random(&document.config, WeightType::F32, 68);
    let bert = encoder(document.config, &bert, jit(1));
    let refused = bert.run_image(&[0.0; 432]).unwrap_err().to_string();
    assert_eq!(refused, "models of bert read tokens, not images");
    let decoder = Config::new(llama()).unwrap();
    assert_eq!(decoder.image(), None);
}
