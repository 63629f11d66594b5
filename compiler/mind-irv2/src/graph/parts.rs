//! The parts of a model that a run with a cache is made of, each for a fixed number of tokens.
//!
//! A layer is cut in front of and behind its attention, where keys and values of earlier positions come in. Rows of one
//! run do not see each other but through the cache, so a run over some tokens gives each of them the same bits as a
//! run over more. Weights are params, in the shapes of [`Buffer::form`](crate::layout::buffers::Buffer::form); all else
//! are inputs.

use mind_ir::types::{DType, Dim};
use mind_ir::{Graph, ValueId};
use mind_weights::WeightType;

use super::emit::{BuildError, Built, Emitter, fixed};
use super::plan::{self, EMBEDDED, LAYER_INPUT, LAYER_OUTPUT, LOGITS, POOLED, ROTATION};
use super::{quant_format, weight_dtype};
use crate::Config;
use crate::kernels::{Values, ambient};
use crate::layout::buffers::Buffer;
use crate::layout::nodes::{Node, Part, layer_nodes, nodes};

/// What the mask adds to the score of a key that a query may not look at.
pub const MASKED: f32 = f32::NEG_INFINITY;

/// Which steps the layer of `config` has, of all that layers of its plan have. Layers that have the same steps and store
/// their weights alike have the same modules.
pub fn steps(config: &Config) -> Vec<bool> {
    let all = config.family.nodes().iter();
    let all = all.filter(|node| node.part == Part::Layer);
    all.map(|node| node.exists(config)).collect()
}

/// What each param is stored as.
pub type Stored<'d> = &'d dyn Fn(&str) -> WeightType;

/// A part while it is built.
pub(super) struct Builder<'d> {
    pub(super) e: Emitter,
    pub(super) config: &'d Config,
    values: Values,
}

impl<'d> Builder<'d> {
    pub(super) fn new(config: &'d Config) -> Builder<'d> {
        Builder {
            e: Emitter::new(),
            config,
            values: Values::new(),
        }
    }

    /// An input that holds what is in `buffer`.
    pub(super) fn input(&mut self, name: &str, buffer: &'static str, shape: &[usize]) {
        let shape: Vec<Dim> = shape.iter().map(|&extent| fixed(extent)).collect();
        let value = self.e.input(name, DType::F32, &shape);
        self.values.insert(buffer, vec![value]);
    }

    /// Declares the weights that nodes read.
    pub(super) fn weights(&mut self, nodes: &[&'static Node], stored: Stored<'_>) -> Built<()> {
        for &node in nodes {
            for buffer in plan::weights_of(self.config, node) {
                let values = self.weight(buffer, stored)?;
                self.values.insert(&buffer.name, values);
            }
        }
        Ok(())
    }

    /// Declares the tensors of a buffer of weights.
    pub(super) fn weight(
        &mut self,
        buffer: &'static Buffer,
        stored: Stored<'_>,
    ) -> Built<Vec<ValueId>> {
        let shape = buffer.form(self.config).shape();
        let mut values = Vec::new();
        for part in buffer.parts() {
            let own = stored(part);
            let storage = (weight_dtype(own), quant_format(own));
            values.push(self.e.weight(part, storage, &shape)?);
        }
        Ok(values)
    }

    /// The module of these nodes with what they leave in `outputs`.
    pub(super) fn finish(
        mut self,
        nodes: &[&'static Node],
        outputs: &[&str],
    ) -> Result<Graph, BuildError> {
        plan::build(&mut self.e, self.config, nodes, &mut self.values)?;
        let mut found: Vec<ValueId> = Vec::new();
        for &name in outputs {
            match self.values.get(name).map(Vec::as_slice) {
                Some(&[value]) => found.push(value),
                Some(_) | None => {
                    return Err(BuildError::Step {
                        op: crate::kernels::ATTENTION,
                        reason: format!("no step leaves one value in `{name}`"),
                    });
                }
            }
        }
        Ok(self.e.finish(&found))
    }
}

/// The buffers that attention of a layer reads, and that which it writes.
///
/// # Errors
///
/// A plan without attention.
pub(super) fn around_attention(
    config: &Config,
) -> Result<([&'static str; 3], &'static str), BuildError> {
    let node = plan::attention(config);
    let bound = |name: &str| Some(node?.arg(name)?.buffer.as_str());
    let all = (|| Some(([bound("q")?, bound("k")?, bound("v")?], bound("attn_out")?)))();
    all.ok_or_else(|| BuildError::Step {
        op: crate::kernels::ATTENTION,
        reason: "no layer has such a step".to_owned(),
    })
}

/// Queries, keys and values of `tokens` tokens of a layer's input. `cos` and `sin` are inputs where heads rotate.
///
/// # Errors
///
/// Extents that no tensor can have, a plan whose steps do not fit each other.
pub fn project(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let (targets, _) = around_attention(config)?;
    let nodes = plan::computing(nodes(config, Part::Layer), &targets, &[LAYER_INPUT]);
    let mut b = Builder::new(config);
    b.input("x", LAYER_INPUT, &[tokens, config.hidden_size]);
    if let Some(rope) = config.rope {
        for (name, buffer) in ["cos", "sin"].into_iter().zip(ROTATION) {
            b.input(name, buffer, &[tokens, rope.rotary_dims / 2]);
        }
    }
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &targets)
}

/// Attention of `tokens` queries over the first `seen` rows of the cache.
///
/// Rows that hold nothing yet must be zero and masked; they change no bit of the result.
///
/// # Errors
///
/// As [`project`].
pub fn attend(config: &Config, tokens: usize, seen: usize) -> Result<Graph, BuildError> {
    let ([q, keys, values], out) = around_attention(config)?;
    let nodes: Vec<&'static Node> = plan::attention(config).into_iter().collect();
    let mut b = Builder::new(config);
    let (head, heads, kv_heads) = (
        config.head_dim,
        config.num_attention_heads,
        config.num_kv_heads,
    );
    b.input("q", q, &[tokens, heads, head]);
    b.input("keys", keys, &[seen, kv_heads, head]);
    b.input("values", values, &[seen, kv_heads, head]);
    b.input("mask", ambient::MASK, &[tokens, seen]);
    b.finish(&nodes, &[out])
}

/// What a layer without experts makes of `tokens` tokens once attention has been paid.
///
/// # Errors
///
/// As [`project`].
pub fn finish(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let (_, mixed) = around_attention(config)?;
    let all = layer_nodes(config, false);
    let nodes = plan::computing(all, &[LAYER_OUTPUT], &[LAYER_INPUT, mixed]);
    let mut b = Builder::new(config);
    b.input("x", LAYER_INPUT, &[tokens, config.hidden_size]);
    b.input("mixed", mixed, &[tokens, config.q_width()]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[LAYER_OUTPUT])
}

/// The logits of `rows` rows of the last layer's output.
///
/// # Errors
///
/// As [`project`].
pub fn head(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let nodes = plan::computing(nodes(config, Part::Last), &[LOGITS], &[LAYER_OUTPUT]);
    let mut b = Builder::new(config);
    b.input("x", LAYER_OUTPUT, &[rows, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[LOGITS])
}

/// Whether something follows the rows of tables in front of the layers.
pub fn has_embed(config: &Config) -> bool {
    plan::embedded(config) != EMBEDDED
}

/// What the first layer of an encoder reads, of `tokens` rows that were read from tables; where [`has_embed`].
///
/// # Errors
///
/// As [`project`].
pub fn embed(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let summed = plan::embedded(config);
    let nodes = plan::computing(nodes(config, Part::First), &[EMBEDDED], &[summed]);
    let mut b = Builder::new(config);
    b.input("x", summed, &[tokens, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[EMBEDDED])
}

/// Whether something follows the last layer of an encoder.
pub fn has_close(config: &Config) -> bool {
    plan::hidden(config) != LAYER_OUTPUT
}

/// What an encoder says of `tokens` rows of the last layer's output; where [`has_close`].
///
/// # Errors
///
/// As [`project`].
pub fn close(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    let nodes = plan::computing(nodes(config, Part::Last), &[hidden], &[LAYER_OUTPUT]);
    let mut b = Builder::new(config);
    b.input("x", LAYER_OUTPUT, &[tokens, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[hidden])
}

/// Whether the model has one vector for all positions.
pub fn has_pool(config: &Config) -> bool {
    plan::writes(config, Part::Last, POOLED)
}

/// The vector that an encoder makes of the first of `rows` rows of what it says; where [`has_pool`].
///
/// # Errors
///
/// As [`project`].
pub fn pool(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    let nodes = plan::computing(nodes(config, Part::Last), &[POOLED], &[hidden]);
    let mut b = Builder::new(config);
    b.input("x", hidden, &[rows, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[POOLED])
}
