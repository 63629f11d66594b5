//! Decoders in GGUF files.

use std::path::Path;
use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Config, Families, Family, Parameters, hf};
use mind_model::{CheckpointWeights, Model, Runner, Session};
use mind_weights::{MetaValue, Permutation, WeightFile, WeightType};

use crate::families::{self, FAMILIES};
use crate::random::{Tensor, Tensors, family, jit, llama, of_expert, tokens};
use crate::writers::{self, Meta};

/// GGUF names of the weights of a layer, and of all others.
const NAMES: [(&str, &str); 37] = [
    ("token_emb", "token_embd.weight"),
    ("final_ln_weight", "output_norm.weight"),
    ("lm_head_weight", "output.weight"),
    ("ln1_gamma", "attn_norm.weight"),
    ("ln2_gamma", "ffn_norm.weight"),
    ("wq", "attn_q.weight"),
    ("bq", "attn_q.bias"),
    ("wk", "attn_k.weight"),
    ("bk", "attn_k.bias"),
    ("wv", "attn_v.weight"),
    ("bv", "attn_v.bias"),
    ("wo", "attn_output.weight"),
    ("bo", "attn_output.bias"),
    ("w_gate", "ffn_gate.weight"),
    ("b_gate", "ffn_gate.bias"),
    ("w_up", "ffn_up.weight"),
    ("b_up", "ffn_up.bias"),
    ("w2", "ffn_down.weight"),
    ("b2", "ffn_down.bias"),
    ("q_norm", "attn_q_norm.weight"),
    ("k_norm", "attn_k_norm.weight"),
    ("pos_emb", "position_embd.weight"),
    ("final_ln_bias", "output_norm.bias"),
    ("ln1_beta", "attn_norm.bias"),
    ("ln2_beta", "ffn_norm.bias"),
    ("w1", "ffn_up.weight"),
    ("b1", "ffn_up.bias"),
    ("w_qkv", "attn_qkv.weight"),
    ("b_qkv", "attn_qkv.bias"),
    ("w_router", "ffn_gate_inp.weight"),
    ("we_gate", "ffn_gate_exps.weight"),
    ("we_up", "ffn_up_exps.weight"),
    ("we2", "ffn_down_exps.weight"),
    ("ws_gate", "ffn_gate_shexp.weight"),
    ("ws_up", "ffn_up_shexp.weight"),
    ("ws2", "ffn_down_shexp.weight"),
    ("shared_gate", "ffn_gate_inp_shexp.weight"),
];

/// Returns the GGUF architecture name of a family.
fn word(config: &Config) -> &'static str {
    match config.family.name() {
        "mistral" | "mixtral" => "llama",
        "gpt_neox" => "gptneox",
        "qwen2_moe" => "qwen2moe",
        "qwen3_moe" => "qwen3moe",
        name => name,
    }
}

/// Concatenates tensors along rows; with a `shape`, the result is reshaped to it.
fn joined(all: &[&Tensor], shape: Option<Vec<usize>>) -> Tensor {
    let rows = all.iter().map(|own| own.shape[0]).sum();
    let below = [&[rows], &all[0].shape[1..]].concat();
    Tensor {
        shape: shape.unwrap_or(below),
        stored: all[0].stored,
        bytes: all.iter().flat_map(|own| own.bytes.clone()).collect(),
        elements: all.iter().flat_map(|own| own.elements.clone()).collect(),
    }
}

/// Returns the tensors in the layout of files: the experts of a layer are stacked, and some families have fused q, k
/// and v.
fn as_files_have_them(config: &Config, tensors: &Tensors) -> Tensors {
    let mut all = tensors.clone();
    let keeps_together = ["gpt2", "gptneox"].contains(&word(config));
    for layer in 0..config.num_layers {
        let key = |part: &str| (part.to_owned(), Some(layer));
        let take = |all: &mut Tensors, parts: Vec<String>| -> Option<Vec<Tensor>> {
            let parts = parts.iter().map(|part| all.tensors.remove(&key(part)));
            parts.collect()
        };
        let experts = config.experts.filter(|_| config.has_experts(layer));
        for part in ["we_gate", "we_up", "we2"] {
            let count = experts.map_or(0, |own| own.count);
            let own: Vec<String> = (0..count).map(|expert| of_expert(part, expert)).collect();
            if let Some(own) = take(&mut all, own).filter(|own| !own.is_empty()) {
                let shape = [&[count], own[0].shape.as_slice()].concat();
                let own: Vec<&Tensor> = own.iter().collect();
                all.tensors.insert(key(part), joined(&own, Some(shape)));
            }
        }
        for (name, parts) in [("w_qkv", ["wq", "wk", "wv"]), ("b_qkv", ["bq", "bk", "bv"])] {
            let own = parts.map(str::to_owned).to_vec();
            if keeps_together && let Some(own) = take(&mut all, own) {
                let own: Vec<&Tensor> = own.iter().collect();
                all.tensors.insert(key(name), joined(&own, None));
            }
        }
    }
    all
}

/// Returns the number of rotated elements of a head.
fn rotary_dims(config: &Config) -> usize {
    config.rope.map_or(config.head_dim, |rope| rope.rotary_dims)
}

/// Returns a tensor's bytes in the order of an architecture's files: `llama` permutes q and k so that rotations act on
/// neighbours.
fn in_file(word: &str, name: &str, tensor: &Tensor, config: &Config) -> Vec<u8> {
    let is_permuted = ["wq", "wk", "bq", "bk"].contains(&name);
    if word != "llama" || !is_permuted {
        return tensor.bytes.clone();
    }
    let rows = tensor.shape[0];
    let row = tensor.bytes.len() / rows;
    let order = Permutation::Interleaved {
        head_dim: config.head_dim,
        rotary_dims: rotary_dims(config),
    };
    let mut bytes = vec![0; tensor.bytes.len()];
    for (own, from) in tensor.bytes.chunks_exact(row).enumerate() {
        bytes[order.file_row(own) * row..][..row].copy_from_slice(from);
    }
    bytes
}

/// Returns a file with these weights.
pub fn file(config: &Config, tensors: &Tensors) -> Vec<u8> {
    let word = word(config);
    let tensors = &as_files_have_them(config, tensors);
    let experts = config.experts;
    let theta = config.rope.map_or(0.0, |rope| rope.theta);
    let mut counts = vec![
        ("block_count", config.num_layers),
        ("context_length", config.context_window),
        ("embedding_length", config.hidden_size),
        ("feed_forward_length", config.intermediate_size),
        ("attention.head_count", config.num_attention_heads),
        ("attention.head_count_kv", config.num_kv_heads),
        ("attention.key_length", config.head_dim),
        ("rope.dimension_count", rotary_dims(config)),
    ];
    if let Some(own) = experts {
        counts.extend([
            ("expert_count", own.count),
            ("expert_used_count", own.per_token),
            ("expert_feed_forward_length", own.width),
        ]);
        if own.shared_width > 0 {
            counts.push(("expert_shared_feed_forward_length", own.shared_width));
        }
    }
    let eps = match word {
        "gpt2" | "gptneox" => "attention.layer_norm_epsilon",
        _ => "attention.layer_norm_rms_epsilon",
    };
    let reals = [("rope.freq_base", theta), (eps, config.rms_norm_eps)];
    let truths: &[(&str, bool)] = match word {
        "gptneox" => &[("use_parallel_residual", true)],
        _ => &[],
    };
    let mut out = b"GGUF".to_vec();
    out.extend(3u32.to_le_bytes());
    out.extend((tensors.tensors.len() as u64).to_le_bytes());
    let keys = 1 + counts.len() + reals.len() + truths.len();
    out.extend((keys as u64).to_le_bytes());
    let text = |out: &mut Vec<u8>, text: &str| {
        out.extend((text.len() as u64).to_le_bytes());
        out.extend(text.bytes());
    };
    text(&mut out, "general.architecture");
    out.extend(8u32.to_le_bytes());
    text(&mut out, word);
    for (key, value) in counts {
        text(&mut out, &format!("{word}.{key}"));
        out.extend(4u32.to_le_bytes());
        out.extend((value as u32).to_le_bytes());
    }
    for (key, value) in reals {
        text(&mut out, &format!("{word}.{key}"));
        out.extend(6u32.to_le_bytes());
        out.extend((value as f32).to_le_bytes());
    }
    for (key, value) in truths {
        text(&mut out, &format!("{word}.{key}"));
        out.extend(7u32.to_le_bytes());
        out.push(u8::from(*value));
    }
    let mut data: Vec<u8> = Vec::new();
    for ((name, layer), tensor) in &tensors.tensors {
        let (_, own) = NAMES
            .iter()
            .find(|(ours, _)| ours == name)
            .expect("a known name");
        let called = match layer {
            Some(layer) => format!("blk.{layer}.{own}"),
            None => (*own).to_owned(),
        };
        text(&mut out, &called);
        out.extend((tensor.shape.len() as u32).to_le_bytes());
        for &extent in tensor.shape.iter().rev() {
            out.extend((extent as u64).to_le_bytes());
        }
        out.extend(tensor.stored.gguf_code().to_le_bytes());
        data.resize(data.len().next_multiple_of(32), 0);
        out.extend((data.len() as u64).to_le_bytes());
        data.extend(in_file(word, name, tensor, config));
    }
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend(data);
    out
}

/// Returns a small model whose rows are whole blocks of every format.
pub fn wide(own: Family) -> Config {
    let mut p = Parameters {
        family: own,
        ..llama()
    };
    (p.hidden_size, p.intermediate_size, p.head_dim) = (256, 256, 32);
    (p.num_attention_heads, p.num_kv_heads) = (8, 2);
    p.rope = p.rope.map(|rope| mind_irv2::Rope {
        rotary_dims: 32,
        ..rope
    });
    p.biases = match own.name() {
        "qwen2" => own.biases(&["bq", "bk", "bv"]),
        _ => own.biases(&[]),
    };
    Config::new(p).unwrap_or_else(|why| panic!("{why:?}"))
}

/// Returns weights with other storage types in each layer.
pub fn mixed(config: &Config) -> Tensors {
    let mut all = Tensors::random(config, WeightType::Q4K, 41);
    let other = Tensors::random(config, WeightType::Q6K, 42);
    for (key, tensor) in other.tensors {
        let is_other = key.1 == Some(1) && ["wv", "w2"].contains(&key.0.as_str());
        if is_other || key.0 == "token_emb" {
            all.tensors.insert(key, tensor);
        }
    }
    all
}

/// Returns weights with few bits, with a storage type for each part of a layer.
pub fn few_bits(config: &Config) -> Tensors {
    let mut all = Tensors::random(config, WeightType::Q2K, 43);
    for (at, (name, weight_type)) in [
        ("wk", WeightType::Q3K),
        ("wv", WeightType::Iq4Nl),
        ("wo", WeightType::Mxfp4),
        ("w_gate", WeightType::Tq1_0),
        ("w_up", WeightType::Tq1_0),
        ("w2", WeightType::Tq2_0),
    ]
    .into_iter()
    .enumerate()
    {
        let other = Tensors::random(config, weight_type, 44 + at as u64).tensors;
        let own = other.into_iter().filter(|((own, _), _)| own == name);
        let count = all.tensors.len();
        all.tensors.extend(own);
        assert_eq!(all.tensors.len(), count, "{name}");
    }
    all
}

/// Returns the bits of the logits after a prompt, and after one more token.
fn bits(model: Model<'_>, prompt: &[u32]) -> Vec<u32> {
    let mut session = Session::new(Arc::new(model), 20).unwrap();
    let mut logits = session.prefill(prompt).unwrap();
    logits.extend(session.decode(3).unwrap());
    logits.iter().map(|x| x.to_bits()).collect()
}

/// Checks that a file has the same logits as its weights in the model's order.
fn check(family: Family, tensors: &Tensors, config: Config) {
    let bytes = file(&config, tensors);
    let parsed = WeightFile::parse(&bytes).unwrap_or_else(|why| panic!("{why}"));
    let name = "model.gguf".to_owned();
    let sources = [Source { name, file: parsed }];
    let (document, _) =
        hf::document(None, &sources, Families::default()).unwrap_or_else(|why| panic!("{why:?}"));
    let checkpoint = Checkpoint::new(&document.config, &sources);
    let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{why:?}"));
    let prompt = tokens(&config, 6);
    let run = |weights: Box<dyn mind_model::Weights + '_>, config: Config, runner: Runner| {
        let model = Model::new(config, weights, runner);
        bits(model.unwrap_or_else(|why| panic!("{why}")), &prompt)
    };
    let own = run(Box::new(tensors.clone()), config, jit(1));
    let read = CheckpointWeights(checkpoint);
    assert_eq!(
        own,
        run(Box::new(read), document.config, jit(1)),
        "{family:?}"
    );
}

#[test]
fn files_of_every_format_give_the_logits_of_their_weights() {
    for stored in WeightType::all() {
        let config = wide(family("llama"));
        check(
            family("llama"),
            &Tensors::random(&config, stored, 13),
            config,
        );
    }
}

#[test]
fn rows_are_permuted_within_the_part_of_a_head_that_rotates() {
    for family in [family("llama"), family("qwen2")] {
        let whole = wide(family);
        let rope = whole.rope.map(|rope| mind_irv2::Rope {
            rotary_dims: 12,
            ..rope
        });
        let part = mind_irv2::Parameters { rope, ..*whole };
        let config = Config::new(part).unwrap_or_else(|why| panic!("{why:?}"));
        check(
            family,
            &Tensors::random(&config, WeightType::F32, 17),
            config,
        );
    }
}

#[test]
fn only_llama_has_rows_in_another_order() {
    for family in [family("llama"), family("qwen2"), family("qwen3")] {
        let config = wide(family);
        check(family, &mixed(&config), config);
    }
}

#[test]
fn files_of_other_architectures_give_the_logits_of_their_weights() {
    for name in ["gpt2", "gpt_neox", "mixtral", "qwen2_moe", "qwen3_moe"] {
        let of = |row: &&(&str, &str)| row.0 == name;
        let &(_, more) = FAMILIES.iter().find(of).expect("a family");
        let mut p = *families::config(name, more);
        // GGUF headers lack the windows of layers, layers without experts, and whether expert weights are normalised.
        p.attributes.set(mind_irv2::Attribute::SlidingWindow, 0.0);
        p.sliding_layers = mind_irv2::Layers::NONE;
        p.experts = p.experts.map(|own| mind_irv2::Experts {
            dense_layers: mind_irv2::Layers::NONE,
            ..own
        });
        let config = Config::new(p).unwrap_or_else(|why| panic!("{why:?}"));
        check(
            p.family,
            &Tensors::random(&config, WeightType::F32, 19),
            config,
        );
    }
}

#[test]
fn a_header_says_how_far_a_rotation_is_stretched() {
    let config = wide(family("qwen2"));
    let tensors = Tensors::random(&config, WeightType::F32, 19);
    let bytes = file(&config, &tensors);
    let plain = WeightFile::parse(&bytes).expect("a header");
    let views = plain.tensors().iter().map(|info| {
        let view = plain.view(info).expect("a type that is known");
        writers::Tensor {
            name: info.name.clone(),
            dtype: view.dtype,
            shape: view.shape,
            bytes: view.bytes.to_vec(),
        }
    });
    let views: Vec<writers::Tensor> = views.collect();
    let mut keys: Vec<(String, Meta)> = plain
        .metadata()
        .iter()
        .map(|(key, value)| (key.clone(), meta(key, value)))
        .collect();
    let more = [
        ("type", Meta::Text("yarn".to_owned())),
        ("factor", Meta::F32(4.0)),
        ("original_context_length", Meta::U32(100)),
        ("yarn_beta_fast", Meta::F32(16.0)),
        ("attn_factor", Meta::F32(1.5)),
    ];
    keys.extend(more.map(|(key, value)| (format!("qwen2.rope.scaling.{key}"), value)));
    let rope = |bytes: &[u8]| {
        let name = "model.gguf".to_owned();
        let file = WeightFile::parse(bytes).expect("a header");
        let read = hf::document(None, &[Source { name, file }], Families::default());
        let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
        assert!(found.is_empty(), "{found:?}");
        document.config.rope.expect("a rotation").scaling
    };
    let mind_irv2::RopeScaling::Yarn(own) = rope(&writers::gguf(&keys, &views)) else {
        panic!("another rotation");
    };
    assert_eq!((own.factor, own.beta_fast, own.beta_slow), (4.0, 16.0, 1.0));
    assert_eq!((own.original_context, own.truncate), (100, true));
    let growth = 1.5 * (1.0 + 0.1 * 4f64.ln());
    assert!((own.attention_factor - growth).abs() < 1e-12);
}

/// Converts a header value for the writer.
fn meta(key: &str, value: &MetaValue) -> Meta {
    match value {
        MetaValue::Unsigned(value) => Meta::U32(*value as u32),
        MetaValue::Real(value) => Meta::F32(*value as f32),
        MetaValue::Text(text) => Meta::Text(text.clone()),
        other => panic!("{key}: {other}"),
    }
}

/// The file that the command line tests read is up to date with its weights.
#[test]
fn the_tiny_file_is_the_one_that_is_written() {
    let mut p = llama();
    (p.hidden_size, p.intermediate_size, p.num_layers) = (32, 64, 2);
    (p.num_attention_heads, p.num_kv_heads, p.head_dim) = (4, 2, 8);
    (p.vocab_size, p.context_window) = (16, 64);
    p.rope = p.rope.map(|rope| mind_irv2::Rope {
        rotary_dims: 8,
        ..rope
    });
    let config = Config::new(p).unwrap_or_else(|why| panic!("{why:?}"));
    let mut tensors = Tensors::random(&config, WeightType::Q4_0, 61);
    let other = Tensors::random(&config, WeightType::Q8_0, 62);
    let others = other.tensors.into_iter();
    let of_the_last = |(_, layer): &(String, Option<usize>)| *layer == Some(1);
    tensors
        .tensors
        .extend(others.filter(|(key, _)| of_the_last(key)));
    let written = file(&config, &tensors);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../lit_tests/mind-run/inputs/tiny-llama.gguf"
    );
    mind_snapshot::check_file(path, written);
}

/// The same model in three shards, which the command line tests also read, is up to date.
#[test]
fn the_parts_are_those_of_the_tiny_file() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lit_tests/mind-run/inputs");
    let whole = std::fs::read(inputs.join("tiny-llama.gguf")).expect("the tiny file");
    let file = WeightFile::parse(&whole).expect("a header");
    let tensors = file.tensors().iter().map(|info| {
        let view = file.view(info).expect("a type that is known");
        writers::Tensor {
            name: info.name.clone(),
            dtype: view.dtype,
            shape: view.shape,
            bytes: view.bytes.to_vec(),
        }
    });
    let tensors: Vec<writers::Tensor> = tensors.collect();
    let keys = file.metadata().iter();
    let keys = keys.map(|(key, value)| (key.clone(), meta(key, value)));
    let mut keys: Vec<(String, Meta)> = keys.collect();
    for (no, part) in tensors.chunks(tensors.len().div_ceil(3)).enumerate() {
        let own = [("no", no), ("count", 3), ("tensors.count", tensors.len())];
        keys.extend(own.map(|(key, value)| (format!("split.{key}"), Meta::U32(value as u32))));
        let name = format!("tiny-split/tiny-{:05}-of-00003.gguf", no + 1);
        mind_snapshot::check_file(inputs.join(name), writers::gguf(&keys, part));
        // Only the first shard has the keys of the model.
        keys.clear();
    }
}
