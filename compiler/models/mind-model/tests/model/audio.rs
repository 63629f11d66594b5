//! Speech encoder-decoders against a reference written from the formulas, in every engine, as documents, as files and
//! as C.

use std::sync::Arc;

use mind_interp::{Arrays, Extents, RunConfig};
use mind_ir::tensor::Tensor as Array;
use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::graph::document::{self, Padding};
use mind_irv2::{Audio, Config, Families, hf};
use mind_model::c::{Tensors as Stored, c_program};
use mind_model::{CheckpointWeights, Encoder, Model, Session, largest};
use mind_weights::{WeightFile, WeightType};

use crate::bart_reference::{layers, stack};
use crate::document::{arrays, read, read_back};
use crate::pair_reference::{Row, logits_behind};
use crate::random::{Tensors, jit, llama, model, tokens};
use crate::reference::{activated, added};
use crate::writers::{Tensor, safetensors};
use crate::{c, table};

/// Names and configurations of tiny models: with few positions, and with more than fit into a pass.
const MODELS: [(&str, &str); 2] = [
    ("whisper", r#""num_mel_bins": 5, "max_source_positions": 9"#),
    (
        "whisper, 300 positions",
        r#""num_mel_bins": 3, "max_source_positions": 300, "activation_function": "relu""#,
    ),
];

fn text(more: &str) -> String {
    format!(
        r#"{{"model_type": "whisper", "d_model": 24, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 6,
            "decoder_attention_heads": 4, "encoder_ffn_dim": 42, "decoder_ffn_dim": 30, "vocab_size": 37,
            "max_target_positions": 50, {more}}}"#
    )
}

fn config(more: &str) -> Config {
    let read = hf::document(Some(&text(more)), &[], Families::default());
    let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
    assert!(found.is_empty(), "{found:?}");
    document.config
}

fn audio(config: &Config) -> Audio {
    let encoder = config.encoder().expect("an encoder");
    encoder.audio().expect("sound")
}

/// Returns features from -1 to 1.
fn features(config: &Config) -> Vec<f32> {
    let number = |at: usize| ((at * at * 31 + 7 * at) % 255) as f32 / 127.0 - 1.0;
    (0..audio(config).elements()).map(number).collect()
}

fn logits(model: &Arc<Model<'_>>, features: &[f32], own: &[u32]) -> Vec<f32> {
    let session = Session::behind_audio(model.clone(), features, 50);
    let mut session = session.unwrap_or_else(|why| panic!("{why}"));
    session.prefill_all(own).unwrap()
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// Returns `gelu(conv(x))` of every `step`-th row of `x`, with a kernel of three rows.
fn convolved(tensors: &Tensors, name: &str, x: &[Row], step: usize) -> Vec<Row> {
    let weight = tensors.get(&format!("{name}_weight"), None);
    let bias = tensors.get(&format!("{name}_bias"), None);
    let width = x[0].len();
    let row = |at: usize| -> Row {
        let output = |(out, bias): (usize, &f32)| {
            let mut sum = f64::from(*bias);
            for input in 0..width {
                for tap in 0..3 {
                    let own = (at + tap).checked_sub(1).and_then(|own| x.get(own));
                    let w = weight[(out * width + input) * 3 + tap];
                    sum += own.map_or(0.0, |own| own[input]) * f64::from(w);
                }
            }
            activated(sum, mind_irv2::Activation::Gelu)
        };
        bias.iter().enumerate().map(output).collect()
    };
    (0..x.len()).step_by(step).map(row).collect()
}

/// Returns the reference logits after each token of `own`.
fn expected(config: &Config, tensors: &Tensors, features: &[f32], own: &[u32]) -> Row {
    let Audio { mel_bins, frames } = audio(config);
    let frame = |at: usize| -> Row {
        let numbers = (0..mel_bins).map(|bin| f64::from(features[bin * frames + at]));
        numbers.collect()
    };
    let rows: Vec<Row> = (0..frames).map(frame).collect();
    let rows = convolved(tensors, "conv1", &rows, 1);
    let rows = convolved(tensors, "conv2", &rows, 2);
    let table = tensors.get("enc_pos_emb", None).chunks(config.hidden_size);
    let placed = rows.iter().zip(table).map(|(row, position)| {
        let position: Row = position.iter().map(|&x| f64::from(x)).collect();
        added(row, &position)
    });
    let encoder = config.encoder().expect("an encoder");
    let said = stack(&encoder, tensors, "enc_", placed.collect(), None);
    logits_behind(
        config,
        tensors,
        layers(config, tensors, "", own, Some(&said)),
    )
}

#[test]
fn every_model_that_hears_computes_what_its_formulas_say() {
    let mut table = "| family | fp32 | fp16 | bf16 |\n|---|---|---|---|\n".to_owned();
    for (called, more) in MODELS {
        let config = config(more);
        table += &format!("| {called} |");
        let (features, own) = (features(&config), tokens(&config, 20));
        for stored in [WeightType::F32, WeightType::F16, WeightType::Bf16] {
            let tensors = Tensors::random(&config, stored, 71);
            let found = logits(&model(config, &tensors, jit(1)), &features, &own);
            let expected = expected(&config, &tensors, &features, &own);
            let most = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert_eq!(found.len(), expected.len());
            let pairs = found.iter().zip(&expected);
            let far = pairs.map(|(&x, y)| (f64::from(x) - y).abs() / most);
            let worst = far.fold(0.0, f64::max);
            assert!(worst < 1e-5, "{called} in {stored}: {worst}");
            table += &format!(" {worst:.0e} |");
        }
        table += "\n";
    }
    table::check("audio", &table);
}

#[test]
fn engines_and_a_document_give_the_bits_of_a_model_that_hears() {
    for (called, more) in MODELS {
        let config = config(more);
        let tensors = Tensors::random(&config, WeightType::F32, 72);
        let (features, own) = (features(&config), tokens(&config, 7));
        let one = logits(&model(config, &tensors, jit(1)), &features, &own);
        let two = logits(&model(config, &tensors, jit(2)), &features, &own);
        assert_eq!(bits(&one), bits(&two), "{called}");
        let again = read_back(config, WeightType::F32, Default::default(), called);
        // Padding that is cut off may have any value.
        for (padding, filled) in [(Padding::Stripped, 9.0), (Padding::Kept, 0.0)] {
            let g = document::model(&again, padding).expect("a module");
            let mut all: Arrays = arrays(&config, &tensors, filled);
            let Audio { mel_bins, frames } = audio(&config);
            let sound = Array::of(vec![mel_bins, frames], features.clone());
            all.insert("features".to_owned(), sound);
            read(&mut all, &config, &own);
            let inputs = mind_interp::inputs(&g);
            all.retain(|name, _| inputs.iter().any(|input| input.name == name));
            let bound = mind_interp::bind(&g, &all, Extents::default());
            let bound = bound.unwrap_or_else(|why| panic!("{why:?}"));
            let results = mind_interp::run(&g, &bound, &RunConfig::default());
            let found = results.expect("a run").swap_remove(0);
            assert_eq!(bits(found.elements()), bits(&one), "{called} {padding:?}");
        }
    }
}

/// Returns a Hugging Face file with these weights.
fn file(config: &Config, tensors: &Tensors) -> Vec<u8> {
    let all = tensors.tensors.iter().map(|((part, layer), own)| {
        let name = config.family.tensor_name(part, *layer).expect("a name");
        let shape = match part.as_str() {
            "conv1_weight" | "conv2_weight" => vec![own.shape[0], own.shape[1] / 3, 3],
            _ => own.shape.clone(),
        };
        Tensor::f32(&name, &shape, &own.elements)
    });
    safetensors(&all.collect::<Vec<_>>())
}

#[test]
fn a_file_of_a_model_that_hears_gives_the_same_bits_and_as_c_too() {
    let (_, more) = MODELS[0];
    let own = config(more);
    let tensors = Tensors::random(&own, WeightType::F32, 73);
    let (features, prompt) = (features(&own), tokens(&own, 3));
    let expected = logits(&model(own, &tensors, jit(1)), &features, &prompt);
    let bytes = file(&own, &tensors);
    let sources = [Source {
        name: "model.safetensors".to_owned(),
        file: WeightFile::parse(&bytes).unwrap(),
    }];
    let read = hf::document(Some(&text(more)), &sources, Families::default());
    let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
    assert!(found.is_empty(), "{found:?}");
    let checkpoint = Checkpoint::new(&document.config, &sources);
    let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{why:?}"));
    let stored = Stored::new(&document.config, &checkpoint, &[&bytes]).expect("weights");
    let program = c_program(&document.config, &stored, 20, &Default::default());
    let program = program.expect("a program");
    let weights = Box::new(CheckpointWeights(checkpoint));
    let model = Arc::new(Model::new(document.config, weights, jit(1)).expect("a model"));
    assert_eq!(bits(&logits(&model, &features, &prompt)), bits(&expected));
    let built = c::Built::new("whisper", &program, &bytes);
    let [sound, short, out] = ["sound", "short", "logits"].map(|name| built.folder.join(name));
    let raw: Vec<u8> = features.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(&sound, &raw).expect("features");
    std::fs::write(&short, &raw[4..]).expect("features");
    let name = |path: &std::path::Path| path.display().to_string();
    let words: Vec<String> = prompt.iter().map(u32::to_string).collect();
    let printed = built.run(&[
        name(&sound),
        words.join(","),
        "1".to_owned(),
        name(&built.weights),
        format!("--logits={}", name(&out)),
    ]);
    let last = &expected[expected.len() - own.vocab_size..];
    assert_eq!(printed.trim_end(), largest(last).to_string());
    let found = std::fs::read(&out).expect("logits");
    let last: Vec<u8> = last.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(found == last, "logits differ");
    assert_eq!(
        built.status(&[&name(&short), "1", "1", "--seed=4"]),
        Some(1)
    );
    assert_eq!(
        built.status(&[&name(&sound), "1", "2", "--seed=4"]),
        Some(0)
    );
}

#[test]
fn what_a_model_that_hears_refuses() {
    let (_, more) = MODELS[0];
    let config = config(more);
    let tensors = Tensors::random(&config, WeightType::F32, 74);
    let own = model(config, &tensors, jit(1));
    let why = |session: Result<Session<'_>, mind_model::ModelError>| {
        session.err().map(|why| why.to_string()).unwrap_or_default()
    };
    let read = Session::behind(own.clone(), &[1, 2], 8);
    assert_eq!(why(read), "models of whisper read audio, not tokens");
    let short = Session::behind_audio(own.clone(), &[0.0; 89], 8);
    assert_eq!(
        why(short),
        "found 89 features, expected 90: 5 for each of 18 frames"
    );
    assert!(Encoder::new(own).is_err());
    let decoder = Config::new(llama()).unwrap();
    let weights = Tensors::random(&decoder, WeightType::F32, 3);
    let deaf = Session::behind_audio(model(decoder, &weights, jit(1)), &[0.0; 90], 8);
    assert_eq!(why(deaf), "models of llama do not read audio");
}
