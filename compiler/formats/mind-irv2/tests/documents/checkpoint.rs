//! Checkpoint tensors in the form that the model needs.

use mind_irv2::checkpoint::{Checkpoint, Source, without_missing_biases};
use mind_irv2::{Config, Families, Parameters, hf};
use mind_weights::{Permutation, WeightFile, WeightType};

use crate::models::{config, config_json, family, llamas, parameters, tensors};
use crate::writers::{Meta, Tensor, gguf, safetensors};

fn source<'a>(name: &str, bytes: &'a [u8]) -> Source<'a> {
    Source {
        name: name.to_owned(),
        file: WeightFile::parse(bytes).unwrap(),
    }
}

fn values(checkpoint: &Checkpoint<'_>, role: &str, layer: Option<usize>) -> Vec<f32> {
    let view = checkpoint.tensor(role, layer).unwrap();
    let mut out = vec![0.0; view.elements()];
    view.decode_f32(&mut out).unwrap();
    out
}

fn floats(tensor: &Tensor) -> Vec<f32> {
    let (words, _) = tensor.bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

fn named<'t>(all: &'t [Tensor], name: &str) -> &'t Tensor {
    all.iter().find(|own| own.name == name).unwrap()
}

#[test]
fn every_family_is_read_from_one_file_and_from_shards() {
    for family in llamas() {
        let config = config(family);
        let all = tensors(&config, 5);
        let (one, two) = all.split_at(all.len() / 2);
        let files = [safetensors(&all), safetensors(one), safetensors(two)];
        let whole = [source("model.safetensors", &files[0])];
        let shards = [
            source("1.safetensors", &files[1]),
            source("2.safetensors", &files[2]),
        ];
        let whole = Checkpoint::new(&config, &whole).unwrap();
        let shards = Checkpoint::new(&config, &shards).unwrap();
        for role in ["wq", "wk", "wv", "w_gate", "w_up", "w2"] {
            assert_eq!(
                values(&whole, role, Some(1)),
                values(&shards, role, Some(1))
            );
            let view = whole.tensor(role, Some(1)).unwrap();
            let shape = mind_irv2::checkpoint::shape_of(&config, role);
            assert_eq!(Some(&view.shape), shape.as_ref());
        }
        assert!(whole.tensor("wq", Some(2)).is_none());
        assert_eq!(
            whole.tensor("bq", Some(0)).is_some(),
            family.name() == "qwen2"
        );
    }
}

#[test]
fn fused_rows_are_taken_apart() {
    let config = config(family("phi3"));
    let all = tensors(&config, 6);
    let file = safetensors(&all);
    let own = Checkpoint::new(&config, &[source("model.safetensors", &file)]).unwrap();
    let fused = floats(named(&all, "model.layers.1.self_attn.qkv_proj.weight"));
    let parts = ["wq", "wk", "wv"].map(|role| values(&own, role, Some(1)));
    assert_eq!(parts.concat(), fused);
    let fused = floats(named(&all, "model.layers.0.mlp.gate_up_proj.weight"));
    let parts = ["w_gate", "w_up"].map(|role| values(&own, role, Some(0)));
    assert_eq!(parts.concat(), fused);
}

#[test]
fn a_tied_head_is_the_table_of_embeddings() {
    let own = Parameters {
        tie_word_embeddings: true,
        ..parameters(family("llama"))
    };
    let config = Config::new(own).unwrap();
    let file = safetensors(&tensors(&config, 7));
    let own = Checkpoint::new(&config, &[source("model.safetensors", &file)]).unwrap();
    assert_eq!(
        own.tensor("lm_head_weight", None),
        own.tensor("token_emb", None)
    );
}

/// Returns the tensors with GGUF names, and with interleaved rows of q and k if `permuted`.
pub fn as_gguf(all: &[Tensor], config: &Config, permuted: bool) -> Vec<Tensor> {
    let ends = [
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("self_attn.qkv_proj", "attn_qkv"),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("mlp.gate_up_proj", "ffn_up"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers.", "blk."),
    ];
    let rename = |tensor: &Tensor| {
        let mut tensor = tensor.clone();
        let is_turned = ["q_proj", "k_proj"]
            .iter()
            .any(|own| tensor.name.contains(own));
        for (from, to) in ends {
            tensor.name = tensor.name.replace(from, to);
        }
        if permuted && is_turned {
            // reshape(heads, 2, head_dim / 2, ..).swapaxes(1, 2)
            let half = config.head_dim / 2;
            let row = tensor.bytes.len() / tensor.shape[0];
            let old = tensor.bytes.clone();
            for head in 0..tensor.shape[0] / config.head_dim {
                for part in 0..2 {
                    for i in 0..half {
                        let from = head * config.head_dim + part * half + i;
                        let to = head * config.head_dim + 2 * i + part;
                        tensor.bytes[to * row..][..row].copy_from_slice(&old[from * row..][..row]);
                    }
                }
            }
        }
        tensor
    };
    all.iter().map(rename).collect()
}

pub fn gguf_keys(config: &Config, architecture: &str) -> Vec<(String, Meta)> {
    let natural = |value: usize| Meta::U32(value as u32);
    let own = |key: &str, value: Meta| (format!("{architecture}.{key}"), value);
    vec![
        (
            "general.architecture".to_owned(),
            Meta::Text(architecture.to_owned()),
        ),
        own("block_count", natural(config.num_layers)),
        own("embedding_length", natural(config.hidden_size)),
        own("feed_forward_length", natural(config.intermediate_size)),
        own("attention.head_count", natural(config.num_attention_heads)),
        own("attention.head_count_kv", natural(config.num_kv_heads)),
        own("attention.key_length", natural(config.head_dim)),
        own("context_length", natural(config.context_window)),
        own("attention.layer_norm_rms_epsilon", Meta::F32(1e-5)),
        own("rope.freq_base", Meta::F32(1e4)),
    ]
}

fn gguf_file(config: &Config, all: &[Tensor], architecture: &str) -> Vec<u8> {
    let all = as_gguf(all, config, architecture == "llama");
    gguf(&gguf_keys(config, architecture), &all)
}

const ARCHITECTURES: [(&str, &str); 5] = [
    ("llama", "llama"),
    ("mistral", "llama"),
    ("qwen2", "qwen2"),
    ("qwen3", "qwen3"),
    ("phi3", "phi3"),
];

#[test]
fn gguf_files_hold_the_same_model() {
    for (name, architecture) in ARCHITECTURES {
        let family = family(name);
        let config = config(family);
        let all = tensors(&config, 8);
        let files = [safetensors(&all), gguf_file(&config, &all, architecture)];
        let ours = Checkpoint::new(&config, &[source("m.safetensors", &files[0])]).unwrap();
        let theirs = Checkpoint::new(&config, &[source("m.gguf", &files[1])]).unwrap();
        let parts = config.family.buffers().iter().flat_map(|own| own.parts());
        for role in parts {
            let global = ["token_emb", "pos_emb", "final_ln_weight", "lm_head_weight"];
            let layer = (!global.contains(&role.as_str())).then_some(1);
            let present = ours.tensor(role, layer).is_some();
            assert_eq!(
                theirs.tensor(role, layer).is_some(),
                present,
                "{family:?} {role:?}"
            );
            if present {
                assert_eq!(
                    values(&ours, role, layer),
                    values(&theirs, role, layer),
                    "{family:?} {role:?}"
                );
            }
        }
        let turned = theirs.tensor("wq", Some(0)).unwrap().permutation;
        assert_eq!(turned == Permutation::None, architecture != "llama");
    }
}

#[test]
fn biases_are_permuted_with_their_rows() {
    let mut own = parameters(family("llama"));
    own.biases = own.family.biases(&["bq", "bk"]);
    let config = Config::new(own).unwrap();
    let all = tensors(&config, 9);
    let file = gguf_file(&config, &all, "llama");
    let own = Checkpoint::new(&config, &[source("m.gguf", &file)]).unwrap();
    let expected = floats(named(&all, "model.layers.1.self_attn.k_proj.bias"));
    assert_eq!(values(&own, "bk", Some(1)), expected);
}

#[test]
fn a_gguf_file_says_its_configuration() {
    for (name, architecture) in ARCHITECTURES {
        let family = family(name);
        let config = config(family);
        let file = gguf_file(&config, &tensors(&config, 10), architecture);
        let (document, _) =
            hf::document(None, &[source("m.gguf", &file)], Families::default()).unwrap();
        let expected = Parameters {
            rms_norm_eps: 1e-5,
            // GGUF files do not distinguish this family from `llama`.
            family: match name {
                "mistral" => llamas()[0],
                _ => family,
            },
            ..parameters(family)
        };
        assert_eq!(*document.config, expected, "{family:?}");
    }
}

#[test]
fn the_checkpoint_wins_over_the_configuration() {
    let mut own = parameters(family("llama"));
    own.biases = own.family.biases(&["bq"]);
    own.tie_word_embeddings = true;
    let config = Config::new(own).unwrap();
    let mut all = tensors(&config, 11);
    for tensor in &mut all {
        if tensor.name.contains("layers.1.mlp.up") {
            tensor.dtype = WeightType::Bf16;
            tensor.bytes.truncate(tensor.bytes.len() / 2);
        }
    }
    let file = safetensors(&all);
    let text = config_json(family("llama"), "")
        .replace("\"head_dim\": 6, ", "")
        .replace("\"num_key_value_heads\": 2, ", "");
    let (document, _) = hf::document(
        Some(&text),
        &[source("m.safetensors", &file)],
        Families::default(),
    )
    .unwrap();
    assert_eq!(*document.config, own);
    assert_eq!(document.dtypes.of("w_up", Some(1)), WeightType::Bf16);
    assert_eq!(document.dtypes.of("w_up", Some(0)), WeightType::F32);
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let config = config(family("llama"));
    let errors = |change: &dyn Fn(&mut Vec<Tensor>)| {
        let mut all = tensors(&config, 12);
        change(&mut all);
        let file = safetensors(&all);
        let found = Checkpoint::new(&config, &[source("m.safetensors", &file)]).unwrap_err();
        let lines = found
            .iter()
            .map(|own| format!("{} {}", own.code.unwrap(), own.message));
        lines.collect::<Vec<_>>()
    };
    assert_eq!(
        errors(&|all| all.retain(|own| own.name != "model.layers.1.self_attn.q_proj.weight")),
        ["E4302 no file has tensor \"model.layers.1.self_attn.q_proj.weight\", `wq` of layer 1"]
    );
    assert_eq!(
        errors(&|all| all.push(Tensor::f32(
            "model.layers.1.self_attn.q_proj.bias",
            &[24],
            &[0.0; 24]
        ))),
        [
            "E4303 m.safetensors: the model has no tensor \"model.layers.1.self_attn.q_proj.bias\", by its configuration"
        ]
    );
    assert_eq!(
        errors(&|all| all.push(Tensor::f32(
            "model.layers.2.input_layernorm.weight",
            &[20],
            &[0.0; 20]
        ))),
        [
            "E4303 m.safetensors: the model has no tensor \"model.layers.2.input_layernorm.weight\", by its configuration"
        ]
    );
    assert_eq!(
        errors(&|all| all.push(Tensor::f32("model.layers.0.moe.weight", &[1], &[0.0]))),
        ["E4303 m.safetensors: models of llama have no tensor \"model.layers.0.moe.weight\""]
    );
    assert_eq!(
        errors(&|all| all[0].shape.reverse()),
        [
            "E4304 m.safetensors: tensor \"model.embed_tokens.weight\" has the shape [20, 37], expected [37, 20]"
        ]
    );
    let all = tensors(&config, 12);
    let files = [safetensors(&all), safetensors(&all[..1])];
    let found = Checkpoint::new(&config, &[source("1", &files[0]), source("2", &files[1])]);
    let found = found.unwrap_err();
    let message = &found.first_error().unwrap().message;
    assert_eq!(
        message,
        "2: tensor \"model.embed_tokens.weight\" is also in 1"
    );
}

#[test]
fn biases_that_a_checkpoint_lacks_are_zero_in_a_document() {
    let mut own = parameters(family("llama"));
    own.biases = own.family.biases(&["bq"]);
    let files = safetensors(&tensors(&Config::new(own).unwrap(), 14));
    let sources = [source("m.safetensors", &files)];
    own.biases = own.family.biases(&["bq", "b2"]);
    let settled = without_missing_biases(&Config::new(own).unwrap(), &sources);
    own.biases = own.family.biases(&["bq"]);
    assert_eq!(*settled, own);
    own.biases = own.family.biases(&[]);
    let settled = without_missing_biases(&Config::new(own).unwrap(), &sources);
    assert_eq!(*settled, own);
}

#[test]
fn files_of_another_architecture_are_refused() {
    let config = config(family("qwen2"));
    let file = gguf_file(&config, &tensors(&config, 13), "llama");
    let found = Checkpoint::new(&config, &[source("m.gguf", &file)]).unwrap_err();
    let message = &found.first_error().unwrap().message;
    assert_eq!(
        message,
        "m.gguf: `general.architecture` is \"llama\", expected \"qwen2\" for the family qwen2"
    );
}
