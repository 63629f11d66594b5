//! The modules of a layer with experts after its attention: the steps before the experts, an expert, and the steps
//! after them.
//!
//! A run with a KV cache computes each expert only for its own tokens. The outputs of the experts of a token are added
//! in the order of their numbers, starting from +0, so the layer has the same bits as [`document`](super::document).

use std::collections::BTreeSet;

use mind_ir::Graph;
use mind_ir::types::DType;

use super::emit::{BuildError, fixed};
use super::parts::{Builder, Stored, around_attention};
use super::plan::{self, Stream};
use crate::config::Config;
use crate::kernels::EXPERTS;
use crate::kernels::experts::{ExpertWeights, shared_out};
use crate::layout::buffers::Buffer;
use crate::layout::dims::Dim;
use crate::layout::nodes::{Access, Node, layer_nodes};

/// The split of a layer with experts.
#[derive(Debug)]
pub struct Cut {
    /// The outputs of the steps before the experts: the input of the experts, the routing weights, and other buffers
    /// that the steps after the experts read. Each is `[tokens, width]`.
    pub left: Vec<Crossing>,
    /// The indices in `left` of the buffers that the steps after the experts read.
    pub read: Vec<usize>,
    experts: &'static Node,
    out: &'static str,
}

/// A buffer that crosses the split.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The buffer.
    pub buffer: &'static str,
    /// The elements of each token.
    pub width: usize,
}

fn error(reason: String) -> BuildError {
    BuildError::Step {
        op: EXPERTS,
        reason,
    }
}

/// Returns the split of the model's layers with experts.
///
/// # Errors
///
/// Errors if the plan has no experts, or steps that do not fit this split.
pub fn cut(config: &Config) -> Result<Cut, BuildError> {
    let nodes: Vec<&'static Node> = layer_nodes(config, true).collect();
    let at = nodes.iter().position(|node| node.op() == EXPERTS);
    let at = at.ok_or_else(|| error("no layer has such a step".to_owned()))?;
    let (front, behind) = nodes.split_at(at);
    let experts = behind[0];
    let bound = |name: &str| experts.arg(name).map(|arg| arg.buffer.as_str());
    let (Some(input), Some(routing), Some(out)) = (bound("input"), bound("routing"), bound("out"))
    else {
        return Err(error("it has an argument that is not bound".to_owned()));
    };
    let reads = |node: &&'static Node| -> Vec<&'static str> {
        let args = node.args.iter();
        let args = args.filter(|arg| matches!(arg.access, Access::In | Access::InPlace));
        args.map(|arg| arg.buffer.as_str()).collect()
    };
    let writes = |node: &&'static Node| -> Vec<&'static str> {
        let args = node.args.iter().filter(|arg| arg.access.writes());
        args.map(|arg| arg.buffer.as_str()).collect()
    };
    let written: BTreeSet<&str> = front.iter().flat_map(writes).collect();
    let wanted: BTreeSet<&str> = behind[1..].iter().flat_map(reads).collect();
    let input_of_layer = Stream::in_model(config).input;
    if wanted.contains(input_of_layer) {
        let reason = format!("a step after it reads `{input_of_layer}`");
        return Err(error(reason));
    }
    let mut names = vec![input, routing];
    let others = written.iter().copied();
    names.extend(others.filter(|own| wanted.contains(own) && ![input, routing].contains(own)));
    let left = names.iter().map(|name| crossing(config, name));
    let left = left.collect::<Result<Vec<_>, _>>()?;
    let read = (0..left.len()).filter(|&at| wanted.contains(left[at].buffer));
    Ok(Cut {
        read: read.collect(),
        left,
        experts,
        out,
    })
}

fn crossing(config: &Config, name: &str) -> Result<Crossing, BuildError> {
    let buffer = config.family.buffer(name);
    let rows = buffer.map(|own| (own, own.shape.as_slice()));
    match rows {
        Some((own, [tokens, width])) if tokens.dim == Dim::Tokens => Ok(Crossing {
            buffer: &own.name,
            width: width.unpadded(config),
        }),
        Some(_) | None => Err(error(format!(
            "`{name}` does not have a row for each token"
        ))),
    }
}

/// Builds the steps between attention and the experts for `tokens` tokens, with the outputs [`Cut::left`].
///
/// # Errors
///
/// Errors if extents are too large for tensors, or steps of the plan do not fit together.
pub fn route(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let (_, mixed) = around_attention(config)?;
    let cut = cut(config)?;
    let targets: Vec<&str> = cut.left.iter().map(|own| own.buffer).collect();
    let input = Stream::in_model(config).input;
    let nodes = plan::computing(layer_nodes(config, true), &targets, &[input, mixed]);
    let mut b = Builder::new(config);
    b.input("x", input, &[tokens, config.hidden_size]);
    b.input("mixed", mixed, &[tokens, config.q_width()]);
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &targets)
}

/// Builds an expert for `rows` rows, whose outputs are multiplied by the routing weights, `[rows, 1]`.
///
/// # Errors
///
/// See [`route`].
pub fn expert(config: &Config, rows: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let cut = cut(config)?;
    let mut b = Builder::new(config);
    let wide = [fixed(rows), fixed(cut.left[0].width)];
    let x = b.e.input("x", DType::F32, &wide);
    let share = b.e.input("share", DType::F32, &[fixed(rows), fixed(1)]);
    let mut weights = Vec::new();
    for name in ["w1", "w2"] {
        let buffer: Option<&'static Buffer> = cut
            .experts
            .arg(name)
            .and_then(|arg| config.family.buffer(&arg.buffer));
        let buffer = buffer.ok_or_else(|| error(format!("`{name}` is not bound")))?;
        weights.extend(b.weight(buffer, stored)?);
    }
    let &[gate, up, down] = weights.as_slice() else {
        let reason = format!(
            "it has {} matrices, expected a gate, up and down",
            weights.len()
        );
        return Err(error(reason));
    };
    let weights = ExpertWeights { gate, up, down };
    let out = shared_out(&mut b.e, x, share, weights, config.activation)?;
    Ok(b.e.finish(&[out]))
}

/// Builds the steps after the experts for `tokens` tokens, from the sum of the experts' outputs and the buffers
/// [`Cut::read`].
///
/// # Errors
///
/// See [`route`].
pub fn merge(config: &Config, tokens: usize, stored: Stored<'_>) -> Result<Graph, BuildError> {
    let cut = cut(config)?;
    let read: Vec<Crossing> = cut.read.iter().map(|&at| cut.left[at]).collect();
    let mut given: Vec<&str> = read.iter().map(|own| own.buffer).collect();
    given.push(cut.out);
    let output = Stream::in_model(config).output;
    let nodes = plan::computing(layer_nodes(config, true), &[output], &given);
    let mut b = Builder::new(config);
    b.input(
        cut.out,
        cut.out,
        &[tokens, crossing(config, cut.out)?.width],
    );
    for own in read {
        b.input(own.buffer, own.buffer, &[tokens, own.width]);
    }
    b.weights(&nodes, stored)?;
    b.finish(&nodes, &[output])
}
