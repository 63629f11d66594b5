//! Encoders in GGUF files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::{Biases, Config, Families, Parameters, hf};
use mind_model::{CheckpointWeights, Embedding, Encoder, Files, Model, Pooling, WeightsAt};
use mind_weights::{WeightFile, WeightType};

use crate::random::{Tensors, jit, model, tokens};
use crate::sentence::Memory;
use crate::writers::{Meta, Tensor, gguf};

/// GGUF names of the weights of BERT and Nomic BERT; those of layers follow the layer number.
const NAMES: [(&str, &str); 25] = [
    ("token_emb", "token_embd.weight"),
    ("pos_emb", "position_embd.weight"),
    ("token_type_emb", "token_types.weight"),
    ("embed_ln_gamma", "token_embd_norm.weight"),
    ("embed_ln_beta", "token_embd_norm.bias"),
    ("wq", "attn_q.weight"),
    ("bq", "attn_q.bias"),
    ("wk", "attn_k.weight"),
    ("bk", "attn_k.bias"),
    ("wv", "attn_v.weight"),
    ("bv", "attn_v.bias"),
    ("w_qkv", "attn_qkv.weight"),
    ("b_qkv", "attn_qkv.bias"),
    ("wo", "attn_output.weight"),
    ("bo", "attn_output.bias"),
    ("ln1_gamma", "attn_output_norm.weight"),
    ("ln1_beta", "attn_output_norm.bias"),
    ("w1", "ffn_up.weight"),
    ("b1", "ffn_up.bias"),
    ("w_gate", "ffn_gate.weight"),
    ("w_up", "ffn_up.weight"),
    ("w2", "ffn_down.weight"),
    ("b2", "ffn_down.bias"),
    ("ln2_gamma", "layer_output_norm.weight"),
    ("ln2_beta", "layer_output_norm.bias"),
];

/// Returns a small BERT or Nomic BERT without a pooler, as in GGUF files. Its rows are whole blocks of 32.
fn config(family: &str) -> Config {
    let text = format!(
        r#"{{"model_type": "{family}", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96,
        "num_attention_heads": 4, "vocab_size": 37, "max_position_embeddings": 40, "type_vocab_size": 3}}"#
    );
    let read = hf::document(Some(&text), &[], Families::default());
    let (document, _) = read.unwrap_or_else(|why| panic!("{why:?}"));
    let biases = Biases::default();
    let own = Parameters {
        biases,
        ..*document.config
    };
    Config::new(own).unwrap_or_else(|why| panic!("{why:?}"))
}

/// Returns the keys of its header.
fn keys(config: &Config) -> Vec<(String, Meta)> {
    let counts = [
        ("block_count", config.num_layers),
        ("context_length", config.context_window),
        ("embedding_length", config.hidden_size),
        ("feed_forward_length", config.intermediate_size),
        ("attention.head_count", config.num_attention_heads),
        ("pooling_type", 2),
    ];
    let called = config.family.name().replace('_', "-");
    let word = (
        "general.architecture".to_owned(),
        Meta::Text(called.clone()),
    );
    let eps = Meta::F32(config.rms_norm_eps as f32);
    let others = [
        ("attention.layer_norm_epsilon", eps),
        ("attention.causal", Meta::Bool(false)),
    ];
    let counts = counts.map(|(key, count)| (key, Meta::U32(count as u32)));
    let below = counts.into_iter().chain(others);
    let rope = config.rope.iter();
    let rope = rope.map(|rope| ("rope.freq_base", Meta::F32(rope.theta as f32)));
    let below = below.chain(rope);
    let below = below.map(|(key, value)| (format!("{called}.{key}"), value));
    std::iter::once(word).chain(below).collect()
}

/// Returns the weights with the queries, keys and values of each layer fused to one tensor.
fn joined(config: &Config, weights: &Tensors) -> Tensors {
    let mut all = weights.clone();
    for layer in 0..config.num_layers {
        for (name, parts) in [("w_qkv", ["wq", "wk", "wv"]), ("b_qkv", ["bq", "bk", "bv"])] {
            let take = |part: &str| all.tensors.remove(&(part.to_owned(), Some(layer)));
            let mut own = parts.map(take).into_iter().flatten();
            let Some(mut whole) = own.next() else {
                continue;
            };
            for part in own {
                whole.shape[0] += part.shape[0];
                whole.bytes.extend(part.bytes);
            }
            all.tensors.insert((name.to_owned(), Some(layer)), whole);
        }
    }
    all
}

/// Returns its tensors.
fn stored(weights: &Tensors) -> Vec<Tensor> {
    let tensors = weights.tensors.iter().map(|((name, layer), own)| {
        let (_, called) = NAMES.iter().find(|(ours, _)| ours == name).expect("a name");
        Tensor {
            name: match layer {
                Some(layer) => format!("blk.{layer}.{called}"),
                None => (*called).to_owned(),
            },
            dtype: own.stored,
            shape: own.shape.clone(),
            bytes: own.bytes.clone(),
        }
    });
    tensors.collect()
}

#[test]
fn files_of_bert_give_the_vectors_of_their_weights() {
    check("bert", WeightType::F16, |_, weights| weights.clone());
    check("bert", WeightType::Q8_0, |_, weights| weights.clone());
}

#[test]
fn files_may_have_queries_keys_and_values_in_one_tensor() {
    check("bert", WeightType::F16, joined);
    check("nomic_bert", WeightType::F16, joined);
    check("nomic_bert", WeightType::Q8_0, joined);
}

/// Checks a file of a model of `family` with the weights in the order of `as_files_have_them`.
fn check(
    family: &str,
    weight_type: WeightType,
    as_files_have_them: fn(&Config, &Tensors) -> Tensors,
) {
    let config = config(family);
    let (tokens, kinds) = (tokens(&config, 17), [0, 2, 1].repeat(6)[..17].to_vec());
    let bits = |encoder: Encoder<'_>| {
        let encoded = encoder
            .run(&tokens, &kinds)
            .unwrap_or_else(|why| panic!("{why}"));
        let bits = encoded.hidden.iter().map(|x| x.to_bits());
        (bits.collect::<Vec<u32>>(), encoded.pooled)
    };
    let weights = Tensors::random(&config, weight_type, 23);
    let bytes = gguf(
        &keys(&config),
        &stored(&as_files_have_them(&config, &weights)),
    );
    let name = "model.gguf".to_owned();
    let file = WeightFile::parse(&bytes).unwrap_or_else(|why| panic!("{why}"));
    let sources = [Source { name, file }];
    let read = hf::document(None, &sources, Families::default());
    let (document, found) = read.unwrap_or_else(|why| panic!("{why:?}"));
    assert!(found.is_empty(), "{found:?}");
    let checkpoint = Checkpoint::new(&document.config, &sources);
    let checkpoint = checkpoint.unwrap_or_else(|why| panic!("{why:?}"));
    let read = Model::new(
        document.config,
        Box::new(CheckpointWeights(checkpoint)),
        jit(1),
    );
    let read = Encoder::new(Arc::new(read.unwrap_or_else(|why| panic!("{why}"))));
    let own = Encoder::new(model(config, &weights, jit(1)));
    let [read, own] = [read, own].map(|own| bits(own.unwrap_or_else(|why| panic!("{why}"))));
    assert_eq!(read, own, "{family} {weight_type}");
}

#[test]
fn a_header_says_how_vectors_become_one_and_what_is_refused() {
    let config = config("bert");
    let tensors = stored(&Tensors::random(&config, WeightType::F32, 24));
    let said = |key: &str, value: Option<Meta>| {
        let mut keys = keys(&config);
        keys.retain(|(own, _)| own != key);
        keys.extend(value.map(|value| (key.to_owned(), value)));
        let path = Path::new("model.gguf").to_owned();
        let mut host = Memory(BTreeMap::from([(path.clone(), gguf(&keys, &tensors))]));
        let files = Files::open(&path, WeightsAt::Beside, &mut host).expect("a file");
        files.model().map_err(|why| why.to_string())?;
        let how = Embedding::of(&files, &mut host).map_err(|why| why.to_string())?;
        Ok::<_, String>((how.pooling, how.normalizes))
    };
    let pooling = |number: u32| said("bert.pooling_type", Some(Meta::U32(number)));
    assert_eq!(pooling(1), Ok((Pooling::Mean, false)));
    assert_eq!(pooling(2), Ok((Pooling::Cls, false)));
    assert_eq!(said("bert.pooling_type", None), Ok((Pooling::Mean, false)));
    let refused = pooling(3).unwrap_err();
    assert!(
        refused.contains("`bert.pooling_type` is 3, which is not supported"),
        "{refused}"
    );
    let refused = said("bert.attention.causal", Some(Meta::Bool(true))).unwrap_err();
    assert!(refused.contains("a position sees all others"), "{refused}");
    let refused = said("bert.attention.layer_norm_epsilon", None).unwrap_err();
    assert!(
        refused.contains("`bert.attention.layer_norm_epsilon` is missing"),
        "{refused}"
    );
}
