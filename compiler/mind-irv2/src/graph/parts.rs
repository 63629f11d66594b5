//! The modules of a run with a KV cache, each for a fixed number of tokens.
//!
//! A layer is split before and after its attention, where the cached keys and values of earlier positions are added.
//! Rows of one run only depend on each other through the cache, so a token has the same bits in a short run as in a
//! long one. Weights are params, in the shapes of [`Buffer::form`](crate::layout::buffers::Buffer::form); all other
//! data are inputs.

use mind_ir::types::{DType, Dim};
use mind_ir::{Graph, ValueId};
use mind_weights::WeightType;

use super::emit::{BuildError, Built, Emitter, fixed};
use super::plan::{self, ENCODED, LOGITS, POOLED, ROTATION, SCORES, Stream};
use super::{quant_format, weight_dtype};
use crate::Config;
use crate::audio::WINDOW;
use crate::kernels::{Values, ambient};
use crate::layout::buffers::Buffer;
use crate::layout::nodes::{Access, Node, PlanSection, layer_nodes, nodes};

/// The mask value of a key that a query must not see.
pub const MASKED: f32 = f32::NEG_INFINITY;

/// Returns for each step of the layer plan whether the layer of `config` has it. Layers with the same steps and the
/// same weight types share their modules.
pub fn steps(config: &Config) -> Vec<bool> {
    let all = config.family.nodes();
    let all = all.filter(|node| node.section == PlanSection::Layer);
    all.map(|node| node.exists(config)).collect()
}

/// Returns the storage type of each param.
pub type Stored<'d> = &'d dyn Fn(&str) -> WeightType;

/// A module under construction.
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

    /// Declares an input with the contents of `buffer`.
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

    /// Appends these nodes; returns the module with the buffers `outputs` as its outputs.
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

/// Returns the buffers that the self-attention of a layer reads, and the buffer that it writes.
///
/// # Errors
///
/// Errors if the plan has no attention.
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

/// Builds the projections of a layer: queries, keys and values of `tokens` tokens. `cos` and `sin` are inputs if heads
/// rotate.
///
/// # Errors
///
/// Errors if extents are too large for tensors, or steps of the plan do not fit together.
pub fn project(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let (targets, _) = around_attention(config)?;
    let input = Stream::in_model(config).input;
    let nodes = plan::computing(nodes(config, PlanSection::Layer), &targets, &[input]);
    let mut b = Builder::new(config);
    b.input("x", input, &[tokens, config.hidden_size]);
    if let Some(rope) = config.rope {
        for (name, buffer) in ["cos", "sin"].into_iter().zip(ROTATION) {
            b.input(name, buffer, &[tokens, rope.rotary_dims / 2]);
        }
    }
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &targets)
}

/// Builds attention of `tokens` queries over the first `seen` rows of the KV cache.
///
/// Unused rows must be zero and masked; they do not change any bit of the result.
///
/// # Errors
///
/// See [`project`].
pub fn attend(config: &Config, tokens: usize, seen: usize) -> Result<Graph, BuildError> {
    let (looked, out) = around_attention(config)?;
    let nodes: Vec<&'static Node> = plan::attention(config).into_iter().collect();
    let mut b = Builder::new(config);
    attention_inputs(&mut b, config, (tokens, seen), looked);
    b.input("mask", ambient::MASK, &[tokens, seen]);
    if let Some(bias) = distance_buffer(config) {
        b.input("bias", bias, &[config.num_attention_heads, tokens, seen]);
    }
    b.finish(&nodes, &[out])
}

/// Declares queries of `tokens` tokens, and keys and values of `seen` rows, as inputs for the buffers of these names.
fn attention_inputs(
    b: &mut Builder<'_>,
    config: &Config,
    (tokens, seen): (usize, usize),
    [q, keys, values]: [&'static str; 3],
) {
    let (head, heads, kv_heads) = (
        config.head_dim,
        config.num_attention_heads,
        config.num_kv_heads,
    );
    b.input("q", q, &[tokens, heads, head]);
    b.input("keys", keys, &[seen, kv_heads, head]);
    b.input("values", values, &[seen, kv_heads, head]);
}

/// Returns the buffer from which the attention of a layer reads position biases.
fn distance_buffer(config: &Config) -> Option<&'static str> {
    let bias = plan::attention(config)?.arg("bias")?;
    Some(bias.buffer.as_str())
}

/// Returns whether the layers add position biases to scores.
pub fn has_distances(config: &Config) -> bool {
    distance_buffer(config).is_some()
}

/// The buffers around cross-attention in a decoder layer.
struct Crossing {
    /// The queries, keys and values.
    looked: [&'static str; 3],
    /// The output of attention.
    mixed: &'static str,
    /// The residual stream, which steps on both sides of it access.
    kept: &'static str,
}

/// Returns the buffers around cross-attention, where decoder layers are split; `None` if the model has no
/// cross-attention.
///
/// # Errors
///
/// Errors if steps after the split read more than the residual stream of the steps before it.
fn crossing(config: &Config) -> Result<Option<Crossing>, BuildError> {
    let Some(node) = plan::cross_attention(config) else {
        return Ok(None);
    };
    let error = |reason: &str| BuildError::Step {
        op: crate::kernels::CROSS_ATTENTION,
        reason: reason.to_owned(),
    };
    let bound = |name: &str| Some(node.arg(name)?.buffer.as_str());
    let found = (|| Some(([bound("q")?, bound("k")?, bound("v")?], bound("attn_out")?)))();
    let (looked, mixed) = found.ok_or_else(|| error("it has an argument that is not bound"))?;
    let all: Vec<&'static Node> = nodes(config, PlanSection::Layer).collect();
    let at = all.iter().position(|own| std::ptr::eq(*own, node));
    let (front, behind) = all.split_at(at.unwrap_or(0));
    let written = |name: &str| {
        let mut args = front.iter().flat_map(|own| &own.args);
        args.any(|arg| arg.access.writes() && arg.buffer == name)
    };
    let input = Stream::in_model(config).input;
    let mut kept: Vec<&'static str> = Vec::new();
    let mut made = vec![mixed];
    for arg in behind.iter().skip(1).flat_map(|own| &own.args) {
        let name = arg.buffer.as_str();
        let is_read = matches!(arg.access, Access::In | Access::InPlace);
        let is_ahead = (written(name) || name == input) && !made.contains(&name);
        if is_read && is_ahead && !kept.contains(&name) {
            kept.push(name);
        }
        if arg.access.writes() {
            made.push(name);
        }
    }
    match kept.as_slice() {
        &[kept] => Ok(Some(Crossing {
            looked,
            mixed,
            kept,
        })),
        _ => Err(error(
            "the steps after it must read exactly one buffer of those before it",
        )),
    }
}

/// Returns whether layers have cross-attention to encoder output.
pub fn has_source(config: &Config) -> bool {
    plan::cross_attention(config).is_some()
}

/// Builds the cross-attention keys and values of a decoder layer, from `tokens` positions of encoder output. Requires
/// [`has_source`].
///
/// # Errors
///
/// See [`project`].
pub fn source(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let [_, keys, values] = crossed(config)?.looked;
    let nodes = plan::computing(
        nodes(config, PlanSection::Layer),
        &[keys, values],
        &[ENCODED],
    );
    let mut b = Builder::new(config);
    b.input("x", ENCODED, &[tokens, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[keys, values])
}

/// Builds the part of a decoder layer between self-attention and cross-attention: the cross-attention queries and the
/// residual stream of `tokens` tokens. Requires [`has_source`].
///
/// # Errors
///
/// See [`project`].
pub fn cross_query(
    config: &Config,
    tokens: usize,
    stored: Stored<'_>,
) -> Result<Graph, BuildError> {
    let (_, mixed) = around_attention(config)?;
    let Crossing { looked, kept, .. } = crossed(config)?;
    let input = Stream::in_model(config).input;
    let targets = [looked[0], kept];
    let nodes = plan::computing(nodes(config, PlanSection::Layer), &targets, &[input, mixed]);
    let mut b = Builder::new(config);
    b.input("x", input, &[tokens, config.hidden_size]);
    b.input("mixed", mixed, &[tokens, config.q_width()]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &targets)
}

/// Builds cross-attention of `tokens` queries to `seen` rows of encoder output. Requires [`has_source`]. Unused rows
/// must be zero and masked.
///
/// # Errors
///
/// See [`project`].
pub fn cross_attention(config: &Config, tokens: usize, seen: usize) -> Result<Graph, BuildError> {
    let Crossing { looked, mixed, .. } = crossed(config)?;
    let nodes: Vec<&'static Node> = plan::cross_attention(config).into_iter().collect();
    let mut b = Builder::new(config);
    attention_inputs(&mut b, config, (tokens, seen), looked);
    b.input("mask", ambient::SOURCE_MASK, &[tokens, seen]);
    b.finish(&nodes, &[mixed])
}

/// Returns the buffers around cross-attention of a model that must have it.
fn crossed(config: &Config) -> Result<Crossing, BuildError> {
    crossing(config)?.ok_or_else(|| BuildError::Step {
        op: crate::kernels::CROSS_ATTENTION,
        reason: "no layer has such a step".to_owned(),
    })
}

/// Builds the part of a layer without experts after its last attention: cross-attention if [`has_source`], else
/// self-attention.
///
/// # Errors
///
/// See [`project`].
pub fn finish(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let stream = Stream::in_model(config);
    let (kept, mixed) = match crossing(config)? {
        Some(own) => (own.kept, own.mixed),
        None => (stream.input, around_attention(config)?.1),
    };
    let all = layer_nodes(config, false);
    let nodes = plan::computing(all, &[stream.output], &[kept, mixed]);
    let mut b = Builder::new(config);
    b.input("x", kept, &[tokens, config.hidden_size]);
    b.input("mixed", mixed, &[tokens, config.q_width()]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[stream.output])
}

/// Builds the logits of `rows` rows of the last layer's output.
///
/// # Errors
///
/// See [`project`].
pub fn head(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let output = Stream::in_model(config).output;
    each_row(config, rows, (PlanSection::Last, output, LOGITS), stored)
}

/// Builds the steps of `section` from the buffer `from` to the buffer `to`, for `rows` independent rows.
fn each_row(
    config: &Config,
    rows: usize,
    (section, from, to): (PlanSection, &'static str, &'static str),
    stored: Stored<'_>,
) -> Result<Graph, BuildError> {
    let nodes = plan::computing(nodes(config, section), &[to], &[from]);
    let mut b = Builder::new(config);
    b.input("x", from, &[rows, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[to])
}

/// Returns whether steps follow the table lookups before the layers.
pub fn has_embed(config: &Config) -> bool {
    plan::embedded(config) != Stream::in_model(config).embedded
}

/// Builds the input of the first layer from `tokens` rows of the tables. Requires [`has_embed`].
///
/// # Errors
///
/// See [`project`].
pub fn embed(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let summed = plan::embedded(config);
    let embedded = Stream::in_model(config).embedded;
    each_row(
        config,
        tokens,
        (PlanSection::First, summed, embedded),
        stored,
    )
}

/// Returns whether steps follow the last layer of an encoder.
pub fn has_close(config: &Config) -> bool {
    plan::hidden(config) != Stream::in_model(config).output
}

/// Builds the encoder output from `tokens` rows of the last layer's output. Requires [`has_close`].
///
/// # Errors
///
/// See [`project`].
pub fn close(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    let output = Stream::in_model(config).output;
    each_row(config, tokens, (PlanSection::Last, output, hidden), stored)
}

/// Returns whether the model has a pooled vector.
pub fn has_pool(config: &Config) -> bool {
    plan::writes(config, PlanSection::Last, POOLED)
}

/// Builds the pooled vector from the first of `rows` rows of encoder output. Requires [`has_pool`].
///
/// # Errors
///
/// See [`project`].
pub fn pool(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    each_row(config, rows, (PlanSection::Last, hidden, POOLED), stored)
}

/// Returns whether the model has a classifier of images.
pub fn has_classify(config: &Config) -> bool {
    plan::writes(config, PlanSection::Last, SCORES)
}

/// Builds the score of each class from the first of `rows` rows of encoder output. Requires [`has_classify`].
///
/// # Errors
///
/// See [`project`].
pub fn classify(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    each_row(config, rows, (PlanSection::Last, hidden, SCORES), stored)
}

/// Returns whether the model reads patches of an image instead of tokens.
pub fn has_patches(config: &Config) -> bool {
    plan::patch_project(config).is_some()
}

/// Builds the projections of `count` patches of an image. Requires [`has_patches`].
///
/// # Errors
///
/// See [`project`].
pub fn patches(config: &Config, count: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let error = |reason: &str| BuildError::Step {
        op: crate::kernels::PATCH_PROJECT,
        reason: reason.to_owned(),
    };
    let node = plan::patch_project(config).ok_or_else(|| error("the plan has no such step"))?;
    let out = node.arg("out").ok_or_else(|| error("`out` is not bound"))?;
    let image = config.image();
    let elements = image.map_or(0, |own| own.patch_elements());
    let mut b = Builder::new(config);
    b.input("x", ambient::PATCHES, &[count, elements]);
    b.weights(&[node], stored)?;
    b.finish(&[node], &[out.buffer.as_str()])
}

/// Returns whether the model reads audio frames instead of tokens.
pub fn has_frames(config: &Config) -> bool {
    plan::frame_project(config, false).is_some()
}

/// Builds the projections of `count` windows of audio frames, or of windows of every other row of these. Requires
/// [`has_frames`].
///
/// # Errors
///
/// See [`project`].
pub fn frames(
    config: &Config,
    (count, every_other): (usize, bool),
    stored: Stored<'_>,
) -> Result<Graph, BuildError> {
    let error = |reason: &str| BuildError::Step {
        op: crate::kernels::FRAME_PROJECT,
        reason: reason.to_owned(),
    };
    let node = plan::frame_project(config, every_other);
    let node = node.ok_or_else(|| error("no such step reads the windows of frames"))?;
    let bound = |name: &str| node.arg(name).map(|own| own.buffer.as_str());
    let (Some(from), Some(to)) = (bound("input"), bound("out")) else {
        return Err(error("it has an argument that is not bound"));
    };
    let elements = match config.audio() {
        Some(own) if !every_other => own.window_elements(),
        Some(_) | None => WINDOW * config.hidden_size,
    };
    let mut b = Builder::new(config);
    b.input("x", from, &[count, elements]);
    b.weights(&[node], stored)?;
    b.finish(&[node], &[to])
}

/// The tables in which rows of tokens are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tables {
    /// The token table. In a model that reads images it only has the row of the whole image.
    pub tokens: &'static str,
    /// The position table, if there is one.
    pub positions: Option<&'static str>,
    /// The token type table, if there is one.
    pub kinds: Option<&'static str>,
    /// The table of position biases with a row for each bucket, if there is one.
    pub distances: Option<&'static str>,
}

/// Returns the tables of the layers of `config`.
pub fn tables(config: &Config) -> Tables {
    let of = |node: Option<&'static Node>, name: &str| {
        let buffer = config.family.buffer(&node?.arg(name)?.buffer)?;
        config.has(buffer).then_some(buffer.name.as_str())
    };
    let embedding = plan::embedding(config);
    let image = plan::image_embedding(config);
    let tokens = of(embedding, "table").or(of(image, "cls"));
    Tables {
        tokens: tokens.unwrap_or(crate::checkpoint::TABLE),
        positions: of(image.or(plan::frame_embedding(config)).or(embedding), "pos"),
        kinds: of(embedding, "types"),
        distances: of(plan::position_bias(config), "table"),
    }
}
