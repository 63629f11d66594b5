//! The nodes of a plan as ops.

use std::collections::BTreeSet;

use super::emit::{Built, Emitter};
use crate::config::Config;
use crate::kernels::{Call, EMBEDDING, Values};
use crate::layout::buffers::Buffer;
use crate::layout::nodes::{Access, Node, Part, nodes};

/// The buffer in which each layer finds the stream, and that in which it leaves it.
pub(crate) const LAYER_INPUT: &str = "input";
/// What a layer leaves, which is the input of the next.
pub(crate) const LAYER_OUTPUT: &str = "output";
/// What the first layer finds.
pub(crate) const EMBEDDED: &str = "embedded_input";
/// Cosines and sines of the rotation.
pub(crate) const ROTATION: [&str; 2] = ["rope_cos_cache", "rope_sin_cache"];
/// Logits.
pub(crate) const LOGITS: &str = "logits";

/// What the last normalisation leaves.
const NORMALISED: &str = "final_output";
/// One vector for all positions.
pub(crate) const POOLED: &str = "pooled";

/// The attention of a layer.
pub(crate) fn attention(config: &Config) -> Option<&'static Node> {
    nodes(config, Part::Layer).find(|node| node.kernel.is_attention())
}

/// The buffer that rows of tables are left in.
pub(super) fn embedded(config: &Config) -> &'static str {
    let node = nodes(config, Part::First).find(|node| node.op() == EMBEDDING);
    let out = node.and_then(|node| node.arg("out"));
    out.map_or(EMBEDDED, |out| out.buffer.as_str())
}

/// Whether a step of `part` writes `buffer`.
pub(super) fn writes(config: &Config, part: Part, buffer: &str) -> bool {
    nodes(config, part).any(|node| {
        let mut args = node.args.iter();
        args.any(|arg| arg.access.writes() && arg.buffer == buffer)
    })
}

/// The buffer that holds what an encoder says of each position.
pub(super) fn hidden(config: &Config) -> &'static str {
    if writes(config, Part::Last, NORMALISED) {
        NORMALISED
    } else {
        LAYER_OUTPUT
    }
}

/// Of nodes, those that compute `targets`, in their order; what `given` holds is computed elsewhere.
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

/// The weights that a node reads, in the order of its arguments; those that the model lacks are left out.
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
