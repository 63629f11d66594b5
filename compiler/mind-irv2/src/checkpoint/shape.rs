//! The names and shapes of a model's tensors.

use crate::audio::WINDOW;
use crate::config::Config;
use crate::family::{Fused, Layout, Stack};
use crate::layout::buffers::Scope;

/// Returns the unpadded shape of the tensor `part`; `None` if the family does not have it.
pub fn shape_of(config: &Config, part: &str) -> Option<Vec<usize>> {
    let (buffer, _) = config.family.buffer_of(part)?;
    Some(buffer.form(config).shape())
}

/// Returns the shape in which files for the model of `config` store a tensor of the unpadded shape `shape`.
pub(super) fn stored_shape(
    config: &Config,
    shape: Vec<usize>,
    layout: Option<Layout>,
) -> Vec<usize> {
    match (layout, shape.as_slice()) {
        (Some(Layout::Transposed), &[outputs, inputs]) => vec![inputs, outputs],
        (Some(Layout::Row), &[count]) => vec![1, count],
        (Some(Layout::Batch), &[count]) => vec![1, 1, count],
        (Some(Layout::Batch), &[rows, columns]) => vec![1, rows, columns],
        (Some(Layout::Patches), &[outputs, _]) => match config.image() {
            Some(own) => vec![outputs, own.channels, own.patch, own.patch],
            None => shape,
        },
        (Some(Layout::Windows), &[outputs, columns]) => vec![outputs, columns / WINDOW, WINDOW],
        _ => shape,
    }
}

/// Returns the shape of a fused tensor, which has the rows of its parts one after the other.
pub(super) fn fused_shape(config: &Config, fused: &Fused) -> Option<Vec<usize>> {
    let shapes = fused.parts.iter().map(|part| shape_of(config, part));
    let shapes = shapes.collect::<Option<Vec<_>>>()?;
    let mut all = shapes.first()?.clone();
    let rows = shapes.iter().filter_map(|shape| shape.first());
    *all.first_mut()? = rows.fold(0, |sum: usize, rows| sum.saturating_add(*rows));
    Some(all)
}

/// Returns the expert tensors that the model of `config` needs, by part, layer and expert.
pub(super) fn expected_of_experts(config: &Config) -> Vec<(&'static str, usize, usize)> {
    let count = config.experts.map_or(0, |own| own.count);
    let buffers = config.family.buffers().iter();
    let buffers = buffers.filter(|own| own.is_of_experts() && config.has(own));
    let parts: Vec<&'static str> = buffers
        .flat_map(|own| own.parts())
        .map(String::as_str)
        .collect();
    let mut all = Vec::new();
    for layer in (0..config.num_layers).filter(|&layer| config.has_experts(layer)) {
        for &part in &parts {
            all.extend((0..count).map(|expert| (part, layer, expert)));
        }
    }
    all
}

/// Returns the tensors that the model of `config` needs, except those of experts.
pub(super) fn expected(config: &Config) -> Vec<(&'static str, Option<usize>)> {
    let mut all = Vec::new();
    let has = |config: Config, scope, layer| {
        let buffers = config.family.buffers().iter();
        let buffers = buffers.filter(move |own| {
            own.scope == scope && config.has_in(own, layer) && !own.is_of_experts()
        });
        buffers.flat_map(|own| own.parts())
    };
    let globals = has(*config, Scope::Global, None).map(String::as_str);
    let globals = globals.filter(|part| *part != LM_HEAD || !config.tie_word_embeddings);
    all.extend(globals.map(|part| (part, None)));
    for (stack, own) in config.stacks() {
        let scope = match stack {
            Stack::Source => Scope::Encoder,
            Stack::Main => Scope::Layer,
        };
        for layer in 0..own.num_layers {
            let parts = has(own.of_layer(layer), scope, Some(layer));
            all.extend(parts.map(|part| (part.as_str(), Some(layer))));
        }
    }
    all
}

/// The output head of a language model, which may be tied to the embedding table.
pub(crate) const LM_HEAD: &str = "lm_head_weight";
/// The embedding table.
pub(crate) const TABLE: &str = "token_emb";
