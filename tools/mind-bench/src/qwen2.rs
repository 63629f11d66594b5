//! A decoder of the shape of Qwen2-0.5B.

use mind_irv2::{Activation, Attributes, Family, Layers, Parameters, Rope, RopeScaling};
use mind_weights::WeightType;

/// Numbers of a token.
const HIDDEN: usize = 896;
/// Numbers of a token within the feed-forward part of a layer.
const INTERMEDIATE: usize = 4864;

/// The model with `layers` layers and a vocabulary of `vocab_size` tokens, whose embeddings may be its last matrix, too.
pub fn parameters(layers: usize, vocab_size: usize, tie_word_embeddings: bool) -> Parameters {
    // A family of the crate.
    let qwen2 = Family::named("qwen2").unwrap_or(Family::shipped()[0]);
    Parameters {
        family: qwen2,
        num_layers: layers,
        hidden_size: HIDDEN,
        intermediate_size: INTERMEDIATE,
        num_attention_heads: 14,
        num_kv_heads: 2,
        head_dim: 64,
        vocab_size,
        context_window: 32_768,
        rms_norm_eps: 1e-6,
        rope: Some(Rope {
            theta: 1e6,
            scaling: RopeScaling::None,
            factors: None,
            rotary_dims: 64,
        }),
        tie_word_embeddings,
        biases: qwen2.biases(&["bq", "bk", "bv"]),
        experts: None,
        encoder: None,
        activation: Activation::Silu,
        attributes: Attributes::default(),
        sliding_layers: Layers::NONE,
        no_rope_layers: Layers::NONE,
    }
}

/// What the weight called `name` is stored as where matrices are to be stored as `asked`: vectors are `f32`.
pub fn stored_as(asked: WeightType, name: &str) -> WeightType {
    match name {
        "ln1_gamma" | "ln2_gamma" | "final_ln_weight" | "bq" | "bk" | "bv" => WeightType::F32,
        "w2" => matrix_stored_as(asked, INTERMEDIATE),
        _ => matrix_stored_as(asked, HIDDEN),
    }
}

/// What a matrix with rows of `inputs` numbers is stored as: where they are no whole blocks of `asked` as `q8_0`, as files
/// have them.
pub fn matrix_stored_as(asked: WeightType, inputs: usize) -> WeightType {
    match asked.row_bytes(inputs) {
        Some(_) => asked,
        None => WeightType::Q8_0,
    }
}
