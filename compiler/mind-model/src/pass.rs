//! One pass of several tokens through all layers.

use std::ops::Range;
use std::sync::Arc;

use mind_irv2::graph::parts::MASKED;
use mind_irv2::{Config, RotaryStyle};

use crate::cache::Cache;
use crate::error::ModelError;
use crate::mixture::Mixture;
use crate::model::{Model, ONCE, Parts, Placed, Stage};
use crate::part::Part;
use crate::rotation::Rotation;
use crate::sizes::{pass_tokens, seen_rows};
use crate::source::Source;

/// The inputs of a pass other than the KV cache.
#[derive(Clone, Copy)]
pub(crate) struct Sequence<'s, 'w> {
    pub(crate) model: &'s Model<'w>,
    pub(crate) rotation: &'s Rotation,
    /// The encoder output, if the model is an encoder-decoder.
    pub(crate) source: Option<&'s Source>,
}

/// Runs `tokens` through all layers, the first one at position `first`, and writes their keys and values to the cache.
/// Returns the rows of the last layer's output, `[tokens, hidden_size]`.
///
/// # Errors
///
/// A token is outside of the vocabulary; out of memory. The cache then has the positions before `first`, and zeros
/// after them.
pub(crate) fn run(
    of: Sequence<'_, '_>,
    cache: &mut Cache,
    first: usize,
    tokens: &[u32],
) -> Result<Vec<f32>, ModelError> {
    let padded = pass_tokens(tokens.len());
    cache.advance(first);
    let result = layers(of, cache, first, tokens, padded);
    if result.is_err() {
        for layer in 0..of.model.config().num_layers {
            cache.clear(layer, first..first + padded);
        }
    }
    result
}

fn layers(
    Sequence {
        model,
        rotation,
        source,
    }: Sequence<'_, '_>,
    cache: &mut Cache,
    first: usize,
    tokens: &[u32],
    padded: usize,
) -> Result<Vec<f32>, ModelError> {
    let config = model.config();
    let width = config.hidden_size;
    let mut x = vec![0.0; padded * width];
    for (at, (&token, row)) in tokens.iter().zip(x.chunks_exact_mut(width)).enumerate() {
        let position = config.first_position() + first + at;
        let placed = Placed {
            token,
            position,
            kind: 0,
        };
        model.embed(placed, row)?;
    }
    if let Some(part) = model.stage(Stage::Embed(padded))?.get(&ONCE) {
        let mut embedded = x.clone();
        part.run(&[&x], &mut [&mut embedded])?;
        x = embedded;
    }
    let here = first..first + padded;
    let rotations = RotaryStyle::ALL.map(|turning| {
        let mut layers = 0..config.num_layers;
        let used = layers.any(|layer| config.rotary_style(layer) == turning);
        let here = if used { here.clone() } else { 0..0 };
        rotation.rows(turning, here)
    });
    let views = Views::new(model, cache, first..first + tokens.len(), padded)?;
    let project = model.stage(Stage::Project(padded))?;
    let finish = model.stage(Stage::Finish(padded))?;
    let mut mixture = match model.cut() {
        Some(cut) => Some(Mixture::new(model, cut, padded)?),
        None => None,
    };
    let mut across = match source {
        Some(source) => Some(Across::new(model, source, padded)?),
        None => None,
    };
    let mut q = vec![0.0; padded * config.q_width()];
    let mut mixed = q.clone();
    let mut y = x.clone();
    for layer in 0..config.num_layers {
        let [keys, values] = cache.rows_mut(layer, here.clone());
        let [cos, sin] = &rotations[config.rotary_style(layer) as usize];
        let all: [&[f32]; 3] = [&x, cos, sin];
        let inputs = match config.rope {
            Some(_) => &all[..],
            None => &all[..1],
        };
        let owner = (Some(layer), None);
        project[&owner].run(inputs, &mut [&mut q, keys, values])?;
        cache.clear(layer, first + tokens.len()..here.end);
        let view = views.of(config, layer);
        let [keys, values] = cache.seen(layer, view.seen);
        let mut looked: Vec<&[f32]> = vec![&q, keys, values, &view.mask];
        looked.extend(view.distances.as_deref());
        view.attend.run(&looked, &mut [&mut mixed])?;
        let kept = match &mut across {
            Some(own) => own.run(layer, &x, &mut mixed)?,
            None => &x,
        };
        match finish.get(&owner) {
            Some(finish) => finish.run(&[kept, &mixed], &mut [&mut y])?,
            None => {
                if let Some(own) = &mut mixture {
                    own.run(layer, tokens.len(), [&x, &mixed], &mut y)?;
                }
            }
        }
        std::mem::swap(&mut x, &mut y);
    }
    x.truncate(tokens.len() * width);
    Ok(x)
}

/// The attention inputs of a pass that do not depend on the layer.
struct View {
    attend: Arc<Part>,
    /// Rows of the cache that attention reads.
    seen: usize,
    mask: Vec<f32>,
    distances: Option<Vec<f32>>,
}

/// The views of layers without a window, and of those with one if the model has any.
struct Views {
    whole: View,
    narrow: Option<View>,
}

impl Views {
    fn new(
        model: &Model<'_>,
        cache: &Cache,
        positions: Range<usize>,
        padded: usize,
    ) -> Result<Views, ModelError> {
        let config = model.config();
        let layers = 0..config.num_layers;
        let window = |layer| Some((config.window(layer)?, cache.first(layer)));
        let window = layers.clone().find_map(window);
        let base = window.map_or(0, |(_, base)| base);
        let sees_all = layers.clone().any(|layer| config.window(layer).is_none());
        let bases = [if sees_all { 0 } else { base }, base];
        let seen = bases.map(|base| seen_rows(positions.end - base));
        let [whole, narrow] = model.attend(padded, seen)?;
        let view = |attend: Arc<Part>, seen: usize, base: usize, window: Option<usize>| {
            // Masks and distances depend only on differences of positions.
            let first = positions.start - base;
            let distances = model.distances();
            View {
                attend,
                seen,
                mask: mask(first, padded, seen, window),
                distances: distances.map(|own| own.rows(first, padded, seen)),
            }
        };
        Ok(Views {
            whole: view(whole, seen[0], bases[0], None),
            narrow: window.map(|(width, base)| view(narrow, seen[1], base, Some(width))),
        })
    }

    /// Returns the view of a layer.
    fn of(&self, config: &Config, layer: usize) -> &View {
        let narrow = self.narrow.as_ref();
        let narrow = narrow.filter(|_| config.window(layer).is_some());
        narrow.unwrap_or(&self.whole)
    }
}

/// Cross-attention of a pass.
struct Across<'s> {
    source: &'s Source,
    ask: Arc<Parts>,
    look: Arc<Part>,
    mask: Vec<f32>,
    q: Vec<f32>,
    /// The residual stream after self-attention.
    kept: Vec<f32>,
}

impl<'s> Across<'s> {
    fn new(model: &Model<'_>, source: &'s Source, padded: usize) -> Result<Self, ModelError> {
        let config = model.config();
        Ok(Across {
            source,
            ask: model.stage(Stage::Ask(padded))?,
            look: model.look(padded, source.seen())?,
            mask: source.mask(padded),
            q: vec![0.0; padded * config.q_width()],
            kept: vec![0.0; padded * config.hidden_size],
        })
    }

    /// Replaces `mixed`, the result of self-attention, by that of cross-attention. Returns the residual stream between
    /// the two.
    fn run(&mut self, layer: usize, x: &[f32], mixed: &mut [f32]) -> Result<&[f32], ModelError> {
        let outputs: &mut [&mut [f32]] = &mut [&mut self.q, &mut self.kept];
        self.ask[&(Some(layer), None)].run(&[x, mixed], outputs)?;
        let [keys, values] = self.source.rows(layer);
        self.look
            .run(&[&self.q, keys, values, &self.mask], &mut [mixed])?;
        Ok(&self.kept)
    }
}

/// Returns the attention mask, `[tokens, seen]`: 0 for visible keys, and [`MASKED`] at later positions and at those
/// before a window.
fn mask(first: usize, tokens: usize, seen: usize, window: Option<usize>) -> Vec<f32> {
    let mut mask = vec![MASKED; tokens * seen];
    for (at, row) in mask.chunks_exact_mut(seen).enumerate() {
        let visible = (first + at + 1).min(seen);
        let hidden = window.map_or(0, |width| (first + at + 1).saturating_sub(width));
        row[hidden.min(visible)..visible].fill(0.0);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_sees_itself_and_what_was_before() {
        let masks = mask(2, 3, 4, None);
        let seen: Vec<usize> = masks
            .chunks(4)
            .map(|row| row.iter().filter(|&&x| x == 0.0).count())
            .collect();
        assert_eq!(seen, [3, 4, 4]);
        assert_eq!(masks[3], MASKED);
        let narrow = mask(2, 2, 4, Some(2));
        assert_eq!(narrow[..4], [MASKED, 0.0, 0.0, MASKED]);
        assert_eq!(narrow[4..], [MASKED, MASKED, 0.0, 0.0]);
    }
}
