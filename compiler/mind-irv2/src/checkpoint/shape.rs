//! Which tensors a model has, and in which shapes.

use mind_weights::Role;

use crate::config::Config;

/// The true shape of the tensor of `role`.
pub fn shape_of(config: &Config, role: Role) -> Vec<usize> {
    let (d, inner) = (config.hidden_size, config.intermediate_size);
    let (q, kv) = (config.q_width(), config.kv_width());
    match role {
        Role::TokenEmbedding | Role::LmHead => vec![config.vocab_size, d],
        Role::PositionEmbedding => vec![config.context_window, d],
        Role::FinalNorm | Role::AttentionNorm | Role::MlpNorm => vec![d],
        Role::Query => vec![q, d],
        Role::QueryBias => vec![q],
        Role::Key | Role::Value => vec![kv, d],
        Role::KeyBias | Role::ValueBias => vec![kv],
        Role::Output => vec![d, q],
        Role::OutputBias | Role::DownBias => vec![d],
        Role::Gate | Role::Up => vec![inner, d],
        Role::GateBias | Role::UpBias => vec![inner],
        Role::Down => vec![d, inner],
        Role::QueryNorm | Role::KeyNorm => vec![config.head_dim],
        Role::FusedQkv => vec![q + 2 * kv, d],
        Role::FusedQkvBias => vec![q + 2 * kv],
        Role::FusedGateUp => vec![2 * inner, d],
        Role::FusedGateUpBias => vec![2 * inner],
    }
}

/// The tensors that the model of `config` has.
pub(super) fn expected(config: &Config) -> Vec<(Role, Option<usize>)> {
    let mut all = vec![(Role::TokenEmbedding, None), (Role::FinalNorm, None)];
    if config.rope.is_none() {
        all.push((Role::PositionEmbedding, None));
    }
    if !config.tie_word_embeddings {
        all.push((Role::LmHead, None));
    }
    let roles: Vec<Role> = Role::all()
        .filter(|role| role.is_per_layer() && has(config, *role))
        .collect();
    for layer in 0..config.num_layers {
        all.extend(roles.iter().map(|&role| (role, Some(layer))));
    }
    all
}

/// Whether layers of `config` have a tensor of `role` of its own.
fn has(config: &Config, role: Role) -> bool {
    let biases = &config.biases;
    match role {
        Role::QueryBias => biases.q,
        Role::KeyBias => biases.k,
        Role::ValueBias => biases.v,
        Role::OutputBias => biases.o,
        Role::GateBias | Role::UpBias => biases.gate_up,
        Role::DownBias => biases.down,
        Role::QueryNorm | Role::KeyNorm => config.qk_norm,
        Role::FusedQkv | Role::FusedQkvBias | Role::FusedGateUp | Role::FusedGateUpBias => false,
        _ => true,
    }
}
