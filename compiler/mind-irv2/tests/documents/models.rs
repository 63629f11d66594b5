//! Tiny models of every family, as configurations and as checkpoints.

use mind_ir::random::Rng;
use mind_irv2::{
    Biases, Config, Document, Family, Foreign, Parameters, Rope, RopeScaling, WeightTypes,
};
use mind_weights::{Role, Spelling, WeightType};

use crate::writers::Tensor;

/// A tiny model of `family`: no extent is a multiple of 16.
pub fn parameters(family: Family) -> Parameters {
    let head_dim = 6;
    Parameters {
        family,
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
        biases: Biases {
            q: family == Family::Qwen2,
            k: family == Family::Qwen2,
            v: family == Family::Qwen2,
            ..Biases::default()
        },
        qk_norm: family == Family::Qwen3,
    }
}

/// The same, checked.
pub fn config(family: Family) -> Config {
    Config::new(parameters(family)).unwrap()
}

/// A document of `parameters` in `bf16`.
pub fn document(parameters: Parameters) -> Document {
    let mut dtypes = WeightTypes::uniform(WeightType::Bf16, WeightType::F32);
    dtypes.set(Role::PositionEmbedding, WeightType::F32);
    Document {
        config: Config::new(parameters).unwrap(),
        dtypes,
        fused_qkv: false,
        notes: vec!["a note".to_owned()],
        foreign: Foreign::default(),
    }
}

/// Parameters that use everything the format has.
pub fn variants() -> Vec<Parameters> {
    let mut all: Vec<Parameters> = Family::ALL.map(parameters).to_vec();
    let llama = parameters(Family::Llama);
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
    all.push(Parameters {
        rope: None,
        tie_word_embeddings: true,
        biases: Biases {
            o: true,
            gate_up: true,
            down: true,
            ..Biases::default()
        },
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

/// The `config.json` of a tiny model of `family`, with `more` members.
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

/// The tensors of a tiny model under Hugging Face's names, fused where the family fuses them.
pub fn tensors(config: &Config, seed: u64) -> Vec<Tensor> {
    let mut random = Rng::new(seed);
    let roles = Role::all().filter(|role| exists(config, *role));
    let mut all = Vec::new();
    for role in roles {
        let layers: Vec<Option<usize>> = if role.is_per_layer() {
            (0..config.num_layers).map(Some).collect()
        } else {
            vec![None]
        };
        for layer in layers {
            let shape = mind_irv2::checkpoint::shape_of(config, role);
            let count = shape.iter().product();
            let values: Vec<f32> = (0..count)
                .map(|_| 2.0 * random.fraction() as f32 - 1.0)
                .collect();
            let name = role.name(Spelling::HuggingFace, layer);
            all.push(Tensor::f32(&name, &shape, &values));
        }
    }
    all
}

fn exists(config: &Config, role: Role) -> bool {
    let (biases, fused) = (&config.biases, config.family == Family::Phi3);
    match role {
        Role::PositionEmbedding => config.rope.is_none(),
        Role::LmHead => !config.tie_word_embeddings,
        Role::QueryBias => biases.q,
        Role::KeyBias => biases.k,
        Role::ValueBias => biases.v,
        Role::OutputBias => biases.o,
        Role::GateBias | Role::UpBias => biases.gate_up,
        Role::DownBias => biases.down,
        Role::QueryNorm | Role::KeyNorm => config.qk_norm,
        Role::Query | Role::Key | Role::Value | Role::Gate | Role::Up => !fused,
        Role::FusedQkv | Role::FusedGateUp => fused,
        Role::FusedQkvBias | Role::FusedGateUpBias => false,
        _ => true,
    }
}
