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
use super::plan::{self, ENCODED, LOGITS, POOLED, ROTATION, SCORES, Stream};
use super::{quant_format, weight_dtype};
use crate::Config;
use crate::audio::WINDOW;
use crate::kernels::{Values, ambient};
use crate::layout::buffers::Buffer;
use crate::layout::nodes::{Access, Node, Part, layer_nodes, nodes};

/// What the mask adds to the score of a key that a query may not look at.
pub const MASKED: f32 = f32::NEG_INFINITY;

/// Which steps the layer of `config` has, of all that layers of its plan have. Layers that have the same steps and store
/// their weights alike have the same modules.
pub fn steps(config: &Config) -> Vec<bool> {
    let all = config.family.nodes();
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
    let input = Stream::in_model(config).input;
    let nodes = plan::computing(nodes(config, Part::Layer), &targets, &[input]);
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

/// Attention of `tokens` queries over the first `seen` rows of the cache.
///
/// Rows that hold nothing yet must be zero and masked; they change no bit of the result.
///
/// # Errors
///
/// As [`project`].
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

/// Makes queries of `tokens` tokens, and keys and values of `seen` rows, inputs for the buffers of these names.
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

/// The buffer that attention of a layer reads what distances add to scores from.
fn distance_buffer(config: &Config) -> Option<&'static str> {
    let bias = plan::attention(config)?.arg("bias")?;
    Some(bias.buffer.as_str())
}

/// Whether distances add to the scores of the layers.
pub fn has_distances(config: &Config) -> bool {
    distance_buffer(config).is_some()
}

/// How a layer of a decoder looks at what an encoder says.
struct Crossing {
    /// Queries, keys and values.
    looked: [&'static str; 3],
    /// What attention makes of them.
    mixed: &'static str,
    /// The stream, which steps on both sides of it touch.
    kept: &'static str,
}

/// Where the layers of a decoder are cut at what an encoder says; `None` for another model.
///
/// # Errors
///
/// Steps behind the cut that read more than the stream of what is in front of it.
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
    let all: Vec<&'static Node> = nodes(config, Part::Layer).collect();
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
            "steps behind it read other than one buffer of those in front of it",
        )),
    }
}

/// Whether layers look at what an encoder says.
pub fn has_source(config: &Config) -> bool {
    plan::cross_attention(config).is_some()
}

/// Keys and values of what an encoder says of `tokens` positions, for a layer of a decoder; where [`has_source`].
///
/// # Errors
///
/// As [`project`].
pub fn source(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let [_, keys, values] = crossed(config)?.looked;
    let nodes = plan::computing(nodes(config, Part::Layer), &[keys, values], &[ENCODED]);
    let mut b = Builder::new(config);
    b.input("x", ENCODED, &[tokens, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[keys, values])
}

/// Queries to what an encoder says, and the stream, of `tokens` tokens once attention to their own text has been paid; where
/// [`has_source`].
///
/// # Errors
///
/// As [`project`].
pub fn ask(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let (_, mixed) = around_attention(config)?;
    let Crossing { looked, kept, .. } = crossed(config)?;
    let input = Stream::in_model(config).input;
    let targets = [looked[0], kept];
    let nodes = plan::computing(nodes(config, Part::Layer), &targets, &[input, mixed]);
    let mut b = Builder::new(config);
    b.input("x", input, &[tokens, config.hidden_size]);
    b.input("mixed", mixed, &[tokens, config.q_width()]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &targets)
}

/// Attention of `tokens` queries to `seen` rows of what an encoder says; where [`has_source`]. Rows that hold nothing are
/// zero and masked.
///
/// # Errors
///
/// As [`project`].
pub fn look(config: &Config, tokens: usize, seen: usize) -> Result<Graph, BuildError> {
    let Crossing { looked, mixed, .. } = crossed(config)?;
    let nodes: Vec<&'static Node> = plan::cross_attention(config).into_iter().collect();
    let mut b = Builder::new(config);
    attention_inputs(&mut b, config, (tokens, seen), looked);
    b.input("mask", ambient::SOURCE_MASK, &[tokens, seen]);
    b.finish(&nodes, &[mixed])
}

/// The cut of a model that must have one.
fn crossed(config: &Config) -> Result<Crossing, BuildError> {
    crossing(config)?.ok_or_else(|| BuildError::Step {
        op: crate::kernels::CROSS_ATTENTION,
        reason: "no layer has such a step".to_owned(),
    })
}

/// What a layer without experts makes of `tokens` tokens once attention has been paid: to their own text or, where
/// [`has_source`], to what an encoder says.
///
/// # Errors
///
/// As [`project`].
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

/// The logits of `rows` rows of the last layer's output.
///
/// # Errors
///
/// As [`project`].
pub fn head(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let output = Stream::in_model(config).output;
    each_row(config, rows, (Part::Last, output, LOGITS), stored)
}

/// What the steps of `part` make of each of `rows` rows of the buffer `from`, up to the buffer `to`.
fn each_row(
    config: &Config,
    rows: usize,
    (part, from, to): (Part, &'static str, &'static str),
    stored: Stored<'_>,
) -> Result<Graph, BuildError> {
    let nodes = plan::computing(nodes(config, part), &[to], &[from]);
    let mut b = Builder::new(config);
    b.input("x", from, &[rows, config.hidden_size]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[to])
}

/// Whether something follows the rows of tables in front of the layers.
pub fn has_embed(config: &Config) -> bool {
    plan::embedded(config) != Stream::in_model(config).embedded
}

/// What the first layer reads, of `tokens` rows that were read from tables; where [`has_embed`].
///
/// # Errors
///
/// As [`project`].
pub fn embed(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let summed = plan::embedded(config);
    let embedded = Stream::in_model(config).embedded;
    each_row(config, tokens, (Part::First, summed, embedded), stored)
}

/// Whether something follows the last layer of an encoder.
pub fn has_close(config: &Config) -> bool {
    plan::hidden(config) != Stream::in_model(config).output
}

/// What an encoder says of `tokens` rows of the last layer's output; where [`has_close`].
///
/// # Errors
///
/// As [`project`].
pub fn close(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    let output = Stream::in_model(config).output;
    each_row(config, tokens, (Part::Last, output, hidden), stored)
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
    each_row(config, rows, (Part::Last, hidden, POOLED), stored)
}

/// Whether the model scores classes of images.
pub fn has_classify(config: &Config) -> bool {
    plan::writes(config, Part::Last, SCORES)
}

/// A score for each class of what an encoder says of the first of `rows` rows; where [`has_classify`].
///
/// # Errors
///
/// As [`project`].
pub fn classify(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let hidden = plan::hidden(config);
    each_row(config, rows, (Part::Last, hidden, SCORES), stored)
}

/// Whether the model reads patches of an image in place of tokens.
pub fn has_patches(config: &Config) -> bool {
    plan::patch_project(config).is_some()
}

/// A row of each of `count` patches of an image; where [`has_patches`].
///
/// # Errors
///
/// As [`project`].
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

/// Whether the model reads frames of sound in place of tokens.
pub fn has_frames(config: &Config) -> bool {
    plan::frame_project(config, false).is_some()
}

/// A row of each of `count` frames of sound beside its neighbours, or of every other of these rows beside its neighbours;
/// where [`has_frames`].
///
/// # Errors
///
/// As [`project`].
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

/// The tables that rows of tokens are read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tables {
    /// That of tokens; of a model that reads images the row of an image as a whole alone.
    pub tokens: &'static str,
    /// That of positions, if there is one.
    pub positions: Option<&'static str>,
    /// That of kinds of tokens, if there is one.
    pub kinds: Option<&'static str>,
    /// That of what distances add to scores, a row for each class, if there is one.
    pub distances: Option<&'static str>,
}

/// The tables of the layers of `config`.
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
