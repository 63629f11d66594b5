//! A decoder with the shape of Qwen2-0.5B.

use mind_irv2::{Activation, Attributes, Family, Layers, Parameters, Rope, RopeScaling};
use mind_weights::WeightType;

/// Hidden size.
const HIDDEN: usize = 896;
/// Hidden size of the feed-forward part of a layer.
const INTERMEDIATE: usize = 4864;

/// Returns the model with `layers` layers and a vocabulary of `vocab_size` tokens. The head may be tied to the
/// embeddings.
pub fn parameters(layers: usize, vocab_size: usize, tie_word_embeddings: bool) -> Parameters {
    // The family is shipped.
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

/// Returns the storage type of the weight `name` if matrices are to be stored as `stored`; vectors are `f32`.
pub fn stored_as(stored: WeightType, name: &str) -> WeightType {
    match name {
        "ln1_gamma" | "ln2_gamma" | "final_ln_weight" | "bq" | "bk" | "bv" => WeightType::F32,
        "w2" => matrix_stored_as(stored, INTERMEDIATE),
        _ => matrix_stored_as(stored, HIDDEN),
    }
}

/// Returns the storage type of a matrix with rows of `inputs` numbers: `stored`, or `q8_0` if rows are not whole blocks
/// of `stored`, as in real files.
pub fn matrix_stored_as(stored: WeightType, inputs: usize) -> WeightType {
    match stored.row_bytes(inputs) {
        Some(_) => stored,
        None => WeightType::Q8_0,
    }
}
