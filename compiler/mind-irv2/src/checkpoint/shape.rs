//! Which tensors a model has, and in which shapes.

use crate::config::Config;
use crate::family::Fused;
use crate::layout::buffers::Scope;

/// The true shape of the tensor `part`; `None` if models of the family have no such tensor.
pub fn shape_of(config: &Config, part: &str) -> Option<Vec<usize>> {
    let (buffer, _) = config.family.buffer_of(part)?;
    Some(buffer.form(config).shape())
}

/// The shape of a tensor that holds several.
pub(super) fn fused_shape(config: &Config, fused: &Fused) -> Option<Vec<usize>> {
    let shapes = fused.parts.iter().map(|part| shape_of(config, part));
    let shapes = shapes.collect::<Option<Vec<_>>>()?;
    let mut all = shapes.first()?.clone();
    let rows = shapes.iter().filter_map(|shape| shape.first());
    *all.first_mut()? = rows.fold(0, |sum: usize, rows| sum.saturating_add(*rows));
    Some(all)
}

/// The tensors that the model of `config` has.
pub(super) fn expected(config: &Config) -> Vec<(&'static str, Option<usize>)> {
    let mut all = Vec::new();
    let has = |scope| {
        let buffers = config.family.buffers().iter();
        let buffers = buffers.filter(move |own| own.scope == scope && config.has(own));
        buffers.flat_map(|own| own.parts())
    };
    let globals = has(Scope::Global).map(String::as_str);
    let globals = globals.filter(|part| *part != LM_HEAD || !config.tie_word_embeddings);
    all.extend(globals.map(|part| (part, None)));
    for layer in 0..config.num_layers {
        all.extend(has(Scope::Layer).map(|part| (part.as_str(), Some(layer))));
    }
    all
}

/// The language model's head, which may be the table of embeddings.
pub(crate) const LM_HEAD: &str = "lm_head_weight";
/// The table of embeddings.
pub(crate) const TABLE: &str = "token_emb";
