//! Decoder families other than llama against a reference written from the formulas, as files, and in several passes.

use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Config, hf};
use mind_model::{CheckpointWeights, Model, Runner, Session};
use mind_weights::{Permutation, WeightFile, WeightType};

use crate::described;
use crate::parity::error;
use crate::random::{Tensors, jit, of_expert, tokens};
use crate::writers::{Tensor, safetensors};
use crate::{files, table};

/// Configuration keys of a tiny model of each family, besides its sizes.
pub const FAMILIES: [(&str, &str); 22] = [
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
    ("gpt2", r#""layer_norm_epsilon": 1e-5"#),
    ("gpt_neox", r#""rotary_pct": 0.5"#),
    (
        "gpt_neox",
        r#""use_parallel_residual": false, "attention_bias": false, "rotary_pct": 0.5, "rotary_emb_base": 300"#,
    ),
    (
        "mixtral",
        r#""num_local_experts": 5, "num_experts_per_tok": 2, "sliding_window": 5"#,
    ),
    (
        "qwen2_moe",
        r#""num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 18,
           "shared_expert_intermediate_size": 26, "mlp_only_layers": [1]"#,
    ),
    (
        "qwen3_moe",
        r#""head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20,
           "norm_topk_prob": true, "decoder_sparse_step": 2"#,
    ),
    ("bloom", r#""layer_norm_epsilon": 1e-5"#),
    (
        "mpt",
        r#""d_model": 24, "n_layers": 3, "n_heads": 6, "max_seq_len": 400, "attn_config": {"softmax_scale": 0.4}"#,
    ),
    ("ernie4_5", r#""head_dim": 8, "use_bias": true"#),
    ("arcee", r#""mlp_bias": true"#),
];

/// Returns the configuration text of a tiny model.
pub fn text(name: &str, more: &str) -> String {
    format!(
        r#"{{"model_type": "{name}", "num_hidden_layers": 3, "hidden_size": 24, "intermediate_size": 42,
            "num_attention_heads": 6, "num_key_value_heads": 2, "vocab_size": 37, "max_position_embeddings": 400,
            {more}}}"#
    )
}

/// Returns the configuration of a tiny model.
pub fn config(name: &str, more: &str) -> Config {
    let read = hf::document(Some(&text(name, more)), &[], described::families(name));
    let (document, found) = read.unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert!(found.is_empty(), "{name}: {found:?}");
    document.config
}

/// Returns a Hugging Face file with these weights.
pub fn file(config: &Config, tensors: &Tensors) -> Vec<u8> {
    safetensors(&written(config, tensors))
}

/// Returns the tensors of such a file.
fn written(config: &Config, tensors: &Tensors) -> Vec<Tensor> {
    let family = config.family.name();
    let mut written = files::held_together(config, tensors);
    let neighbours = ["cohere", "cohere2", "glm4", "ernie4_5"].contains(&family);
    for ((part, layer), own) in &tensors.tensors {
        let name = match (part.split_once('.'), layer) {
            (Some((part, expert)), Some(layer)) => {
                let expert = expert.parse().expect("a number");
                config.family.expert_tensor_name(part, *layer, expert)
            }
            _ => config.family.tensor_name(part, *layer),
        };
        let Some(name) = name else {
            continue;
        };
        if part == "shared_gate" {
            written.push(Tensor::f32(&name, &[1, own.shape[0]], &own.elements));
            continue;
        }
        if family == "gpt2" && ["wo", "w1", "w2"].contains(&part.as_str()) {
            written.push(files::transposed(&name, own));
            continue;
        }
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
        written.push(Tensor::f32(&name, &own.shape, &elements));
    }
    written
}

#[test]
fn every_family_computes_what_its_formulas_say() {
    let mut rows: Vec<(&str, [f64; 2])> = Vec::new();
    for (name, more) in FAMILIES {
        let config = config(name, more);
        let errors = [WeightType::F32, WeightType::Bf16].map(|stored| {
            let error = error(config, &Tensors::random(&config, stored, 11), 11);
            assert!(error < 1e-5, "{name} in {stored}: {error}");
            error
        });
        match rows.last_mut().filter(|(own, _)| *own == name) {
            Some((_, own)) => *own = [0, 1].map(|at| own[at].max(errors[at])),
            None => rows.push((name, errors)),
        }
    }
    let mut table = "| family | fp32 | bf16 |\n|---|---|---|\n".to_owned();
    for (name, [single, half]) in rows {
        table += &format!("| {name} | {single:.0e} | {half:.0e} |\n");
    }
    table::check("families", &table);
}

/// Returns the bits of the logits after the last token, if `tokens` are run in passes of these lengths.
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

/// Returns the errors of a model file.
fn problems(name: &str, more: &str, tensors: &[Tensor]) -> Vec<String> {
    let bytes = safetensors(tensors);
    let sources = [Source {
        name: "model.safetensors".to_owned(),
        file: WeightFile::parse(&bytes).unwrap(),
    }];
    let read = hf::document(Some(&text(name, more)), &sources, described::families(name));
    let found = read.map(|_| Vec::new());
    found.unwrap_or_else(|why| why.iter().map(|own| own.message.clone()).collect())
}

#[test]
fn experts_may_stand_in_one_tensor() {
    let of = |row: &&(&str, &str)| row.0 == "mixtral";
    let &(name, more) = FAMILIES.iter().find(of).expect("a family");
    let config = config(name, more);
    let tensors = Tensors::random(&config, WeightType::F32, 31);
    let apart = written(&config, &tensors);
    let mut together: Vec<Tensor> = written(&config, &tensors);
    together.retain(|own| !own.name.contains(".experts."));
    together.extend(files::stacked(&config, &tensors));
    let views = |all: &[Tensor]| -> Vec<f32> {
        let bytes = safetensors(all);
        let sources = [Source {
            name: "model.safetensors".to_owned(),
            file: WeightFile::parse(&bytes).unwrap(),
        }];
        let checkpoint = Checkpoint::new(&config, &sources);
        let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{why:?}"));
        let mut numbers = Vec::new();
        for (part, expert) in [("we_gate", 0), ("we_up", 4), ("we2", 3)] {
            let view = checkpoint.expert(part, 2, expert).expect("an expert");
            let mut own = vec![0.0; view.elements()];
            view.decode_f32(&mut own).unwrap();
            assert_eq!(
                own,
                tensors.get(&of_expert(part, expert), Some(2)),
                "{part}"
            );
            numbers.extend(own);
        }
        numbers
    };
    assert_eq!(views(&apart), views(&together));
}

#[test]
fn experts_that_do_not_fit_are_named() {
    let of = |row: &&(&str, &str)| row.0 == "mixtral";
    let &(name, more) = FAMILIES.iter().find(of).expect("a family");
    let config = config(name, more);
    let tensors = Tensors::random(&config, WeightType::F32, 31);
    let all = || written(&config, &tensors);
    assert_eq!(problems(name, more, &all()), [""; 0]);
    let path = "model.layers.1.block_sparse_moe.experts";
    let mut lacking = all();
    lacking.retain(|own| own.name != format!("{path}.3.w2.weight"));
    assert_eq!(
        problems(name, more, &lacking),
        [format!(
            "no file has tensor \"{path}.3.w2.weight\", `we2` of layer 1"
        )]
    );
    let mut more_than_all = all();
    more_than_all.push(Tensor::f32(
        &format!("{path}.5.w2.weight"),
        &[24, 42],
        &[0.0; 24 * 42],
    ));
    assert_eq!(
        problems(name, more, &more_than_all),
        [format!(
            "model.safetensors: tensor \"{path}.5.w2.weight\" is of a layer or of an expert that the model does not have"
        )]
    );
    let mut mixed = all();
    let own = mixed
        .iter_mut()
        .find(|own| own.name == format!("{path}.2.w1.weight"));
    let own = own.expect("an expert");
    (own.dtype, own.bytes) = (WeightType::Bf16, vec![0; 24 * 42 * 2]);
    assert_eq!(
        problems(name, more, &mixed),
        [format!(
            "model.safetensors: tensor \"{path}.2.w1.weight\" is stored as bf16, that of the first expert as fp32: experts of a layer are stored alike"
        )]
    );
}
