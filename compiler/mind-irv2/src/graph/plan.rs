//! Finds nodes of a plan, and appends their ops.

use std::collections::BTreeSet;

use super::emit::{Built, Emitter};
use crate::config::Config;
use crate::family::Stack;
use crate::kernels::{
    ALIBI, CROSS_ATTENTION, Call, EMBEDDING, FEATURE_WINDOWS, FRAME_EMBEDDING, FRAME_PROJECT,
    FRAME_WINDOWS, IMAGE_EMBEDDING, PATCH_PROJECT, POSITION_BIAS, Values,
};
use crate::layout::buffers::Buffer;
use crate::layout::nodes::{Access, Node, PlanSection, nodes};

/// The buffers that hold the residual stream of a stack of layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stream {
    /// The input of the first layer.
    pub(crate) embedded: &'static str,
    /// The input of each layer.
    pub(crate) input: &'static str,
    /// The output of a layer, which is the input of the next.
    pub(crate) output: &'static str,
    /// The output of the steps after the last layer.
    normalised: &'static str,
}

impl Stream {
    /// The stream of a decoder, or of an encoder-only model.
    pub(crate) const MAIN: Stream = Stream {
        embedded: "embedded_input",
        input: "input",
        output: "output",
        normalised: "final_output",
    };

    /// The stream of the encoder of an encoder-decoder.
    pub(crate) const SOURCE: Stream = Stream {
        embedded: "enc_embedded_input",
        input: "enc_input",
        output: "enc_output",
        normalised: ENCODED,
    };

    /// Returns the stream of a stack.
    pub(crate) const fn of(stack: Stack) -> Stream {
        match stack {
            Stack::Source => Stream::SOURCE,
            Stack::Main => Stream::MAIN,
        }
    }

    /// Returns the stream of the layers of `config`.
    pub(crate) fn in_model(config: &Config) -> Stream {
        Stream::of(config.family.stack())
    }
}

/// The output of the encoder of an encoder-decoder.
pub(crate) const ENCODED: &str = "encoder_output";
/// Cosines and sines of the rotation.
pub(crate) const ROTATION: [&str; 2] = ["rope_cos_cache", "rope_sin_cache"];
/// Logits.
pub(crate) const LOGITS: &str = "logits";
/// The pooled vector.
pub(crate) const POOLED: &str = "pooled";
/// The scores of classes of images.
pub(crate) const SCORES: &str = "class_scores";

/// Returns the self-attention of a layer.
pub(crate) fn attention(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::Layer).find(|node| node.kernel.is_attention())
}

/// Returns the cross-attention of a layer.
pub(crate) fn cross_attention(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::Layer).find(|node| node.op() == CROSS_ATTENTION)
}

/// Returns the step before the layers that computes position biases.
pub(crate) fn position_bias(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::First).find(|node| node.op() == POSITION_BIAS)
}

/// Returns whether a step before the layers computes ALiBi biases.
pub(crate) fn has_slopes(config: &Config) -> bool {
    nodes(config, PlanSection::First).any(|node| node.op() == ALIBI)
}

/// Returns the step that looks up rows of tables.
pub(super) fn embedding(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::First).find(|node| node.op() == EMBEDDING)
}

/// Returns the step that projects each patch of an image.
pub(super) fn patch_project(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::First).find(|node| node.op() == PATCH_PROJECT)
}

/// Returns the step that prepends the row of the whole image to those of patches.
pub(super) fn image_embedding(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::First).find(|node| node.op() == IMAGE_EMBEDDING)
}

/// Returns the step that projects windows of audio frames, or windows of every other row of the first projection.
pub(crate) fn frame_project(config: &Config, every_other: bool) -> Option<&'static Node> {
    let op = if every_other {
        FRAME_WINDOWS
    } else {
        FEATURE_WINDOWS
    };
    let windows = nodes(config, PlanSection::First).find(|node| node.op() == op)?;
    let made = &windows.arg("out")?.buffer;
    nodes(config, PlanSection::First).find(|node| {
        let reads = node.arg("input").is_some_and(|own| own.buffer == *made);
        node.op() == FRAME_PROJECT && reads
    })
}

/// Returns the step that adds rows of positions to those of frames.
pub(super) fn frame_embedding(config: &Config) -> Option<&'static Node> {
    nodes(config, PlanSection::First).find(|node| node.op() == FRAME_EMBEDDING)
}

/// Returns the buffer that holds the looked up rows of tables.
pub(super) fn embedded(config: &Config) -> &'static str {
    let out = embedding(config).and_then(|node| node.arg("out"));
    out.map_or(Stream::in_model(config).embedded, |out| out.buffer.as_str())
}

/// Returns whether a step of `section` writes `buffer`.
pub(super) fn writes(config: &Config, section: PlanSection, buffer: &str) -> bool {
    nodes(config, section).any(|node| {
        let mut args = node.args.iter();
        args.any(|arg| arg.access.writes() && arg.buffer == buffer)
    })
}

/// Returns the buffer of the encoder output.
pub(crate) fn hidden(config: &Config) -> &'static str {
    let stream = Stream::in_model(config);
    if writes(config, PlanSection::Last, stream.normalised) {
        stream.normalised
    } else {
        stream.output
    }
}

/// Returns the nodes that compute `targets` in their order, given that the buffers `given` are computed elsewhere.
pub(super) fn computing(
    all: impl Iterator<Item = &'static Node>,
    targets: &[&str],
    given: &[&str],
) -> Vec<&'static Node> {
    let all: Vec<&'static Node> = all.collect();
    let mut wanted: BTreeSet<&str> = targets.iter().copied().collect();
    let mut kept = Vec::new();
    for node in all.into_iter().rev() {
        let writes = |name: &str| wanted.contains(name) && !given.contains(&name);
        let mut args = node.args.iter();
        if !args.any(|arg| arg.access.writes() && writes(&arg.buffer)) {
            continue;
        }
        for arg in &node.args {
            match arg.access {
                Access::Out => drop(wanted.remove(arg.buffer.as_str())),
                Access::In | Access::InPlace => {
                    wanted.insert(&arg.buffer);
                }
                Access::Scratch => {}
            }
        }
        kept.push(node);
    }
    kept.reverse();
    kept
}

/// Returns the weights that a node reads and the model has, in the order of its arguments.
pub(super) fn weights_of(
    config: &Config,
    node: &'static Node,
) -> impl Iterator<Item = &'static Buffer> {
    let family = config.family;
    let has = *config;
    let buffers = node
        .args
        .iter()
        .filter_map(move |arg| family.buffer(&arg.buffer));
    buffers.filter(move |buffer| buffer.is_weight() && has.has(buffer))
}

/// Appends the ops of `nodes`.
pub(super) fn build(
    e: &mut Emitter,
    config: &Config,
    nodes: &[&'static Node],
    values: &mut Values,
) -> Built<()> {
    for &node in nodes {
        (node.kernel.build)(&mut Call {
            e,
            config,
            node,
            values,
        })?;
    }
    Ok(())
}
