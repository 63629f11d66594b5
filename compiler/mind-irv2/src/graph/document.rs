//! A whole model as one module, from its document.
//!
//! The weights are the buffers of the document, by the names and in the padded shapes that it gives them, those of
//! a layer behind `layer<l>.`. [`Padding`] says what becomes of their padding. What else a run needs are inputs:
//!
//! | input | shape | holds |
//! |---|---|---|
//! | `tokens` | `i32[tokens]` | token ids |
//! | `positions` | `f32[tokens]` | their positions, 0, 1, 2, ... |
//! | `rope_cos_cache`, `rope_sin_cache` | `f32[tokens, pairs]` | the rotation of each position, where heads rotate |
//!
//! The output is `f32[tokens, vocab]`, the logits behind each token. A query sees keys of no later position.

use mind_core::ops::elementwise::{Add, Log, Relu, Sub};
use mind_core::ops::index::Gather;
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::types::{DType, Dim};
use mind_ir::{Graph, ValueId};
use mind_weights::Role;

use super::attention::{Rotation, Seen, attended};
use super::emit::{BuildError, Built, Emitter, fixed};
use super::layer::{Linear, Projections, Rest, finished, normed, projected};
use super::weight_dtype;
use crate::config::align;
use crate::schema::Document;

/// What becomes of the padding of weights: elements past the true extents, up to the next multiple of 16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Padding {
    /// It is cut off: ops have the true extents, and padding may hold anything.
    #[default]
    Stripped,
    /// It is computed with: ops have the padded extents and no weight is sliced. Padding must hold zeros; then the
    /// logits have the same bits.
    Kept,
}

/// The model of `document` without a cache: all tokens in one pass.
///
/// # Errors
///
/// Extents that no tensor can have.
pub fn model(document: &Document, padding: Padding) -> Result<Graph, BuildError> {
    let mut m = Model {
        e: Emitter::new(),
        document,
        padding,
    };
    let config = &document.config;
    let d = config.hidden_size;
    let tokens = m.e.symbol("tokens");
    let ids = m.e.input("tokens", DType::I32, &[tokens]);
    let positions = m.e.input("positions", DType::F32, &[tokens]);
    let rotation = config.rope.map(|rope| {
        let pairs = rope.rotary_dims / 2;
        let shape = [tokens, fixed(pairs)];
        let mut rows = |name: &str| m.e.input(name, DType::F32, &shape);
        let (cos, sin) = (rows("rope_cos_cache"), rows("rope_sin_cache"));
        Rotation { cos, sin, pairs }
    });
    let mask = m.mask(positions, tokens)?;
    let table = m.matrix(
        "token_emb",
        Role::TokenEmbedding,
        None,
        [config.vocab_size, d],
    )?;
    let mut x = Gather::build(&mut m.e, table, ids)?;
    if config.rope.is_none() {
        let shape = [config.context_window, d];
        let learned = m.matrix("pos_emb", Role::PositionEmbedding, None, shape)?;
        let order = m.e.input("position_ids", DType::I32, &[tokens]);
        let rows = Gather::build(&mut m.e, learned, order)?;
        x = Add::build(&mut m.e, x, rows)?;
    }
    for layer in 0..config.num_layers {
        x = m.layer(layer, x, rotation, mask)?;
    }
    let gamma = m.vector("final_ln_weight", Role::FinalNorm, None, d)?;
    let x = normed(&mut m.e, x, gamma, (d, config.rms_norm_eps))?;
    let head = if config.tie_word_embeddings {
        table
    } else {
        m.matrix("lm_head_weight", Role::LmHead, None, [config.vocab_size, d])?
    };
    let logits = m.e.linear(x, head, None)?;
    Ok(m.e.finish(&[logits]))
}

/// A module while it grows, and the document that it follows.
struct Model<'d> {
    e: Emitter,
    document: &'d Document,
    padding: Padding,
}

impl Model<'_> {
    /// 0 where `positions` of the row is not before that of the column, else negative infinity.
    ///
    /// The logarithm of 1 is +0 and that of 0 is negative infinity; positions differ by whole numbers.
    fn mask(&mut self, positions: ValueId, tokens: Dim) -> Built<ValueId> {
        let e = &mut self.e;
        let rows = Reshape::with(&[tokens, fixed(1)]).build(e, positions)?;
        let columns = Reshape::with(&[fixed(1), tokens]).build(e, positions)?;
        let ahead = Sub::build(e, columns, rows)?;
        let ahead = Relu::build(e, ahead)?;
        let one = e.number(1.0)?;
        let seen = Sub::build(e, one, ahead)?;
        let seen = Relu::build(e, seen)?;
        Log::build(e, seen)
    }

    fn layer(
        &mut self,
        layer: usize,
        x: ValueId,
        rotation: Option<Rotation>,
        mask: ValueId,
    ) -> Built<ValueId> {
        let document = self.document;
        let config = &document.config;
        let (d, heads, kv_heads) = (
            config.hidden_size,
            config.num_attention_heads,
            config.num_kv_heads,
        );
        let at = Some(layer);
        let weights = Projections {
            gamma: self.vector("ln1_gamma", Role::AttentionNorm, at, d)?,
            q: self.heads(
                ["wq", "bq"],
                [Role::Query, Role::QueryBias],
                layer,
                heads,
                config.biases.q,
            )?,
            k: self.heads(
                ["wk", "bk"],
                [Role::Key, Role::KeyBias],
                layer,
                kv_heads,
                config.biases.k,
            )?,
            v: self.heads(
                ["wv", "bv"],
                [Role::Value, Role::ValueBias],
                layer,
                kv_heads,
                config.biases.v,
            )?,
            head_gammas: if config.qk_norm {
                Some([
                    self.vector("q_norm", Role::QueryNorm, at, config.head_dim)?,
                    self.vector("k_norm", Role::KeyNorm, at, config.head_dim)?,
                ])
            } else {
                None
            },
        };
        let [q, keys, values] = projected(&mut self.e, config, x, &weights, rotation)?;
        let seen = Seen { keys, values, mask };
        let mixed = attended(&mut self.e, config, q, seen)?;
        let [gate, up] = self.gate_and_up(layer)?;
        let down = self.matrix("w2", Role::Down, at, [d, config.intermediate_size])?;
        let rest = Rest {
            output: self.output(layer)?,
            gamma: self.vector("ln2_gamma", Role::MlpNorm, at, d)?,
            gate,
            up,
            down: Linear {
                weight: down,
                bias: if config.biases.down {
                    Some(self.vector("b2", Role::DownBias, at, d)?)
                } else {
                    None
                },
            },
        };
        finished(&mut self.e, config, x, mixed, &rest)
    }

    /// A buffer of weights, as `f32`, with its padding.
    fn padded(
        &mut self,
        name: &str,
        role: Role,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Built<ValueId> {
        let dtype = weight_dtype(self.document.dtypes.of(role, layer));
        let name = match layer {
            Some(layer) => format!("layer{layer}.{name}"),
            None => name.to_owned(),
        };
        self.e.weight(&name, (dtype, None), shape)
    }

    /// `[n]` of a buffer of `[align(n)]`.
    fn vector(&mut self, name: &str, role: Role, layer: Option<usize>, n: usize) -> Built<ValueId> {
        let padded = self.padded(name, role, layer, &[align(n)])?;
        self.stripped(padded, 0, n)
    }

    /// `[rows, columns]` of a buffer of `[rows, align(columns)]`; the rows of `w2` are padded too.
    fn matrix(
        &mut self,
        name: &str,
        role: Role,
        layer: Option<usize>,
        [rows, columns]: [usize; 2],
    ) -> Built<ValueId> {
        let outer = match role {
            Role::Down => align(rows),
            _ => rows,
        };
        let padded = self.padded(name, role, layer, &[outer, align(columns)])?;
        let narrow = self.stripped(padded, 1, columns)?;
        self.stripped(narrow, 0, rows)
    }

    /// The leading `n` along an axis, and all of it where padding is kept.
    fn stripped(&mut self, x: ValueId, axis: usize, n: usize) -> Built<ValueId> {
        match self.padding {
            Padding::Stripped => self.e.sliced(x, axis, (0, n)),
            Padding::Kept => Ok(x),
        }
    }

    /// The extent that `n` elements have in ops.
    fn extent(&self, n: usize) -> usize {
        match self.padding {
            Padding::Stripped => n,
            Padding::Kept => align(n),
        }
    }

    /// `[heads head_dim, D]` and `[heads head_dim]` of buffers `[heads, aH, aD]` and `[heads, aH]`.
    fn heads(
        &mut self,
        [weight, bias]: [&str; 2],
        [weight_role, bias_role]: [Role; 2],
        layer: usize,
        heads: usize,
        has_bias: bool,
    ) -> Built<Linear> {
        let config = &self.document.config;
        let (d, head) = (config.hidden_size, config.head_dim);
        let padded = self.padded(
            weight,
            weight_role,
            Some(layer),
            &[heads, align(head), align(d)],
        )?;
        let narrow = self.stripped(padded, 2, d)?;
        let kept = self.stripped(narrow, 1, head)?;
        let width = heads * self.extent(head);
        let weight =
            Reshape::with(&[fixed(width), fixed(self.extent(d))]).build(&mut self.e, kept)?;
        let bias = if has_bias {
            let padded = self.padded(bias, bias_role, Some(layer), &[heads, align(head)])?;
            let kept = self.stripped(padded, 1, head)?;
            Some(Reshape::with(&[fixed(width)]).build(&mut self.e, kept)?)
        } else {
            None
        };
        Ok(Linear { weight, bias })
    }

    /// `[D, heads head_dim]` of a buffer `[heads, aD, aH]`.
    fn output(&mut self, layer: usize) -> Built<Linear> {
        let config = &self.document.config;
        let (d, head, heads) = (
            config.hidden_size,
            config.head_dim,
            config.num_attention_heads,
        );
        let (has_bias, width) = (config.biases.o, heads * self.extent(head));
        let shape = [heads, align(d), align(head)];
        let padded = self.padded("wo", Role::Output, Some(layer), &shape)?;
        let narrow = self.stripped(padded, 2, head)?;
        let kept = self.stripped(narrow, 1, d)?;
        let turned = Transpose::with()
            .permutation(&[1, 0, 2])
            .build(&mut self.e, kept)?;
        let weight =
            Reshape::with(&[fixed(self.extent(d)), fixed(width)]).build(&mut self.e, turned)?;
        let bias = if has_bias {
            Some(self.vector("bo", Role::OutputBias, Some(layer), d)?)
        } else {
            None
        };
        Ok(Linear { weight, bias })
    }

    /// The two halves of a buffer of `[2 aI, aD]`: gates from row 0, ups from row `aI`.
    fn gate_and_up(&mut self, layer: usize) -> Built<[Linear; 2]> {
        let config = &self.document.config;
        let (d, inner, has_bias) = (
            config.hidden_size,
            config.intermediate_size,
            config.biases.gate_up,
        );
        let (rows, kept) = (align(inner), self.extent(inner));
        let padded = self.padded("w1", Role::Gate, Some(layer), &[2 * rows, align(d)])?;
        let both = self.stripped(padded, 1, d)?;
        let bias = if has_bias {
            Some(self.padded("b1", Role::GateBias, Some(layer), &[2 * rows])?)
        } else {
            None
        };
        let mut half = |start: usize| -> Built<Linear> {
            Ok(Linear {
                weight: self.e.sliced(both, 0, (start, start + kept))?,
                bias: match bias {
                    Some(bias) => Some(self.e.sliced(bias, 0, (start, start + kept))?),
                    None => None,
                },
            })
        };
        Ok([half(0)?, half(rows)?])
    }
}
