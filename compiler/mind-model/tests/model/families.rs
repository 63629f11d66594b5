//! The families beside llama: by their formulas, as files, in pieces.

use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Config, hf};
use mind_model::{CheckpointWeights, Model, Runner, Session};
use mind_weights::{Permutation, WeightFile, WeightType};

use crate::described;
use crate::parity::error;
use crate::random::{Tensors, jit, tokens};
use crate::table;
use crate::writers::{Tensor, safetensors};

/// What the configuration of a tiny model of each family says besides its sizes.
pub const FAMILIES: [(&str, &str); 14] = [
    ("gemma", r#""head_dim": 8"#),
    (
        "gemma2",
        r#""head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 7, "attn_logit_softcapping": 1.5,
           "final_logit_softcapping": 2.0"#,
    ),
    (
        "gemma3_text",
        r#""head_dim": 8, "sliding_window": 4, "sliding_window_pattern": 3, "rope_theta": 1000.0,
           "rope_local_base_freq": 100.0"#,
    ),
    (
        "granite",
        r#""embedding_multiplier": 3.0, "residual_multiplier": 0.5, "attention_multiplier": 0.3,
           "logits_scaling": 4.0"#,
    ),
    ("smollm3", r#""no_rope_layer_interval": 2"#),
    ("olmo2", r#""rms_norm_eps": 1e-5"#),
    ("glm4", r#""head_dim": 8"#),
    ("starcoder2", r#""sliding_window": 5"#),
    (
        "stablelm",
        r#""partial_rotary_factor": 0.5, "use_qkv_bias": true"#,
    ),
    ("phi", r#""layer_norm_eps": 1e-5"#),
    ("cohere", r#""logit_scale": 0.5"#),
    (
        "cohere2",
        r#""sliding_window": 4, "sliding_window_pattern": 2"#,
    ),
    ("ernie4_5", r#""head_dim": 8, "use_bias": true"#),
    ("arcee", r#""mlp_bias": true"#),
];

/// The text of the configuration of a tiny model.
pub fn text(name: &str, more: &str) -> String {
    format!(
        r#"{{"model_type": "{name}", "num_hidden_layers": 3, "hidden_size": 24, "intermediate_size": 42,
            "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 37, "max_position_embeddings": 400,
            {more}}}"#
    )
}

/// A tiny model.
pub fn config(name: &str, more: &str) -> Config {
    let read = hf::document(Some(&text(name, more)), &[], described::families(name));
    let (document, found) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert!(found.is_empty(), "{name}: {found:?}");
    document.config
}

/// The bytes of a file of Hugging Face with these weights.
pub fn file(config: &Config, tensors: &Tensors) -> Vec<u8> {
    let neighbours = ["cohere", "cohere2", "glm4", "ernie4_5"].contains(&config.family.name());
    let all = tensors.tensors.iter().map(|((part, layer), own)| {
        let name = config.family.tensor_name(part, *layer).expect("a name");
        let row = own.elements.len() / own.shape[0];
        let mut elements = own.elements.clone();
        let is_turned = ["wq", "wk", "bq", "bk"].contains(&part.as_str());
        if let Some(rope) = config.rope.filter(|_| neighbours && is_turned) {
            let order = Permutation::Interleaved {
                head_dim: config.head_dim,
                rotary_dims: rope.rotary_dims,
            };
            for (at, from) in own.elements.chunks_exact(row).enumerate() {
                elements[order.file_row(at) * row..][..row].copy_from_slice(from);
            }
        }
        Tensor::f32(&name, &own.shape, &elements)
    });
    safetensors(&all.collect::<Vec<_>>())
}

#[test]
fn every_family_computes_what_its_formulas_say() {
    let mut table = "| family | fp32 | bf16 |\n|---|---|---|\n".to_owned();
    for (name, more) in FAMILIES {
        let config = config(name, more);
        table += &format!("| {name} |");
        for stored in [WeightType::F32, WeightType::Bf16] {
            let error = error(config, &Tensors::random(&config, stored, 11), 11);
            assert!(error < 1e-5, "{name} in {stored}: {error}");
            table += &format!(" {error:.0e} |");
        }
        table += "\n";
    }
    table::check("families", &table);
}

/// The bits of the logits behind the last of `tokens`, in passes of these lengths.
fn bits(model: Model<'_>, tokens: &[u32], lengths: &[usize]) -> Vec<u32> {
    let mut session = Session::new(Arc::new(model), 40).unwrap();
    let (mut rest, mut last) = (tokens, Vec::new());
    for &length in lengths {
        let (now, later) = rest.split_at(length);
        last = session.prefill(now).unwrap();
        rest = later;
    }
    last.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn files_of_every_family_have_one_result_however_they_are_run() {
    for (name, more) in FAMILIES {
        let config = config(name, more);
        let weights = Tensors::random(&config, WeightType::F32, 23);
        let bytes = file(&config, &weights);
        let sources = [Source {
            name: "model.safetensors".to_owned(),
            file: WeightFile::parse(&bytes).unwrap(),
        }];
        let read = hf::document(Some(&text(name, more)), &sources, described::families(name));
        let (document, _) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
        let checkpoint = Checkpoint::new(&document.config, &sources);
        let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{name}: {why:?}"));
        let prompt = tokens(&config, 21);
        let run =
            |weights: Box<dyn mind_model::Weights + '_>, runner: Runner, lengths: &[usize]| {
                let model = Model::new(document.config, weights, runner);
                let model = model.unwrap_or_else(|why| panic!("{name}: {why}"));
                bits(model, &prompt, lengths)
            };
        let whole = run(Box::new(CheckpointWeights(checkpoint)), jit(1), &[21]);
        let own = || Box::new(weights.clone());
        assert_eq!(whole, run(own(), jit(2), &[16, 3, 1, 1]), "{name}");
        assert_eq!(whole, run(own(), Runner::Interpreter, &[20, 1]), "{name}");
    }
}
