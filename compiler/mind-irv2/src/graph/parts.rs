//! The parts of a model that runs with a cache of keys and values.
//!
//! A run gives its tokens, [`MASKED`] where a query may not look, and the rows of the cache. Each part is one
//! module with known extents. All layers share [`project`], [`attend`] and [`finish`]; weights are the params of
//! a module, named as in [`names`].
//!
//! | part | inputs | outputs |
//! |---|---|---|
//! | [`project`] | `x` `[tokens, D]`, `cos`, `sin` `[tokens, pairs]` | q `[tokens, H, hd]`, k, v `[tokens, K, hd]` |
//! | [`attend`] | `q`, `keys`, `values` `[seen, K, hd]`, `mask` `[tokens, seen]` | `[tokens, H hd]` |
//! | [`finish`] | `x`, `mixed` `[tokens, H hd]` | `[tokens, D]` |
//! | [`head`] | `x` `[rows, D]` | `[rows, V]` |

use mind_ir::Graph;
use mind_ir::types::{DType, Dim};
use mind_weights::WeightType;

use super::attention::{Rotation, Seen, attended};
use super::emit::{BuildError, Built, Emitter, fixed};
use super::layer::{Linear, Projections, Rest, finished, normed, projected};
use super::{quant_format, weight_dtype};
use crate::Config;

/// What the mask adds to the score of a key that a query may not look at.
pub const MASKED: f32 = f32::NEG_INFINITY;

/// What the params of the parts are called.
pub mod names {
    /// Gain of the normalisation in front of attention, `[D]`.
    pub const LN1: &str = "ln1_gamma";
    /// Queries, `[H hd, D]`.
    pub const WQ: &str = "wq";
    /// Keys, `[K hd, D]`.
    pub const WK: &str = "wk";
    /// Values, `[K hd, D]`.
    pub const WV: &str = "wv";
    /// Bias of queries, `[H hd]`.
    pub const BQ: &str = "bq";
    /// Bias of keys, `[K hd]`.
    pub const BK: &str = "bk";
    /// Bias of values, `[K hd]`.
    pub const BV: &str = "bv";
    /// Gain of the normalisation of each head of q, `[hd]`.
    pub const Q_NORM: &str = "q_norm";
    /// Gain of the normalisation of each head of k, `[hd]`.
    pub const K_NORM: &str = "k_norm";
    /// Behind attention, `[D, H hd]`.
    pub const WO: &str = "wo";
    /// Bias behind attention, `[D]`.
    pub const BO: &str = "bo";
    /// Gain of the normalisation in front of the MLP, `[D]`.
    pub const LN2: &str = "ln2_gamma";
    /// Gate, `[I, D]`.
    pub const GATE: &str = "w_gate";
    /// Bias of the gate, `[I]`.
    pub const GATE_BIAS: &str = "b_gate";
    /// Up, `[I, D]`.
    pub const UP: &str = "w_up";
    /// Bias of up, `[I]`.
    pub const UP_BIAS: &str = "b_up";
    /// Down, `[D, I]`.
    pub const DOWN: &str = "w2";
    /// Bias of down, `[D]`.
    pub const DOWN_BIAS: &str = "b2";
    /// Gain of the last normalisation, `[D]`.
    pub const FINAL_LN: &str = "final_ln_weight";
    /// The language model's head, `[V, D]`.
    pub const LM_HEAD: &str = "lm_head_weight";
}

/// What each param is stored as.
pub type Stored<'d> = &'d dyn Fn(&str) -> WeightType;

/// The params of a part while it is built.
struct Weights<'d> {
    e: Emitter,
    stored: Stored<'d>,
}

impl Weights<'_> {
    fn get(&mut self, name: &str, shape: &[usize]) -> Built<mind_ir::ValueId> {
        let stored = (self.stored)(name);
        let storage = (weight_dtype(stored), quant_format(stored));
        self.e.weight(name, storage, shape)
    }

    fn linear(
        &mut self,
        weight: &str,
        bias: (&str, bool),
        [outputs, inputs]: [usize; 2],
    ) -> Built<Linear> {
        let weight = self.get(weight, &[outputs, inputs])?;
        let bias = match bias {
            (name, true) => Some(self.get(name, &[outputs])?),
            (_, false) => None,
        };
        Ok(Linear { weight, bias })
    }

    fn input(&mut self, name: &str, shape: &[usize]) -> mind_ir::ValueId {
        let shape: Vec<Dim> = shape.iter().map(|&extent| fixed(extent)).collect();
        self.e.input(name, DType::F32, &shape)
    }
}

fn start(stored: Stored<'_>) -> Weights<'_> {
    Weights {
        e: Emitter::new(),
        stored,
    }
}

/// Queries, keys and values of `tokens` tokens of a layer's input. `cos` and `sin` are inputs where heads rotate.
///
/// # Errors
///
/// Extents that no tensor can have.
pub fn project(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let mut w = start(stored);
    let (d, head) = (config.hidden_size, config.head_dim);
    let x = w.input("x", &[tokens, d]);
    let rotation = config.rope.map(|rope| {
        let pairs = rope.rotary_dims / 2;
        let mut rows = |name: &str| w.input(name, &[tokens, pairs]);
        let (cos, sin) = (rows("cos"), rows("sin"));
        Rotation { cos, sin, pairs }
    });
    let (biases, q, kv) = (config.biases, config.q_width(), config.kv_width());
    let weights = Projections {
        gamma: w.get(names::LN1, &[d])?,
        q: w.linear(names::WQ, (names::BQ, biases.q), [q, d])?,
        k: w.linear(names::WK, (names::BK, biases.k), [kv, d])?,
        v: w.linear(names::WV, (names::BV, biases.v), [kv, d])?,
        head_gammas: if config.qk_norm {
            Some([
                w.get(names::Q_NORM, &[head])?,
                w.get(names::K_NORM, &[head])?,
            ])
        } else {
            None
        },
    };
    let outputs = projected(&mut w.e, config, x, &weights, rotation)?;
    Ok(w.e.finish(&outputs))
}

/// Attention of `tokens` queries over the first `seen` rows of the cache.
///
/// Rows that hold nothing yet must be zero and masked; they change no bit of the result.
///
/// # Errors
///
/// Extents that no tensor can have.
pub fn attend(config: &Config, tokens: usize, seen: usize) -> Result<Graph, BuildError> {
    let mut w = start(&|_| WeightType::F32);
    let head = config.head_dim;
    let q = w.input("q", &[tokens, config.num_attention_heads, head]);
    let seen = Seen {
        keys: w.input("keys", &[seen, config.num_kv_heads, head]),
        values: w.input("values", &[seen, config.num_kv_heads, head]),
        mask: w.input("mask", &[tokens, seen]),
    };
    let mixed = attended(&mut w.e, config, q, seen)?;
    Ok(w.e.finish(&[mixed]))
}

/// What a layer makes of `tokens` tokens once attention has been paid: projection, residual, MLP, residual.
///
/// # Errors
///
/// Extents that no tensor can have.
pub fn finish(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let mut w = start(stored);
    let (d, inner, biases) = (config.hidden_size, config.intermediate_size, config.biases);
    let x = w.input("x", &[tokens, d]);
    let mixed = w.input("mixed", &[tokens, config.q_width()]);
    let weights = Rest {
        output: w.linear(names::WO, (names::BO, biases.o), [d, config.q_width()])?,
        gamma: w.get(names::LN2, &[d])?,
        gate: w.linear(names::GATE, (names::GATE_BIAS, biases.gate_up), [inner, d])?,
        up: w.linear(names::UP, (names::UP_BIAS, biases.gate_up), [inner, d])?,
        down: w.linear(names::DOWN, (names::DOWN_BIAS, biases.down), [d, inner])?,
    };
    let y = finished(&mut w.e, config, x, mixed, &weights)?;
    Ok(w.e.finish(&[y]))
}

/// The logits of `rows` rows of the last layer's output.
///
/// # Errors
///
/// Extents that no tensor can have.
pub fn head(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let mut w = start(stored);
    let d = config.hidden_size;
    let x = w.input("x", &[rows, d]);
    let gamma = w.get(names::FINAL_LN, &[d])?;
    let table = w.get(names::LM_HEAD, &[config.vocab_size, d])?;
    let x = normed(&mut w.e, x, gamma, (d, config.rms_norm_eps))?;
    let logits = w.e.linear(x, table, None)?;
    Ok(w.e.finish(&[logits]))
}
