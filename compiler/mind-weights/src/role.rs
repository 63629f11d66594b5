//! What the tensors of a decoder model are called in checkpoints.

/// What a tensor is in the model, by the name of its buffer in IR v2 where it has one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// `token_emb`: embeddings of tokens.
    TokenEmbedding,
    /// `pos_emb`: embeddings of positions.
    PositionEmbedding,
    /// `final_ln_weight`: the scale of the last normalisation.
    FinalNorm,
    /// `lm_head_weight`: from the residual stream to logits.
    LmHead,
    /// `ln1_gamma`: the scale in front of attention.
    AttentionNorm,
    /// `ln2_gamma`: the scale in front of the MLP.
    MlpNorm,
    /// `wq`.
    Query,
    /// `bq`.
    QueryBias,
    /// `wk`.
    Key,
    /// `bk`.
    KeyBias,
    /// `wv`.
    Value,
    /// `bv`.
    ValueBias,
    /// `wo`.
    Output,
    /// `bo`.
    OutputBias,
    /// The upper rows of `w1`.
    Gate,
    /// The upper part of `b1`.
    GateBias,
    /// The lower rows of `w1`.
    Up,
    /// The lower part of `b1`.
    UpBias,
    /// `w2`.
    Down,
    /// `b2`.
    DownBias,
    /// `q_norm`: the scale of the normalisation of query heads.
    QueryNorm,
    /// `k_norm`: the scale of the normalisation of key heads.
    KeyNorm,
    /// Query, key and value rows in one matrix.
    FusedQkv,
    /// Query, key and value biases in one vector.
    FusedQkvBias,
    /// Gate and up rows in one matrix.
    FusedGateUp,
    /// Gate and up biases in one vector.
    FusedGateUpBias,
}

/// Whose names a checkpoint has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// Those of Hugging Face's modules, `model.layers.0.self_attn.q_proj.weight`.
    HuggingFace,
    /// Those of GGUF, `blk.0.attn_q.weight`.
    Gguf,
}

/// Where a tensor belongs in the model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// To a role; layers count from 0, and what belongs to no layer has none.
    Role(Role, Option<usize>),
    /// Nowhere: what the model computes from its configuration, or divides the frequencies of its rotation by.
    Ignored,
}

/// A role, its buffer in IR v2, and its names within the model or its layer.
struct Row(Role, &'static str, &'static str, &'static str);

const GLOBAL: &[Row] = &[
    Row(
        Role::TokenEmbedding,
        "token_emb",
        "embed_tokens.weight",
        "token_embd.weight",
    ),
    Row(
        Role::PositionEmbedding,
        "pos_emb",
        "embed_positions.weight",
        "position_embd.weight",
    ),
    Row(
        Role::FinalNorm,
        "final_ln_weight",
        "norm.weight",
        "output_norm.weight",
    ),
    Row(
        Role::LmHead,
        "lm_head_weight",
        "lm_head.weight",
        "output.weight",
    ),
];

const LAYER: &[Row] = &[
    Row(
        Role::AttentionNorm,
        "ln1_gamma",
        "input_layernorm.weight",
        "attn_norm.weight",
    ),
    Row(
        Role::MlpNorm,
        "ln2_gamma",
        "post_attention_layernorm.weight",
        "ffn_norm.weight",
    ),
    Row(
        Role::Query,
        "wq",
        "self_attn.q_proj.weight",
        "attn_q.weight",
    ),
    Row(
        Role::QueryBias,
        "bq",
        "self_attn.q_proj.bias",
        "attn_q.bias",
    ),
    Row(Role::Key, "wk", "self_attn.k_proj.weight", "attn_k.weight"),
    Row(Role::KeyBias, "bk", "self_attn.k_proj.bias", "attn_k.bias"),
    Row(
        Role::Value,
        "wv",
        "self_attn.v_proj.weight",
        "attn_v.weight",
    ),
    Row(
        Role::ValueBias,
        "bv",
        "self_attn.v_proj.bias",
        "attn_v.bias",
    ),
    Row(
        Role::Output,
        "wo",
        "self_attn.o_proj.weight",
        "attn_output.weight",
    ),
    Row(
        Role::OutputBias,
        "bo",
        "self_attn.o_proj.bias",
        "attn_output.bias",
    ),
    Row(Role::Gate, "w1", "mlp.gate_proj.weight", "ffn_gate.weight"),
    Row(Role::GateBias, "b1", "mlp.gate_proj.bias", "ffn_gate.bias"),
    Row(Role::Up, "w1", "mlp.up_proj.weight", "ffn_up.weight"),
    Row(Role::UpBias, "b1", "mlp.up_proj.bias", "ffn_up.bias"),
    Row(Role::Down, "w2", "mlp.down_proj.weight", "ffn_down.weight"),
    Row(Role::DownBias, "b2", "mlp.down_proj.bias", "ffn_down.bias"),
    Row(
        Role::QueryNorm,
        "q_norm",
        "self_attn.q_norm.weight",
        "attn_q_norm.weight",
    ),
    Row(
        Role::KeyNorm,
        "k_norm",
        "self_attn.k_norm.weight",
        "attn_k_norm.weight",
    ),
    Row(
        Role::FusedQkv,
        "",
        "self_attn.qkv_proj.weight",
        "attn_qkv.weight",
    ),
    Row(
        Role::FusedQkvBias,
        "",
        "self_attn.qkv_proj.bias",
        "attn_qkv.bias",
    ),
    Row(Role::FusedGateUp, "", "mlp.gate_up_proj.weight", ""),
    Row(Role::FusedGateUpBias, "", "mlp.gate_up_proj.bias", ""),
];

/// Whether `name` holds frequencies of rotary embeddings, or divisors of them.
fn is_of_the_rotation(spelling: Spelling, name: &str) -> bool {
    match spelling {
        Spelling::HuggingFace => name.ends_with("rotary_emb.inv_freq"),
        Spelling::Gguf => name == "rope_freqs.weight",
    }
}

impl Role {
    fn row(self) -> &'static Row {
        let mut rows = GLOBAL.iter().chain(LAYER);
        // Every role has a row, which a test holds the tables to.
        rows.find(|row| row.0 == self).unwrap_or(&GLOBAL[0])
    }

    /// Every role.
    pub fn all() -> impl Iterator<Item = Role> {
        GLOBAL.iter().chain(LAYER).map(|row| row.0)
    }

    /// Whether each layer has a tensor of this role.
    pub fn is_per_layer(self) -> bool {
        !GLOBAL.iter().any(|row| row.0 == self)
    }

    /// The buffer of IR v2 that the tensor fills, with others where several roles have the same; `None` for fused ones.
    pub fn buffer(self) -> Option<&'static str> {
        Some(self.row().1).filter(|name| !name.is_empty())
    }

    /// The name in a checkpoint, of layer `layer` for a role that layers have.
    pub fn name(self, spelling: Spelling, layer: Option<usize>) -> String {
        let &Row(role, _, hugging_face, gguf) = self.row();
        match (spelling, layer) {
            (Spelling::HuggingFace, Some(layer)) => format!("model.layers.{layer}.{hugging_face}"),
            (Spelling::HuggingFace, None) if role == Role::LmHead => hugging_face.to_owned(),
            (Spelling::HuggingFace, None) => format!("model.{hugging_face}"),
            (Spelling::Gguf, Some(layer)) => format!("blk.{layer}.{gguf}"),
            (Spelling::Gguf, None) => gguf.to_owned(),
        }
    }
}

/// Where the tensor `name` belongs; `None` for a name that no supported model has.
///
/// The prefix `model.` may be left out, as checkpoints of the model without its head do.
pub fn place(spelling: Spelling, name: &str) -> Option<Place> {
    if is_of_the_rotation(spelling, name) {
        return Some(Place::Ignored);
    }
    let (name, prefix) = match spelling {
        Spelling::HuggingFace => (name.strip_prefix("model.").unwrap_or(name), "layers."),
        Spelling::Gguf => (name, "blk."),
    };
    let own = |row: &&Row, name: &str| match spelling {
        Spelling::HuggingFace => row.2 == name,
        Spelling::Gguf => row.3 == name && !name.is_empty(),
    };
    let Some(rest) = name.strip_prefix(prefix) else {
        let row = GLOBAL.iter().find(|row| own(row, name))?;
        return Some(Place::Role(row.0, None));
    };
    let (digits, rest) = rest.split_once('.')?;
    let layer: usize = digits.parse().ok()?;
    if layer.to_string() != digits {
        return None;
    }
    let row = LAYER.iter().find(|row| own(row, rest))?;
    Some(Place::Role(row.0, Some(layer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_role() {
        for spelling in [Spelling::HuggingFace, Spelling::Gguf] {
            for role in Role::all() {
                let layer = role.is_per_layer().then_some(17);
                let name = role.name(spelling, layer);
                if name == "blk.17." {
                    continue;
                }
                assert_eq!(
                    place(spelling, &name),
                    Some(Place::Role(role, layer)),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn foreign_names_belong_nowhere() {
        let hugging_face = |name| place(Spelling::HuggingFace, name);
        let wq = Some(Place::Role(Role::Query, Some(3)));
        assert_eq!(hugging_face("layers.3.self_attn.q_proj.weight"), wq);
        assert_eq!(
            hugging_face("model.layers.03.self_attn.q_proj.weight"),
            None
        );
        assert_eq!(
            hugging_face("model.layers.3.block_sparse_moe.gate.weight"),
            None
        );
        let inverse = "model.layers.3.self_attn.rotary_emb.inv_freq";
        assert_eq!(hugging_face(inverse), Some(Place::Ignored));
        assert_eq!(
            place(Spelling::Gguf, "rope_freqs.weight"),
            Some(Place::Ignored)
        );
        assert_eq!(place(Spelling::Gguf, "blk.0."), None);
    }
}
