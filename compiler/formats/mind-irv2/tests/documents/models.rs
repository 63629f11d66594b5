//! Tiny models of every family, as configurations and as checkpoints.

use mind_ir::random::Rng;
use mind_irv2::{
    Activation, Attributes, Config, Document, Family, Foreign, FrequencyFactors, Layers,
    Parameters, Rope, RopeScaling, WeightTypes, Yarn,
};
use mind_weights::WeightType;

use crate::writers::Tensor;

/// The families that follow the plan of llama, by name.
pub const LLAMAS: [&str; 5] = ["llama", "qwen2", "mistral", "qwen3", "phi3"];

/// Returns the shipped family called `name`.
pub fn family(name: &str) -> Family {
    Family::named(name).unwrap()
}

/// Returns the families of [`LLAMAS`].
pub fn llamas() -> [Family; 5] {
    LLAMAS.map(family)
}

/// Returns a tiny model of `family`, in which no extent is a multiple of 16, so that all are padded.
pub fn parameters(own: Family) -> Parameters {
    let head_dim = 6;
    Parameters {
        family: own,
        num_layers: 2,
        hidden_size: 20,
        intermediate_size: 24,
        num_attention_heads: 4,
        num_kv_heads: 2,
        head_dim,
        vocab_size: 37,
        context_window: 50,
        rms_norm_eps: 1e-6,
        rope: Some(Rope {
            theta: 10_000.0,
            scaling: RopeScaling::None,
            factors: None,
            rotary_dims: head_dim,
        }),
        tie_word_embeddings: false,
        biases: match own.name() {
            "qwen2" => own.biases(&["bq", "bk", "bv"]),
            _ => own.biases(&[]),
        },
        experts: None,
        encoder: None,
        activation: Activation::Silu,
        attributes: Attributes::default(),
        sliding_layers: Layers::NONE,
        no_rope_layers: Layers::NONE,
    }
}

/// Returns the checked configuration of the tiny model.
pub fn config(family: Family) -> Config {
    Config::new(parameters(family)).unwrap()
}

/// Returns a document of `parameters` in `bf16`.
pub fn document(parameters: Parameters) -> Document {
    let config = Config::new(parameters).unwrap();
    let mut dtypes = WeightTypes::uniform(&config, WeightType::Bf16, WeightType::F32);
    dtypes.set("pos_emb", WeightType::F32);
    Document {
        config,
        dtypes,
        fused_qkv: false,
        notes: vec!["a note".to_owned()],
        foreign: Foreign::default(),
    }
}

/// Returns parameters that use all features of the format.
pub fn variants() -> Vec<Parameters> {
    let mut all: Vec<Parameters> = llamas().map(parameters).to_vec();
    let llama = parameters(family("llama"));
    let scaled = |scaling| Parameters {
        rope: llama.rope.map(|rope| Rope { scaling, ..rope }),
        ..llama
    };
    all.push(scaled(RopeScaling::Linear { factor: 2.5 }));
    all.push(scaled(RopeScaling::Llama3 {
        factor: 8.0,
        low_freq_factor: 1.0,
        high_freq_factor: 4.0,
        original_context: 32,
    }));
    all.push(scaled(RopeScaling::Dynamic { factor: 2.0 }));
    all.push(scaled(RopeScaling::Yarn(Yarn {
        factor: 4.0,
        attention_factor: 1.138_629_436_111_989,
        beta_fast: 32.0,
        beta_slow: 1.0,
        original_context: 16,
        truncate: false,
    })));
    let factors = |own: [f32; 3]| FrequencyFactors::new(&own).expect("factors");
    all.push(scaled(RopeScaling::LongRope {
        short: factors([1.0, 1.1, 1.2]),
        long: factors([1.0, 3.3, 7.0]),
        attention_factor: 1.19,
        original_context: 20,
    }));
    all.push(Parameters {
        rope: None,
        tie_word_embeddings: true,
        biases: family("llama").biases(&["bo", "b1", "b2"]),
        ..llama
    });
    all.push(Parameters {
        rope: llama.rope.map(|rope| Rope {
            rotary_dims: 4,
            ..rope
        }),
        num_kv_heads: 1,
        num_layers: 1,
        ..llama
    });
    all
}

/// Returns the `config.json` of a tiny model of `family`, with `more` members.
pub fn config_json(family: Family, more: &str) -> String {
    let p = parameters(family);
    format!(
        r#"{{"model_type": "{}", "architectures": ["X"], "num_hidden_layers": {}, "hidden_size": {},
 "intermediate_size": {}, "num_attention_heads": {}, "num_key_value_heads": {}, "head_dim": {}, "vocab_size": {},
 "max_position_embeddings": {}, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "hidden_act": "silu"{more}}}"#,
        family.name(),
        p.num_layers,
        p.hidden_size,
        p.intermediate_size,
        p.num_attention_heads,
        p.num_kv_heads,
        p.head_dim,
        p.vocab_size,
        p.context_window,
    )
}

/// Returns the tensors of a tiny model of one of [`LLAMAS`] with Hugging Face's names, fused if the family fuses them.
pub fn tensors(config: &Config, seed: u64) -> Vec<Tensor> {
    let mut random = Rng::new(seed);
    let mut all = Vec::new();
    let mut add = |name: String, shape: &[usize]| {
        let count = shape.iter().product();
        let values: Vec<f32> = (0..count)
            .map(|_| 2.0 * random.fraction() as f32 - 1.0)
            .collect();
        all.push(Tensor::f32(&name, shape, &values));
    };
    let (d, inner, head) = (
        config.hidden_size,
        config.intermediate_size,
        config.head_dim,
    );
    let (q, kv, vocab) = (config.q_width(), config.kv_width(), config.vocab_size);
    add("model.embed_tokens.weight".to_owned(), &[vocab, d]);
    if config.rope.is_none() {
        let shape = [config.context_window, d];
        add("model.embed_positions.weight".to_owned(), &shape);
    }
    add("model.norm.weight".to_owned(), &[d]);
    if !config.tie_word_embeddings {
        add("lm_head.weight".to_owned(), &[vocab, d]);
    }
    let name = config.family.name();
    let (fused, qk_norm) = (name == "phi3", name == "qwen3");
    let has = |bias: &str| config.has_bias(bias);
    let rows: [(&str, Vec<usize>, bool); 20] = [
        ("input_layernorm.weight", vec![d], true),
        ("post_attention_layernorm.weight", vec![d], true),
        ("self_attn.q_proj.weight", vec![q, d], !fused),
        ("self_attn.q_proj.bias", vec![q], has("bq")),
        ("self_attn.k_proj.weight", vec![kv, d], !fused),
        ("self_attn.k_proj.bias", vec![kv], has("bk")),
        ("self_attn.v_proj.weight", vec![kv, d], !fused),
        ("self_attn.v_proj.bias", vec![kv], has("bv")),
        ("self_attn.o_proj.weight", vec![d, q], true),
        ("self_attn.o_proj.bias", vec![d], has("bo")),
        ("mlp.gate_proj.weight", vec![inner, d], !fused),
        ("mlp.gate_proj.bias", vec![inner], has("b1")),
        ("mlp.up_proj.weight", vec![inner, d], !fused),
        ("mlp.up_proj.bias", vec![inner], has("b1")),
        ("mlp.down_proj.weight", vec![d, inner], true),
        ("mlp.down_proj.bias", vec![d], has("b2")),
        ("self_attn.q_norm.weight", vec![head], qk_norm),
        ("self_attn.k_norm.weight", vec![head], qk_norm),
        ("self_attn.qkv_proj.weight", vec![q + 2 * kv, d], fused),
        ("mlp.gate_up_proj.weight", vec![2 * inner, d], fused),
    ];
    for layer in 0..config.num_layers {
        for (name, shape, _) in rows.iter().filter(|row| row.2) {
            add(format!("model.layers.{layer}.{name}"), shape);
        }
    }
    all
}
