//! What a configuration means where it is silent, by family.

use crate::config::{Biases, Family};

/// When a sliding window is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Window {
    /// Never.
    Never,
    /// Where `use_sliding_window` is true; the width when none is said.
    Asked(usize),
    /// Where `sliding_window` is a number; the width when the key is absent.
    RawHfConfig(Option<usize>),
}

/// The defaults of a family.
pub(super) struct Defaults {
    pub(super) family: Family,
    /// The epsilon of normalisation.
    pub(super) eps: f64,
    /// Key and value heads; as many as query heads without.
    pub(super) kv_heads: Option<usize>,
    /// Elements a head; the width divided by heads without.
    pub(super) head_dim: Option<usize>,
    /// Sliding windows.
    pub(super) window: Window,
    /// The biases that projections have, by `attention_bias` and `mlp_bias`.
    pub(super) biases: fn(attention: bool, mlp: bool) -> Biases,
    /// Whether query and key heads are normalised.
    pub(super) qk_norm: bool,
}

fn llama_biases(attention: bool, mlp: bool) -> Biases {
    Biases {
        q: attention,
        k: attention,
        v: attention,
        o: attention,
        gate_up: mlp,
        down: mlp,
    }
}

fn no_biases(_: bool, _: bool) -> Biases {
    Biases::default()
}

const DEFAULTS: [Defaults; 5] = [
    Defaults {
        family: Family::Llama,
        eps: 1e-6,
        kv_heads: None,
        head_dim: None,
        window: Window::Never,
        biases: llama_biases,
        qk_norm: false,
    },
    Defaults {
        family: Family::Qwen2,
        eps: 1e-6,
        kv_heads: Some(32),
        head_dim: None,
        window: Window::Asked(4096),
        biases: |_, _| Biases {
            q: true,
            k: true,
            v: true,
            ..Biases::default()
        },
        qk_norm: false,
    },
    Defaults {
        family: Family::Mistral,
        eps: 1e-6,
        kv_heads: Some(8),
        head_dim: None,
        window: Window::RawHfConfig(Some(4096)),
        biases: no_biases,
        qk_norm: false,
    },
    Defaults {
        family: Family::Qwen3,
        eps: 1e-6,
        kv_heads: Some(32),
        head_dim: Some(128),
        window: Window::Asked(4096),
        biases: |attention, _| llama_biases(attention, false),
        qk_norm: true,
    },
    Defaults {
        family: Family::Phi3,
        eps: 1e-5,
        kv_heads: None,
        head_dim: None,
        window: Window::RawHfConfig(None),
        biases: no_biases,
        qk_norm: false,
    },
];

/// The defaults of `family`.
pub(super) fn defaults(family: Family) -> &'static Defaults {
    let own = DEFAULTS.iter().find(|own| own.family == family);
    // Every family has its row, which a test holds the table to.
    own.unwrap_or(&DEFAULTS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_row() {
        for family in Family::ALL {
            assert_eq!(defaults(family).family, family);
        }
    }
}
