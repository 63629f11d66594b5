//! The tensors of experts. Files have one per expert, one with gate and up, or one for all experts of a layer.

use std::collections::{BTreeMap, BTreeSet};

use mind_diag::Diagnostics;
use mind_weights::TensorView;

use super::index::{Found, Index, Source};
use super::shape::{expected_of_experts, fused_shape, shape_of};
use super::tensors::{error, missing, stored};
use crate::config::Config;
use crate::family::Fused;

/// Returns the tensors of a model's experts, by part, layer and expert. Used tensors are removed from `left`.
pub(super) fn views<'a>(
    config: &Config,
    index: &Index<'_, 'a>,
    left: &mut BTreeMap<(&'static str, Option<usize>), Found<'_, 'a>>,
    sources: &[Source<'a>],
    found: &mut Diagnostics,
) -> BTreeMap<(&'static str, usize, usize), TensorView<'a>> {
    let count = config.experts.map_or(0, |own| own.count);
    let mut used: BTreeSet<(&str, usize, usize)> = BTreeSet::new();
    let mut views: BTreeMap<_, TensorView<'a>> = BTreeMap::new();
    // Errors about a tensor of all experts, or one that all experts lack, are reported once.
    let mut refused: BTreeSet<(&str, usize)> = BTreeSet::new();
    for (part, layer, expert) in expected_of_experts(config) {
        let mut names = vec![(part, None)];
        let fused = config.family.names().fused_with(part);
        names.extend(fused.map(|own| (own.name.as_str(), Some(own))));
        used.extend(names.iter().map(|&(name, _)| (name, layer, expert)));
        if refused.contains(&(part, layer)) {
            continue;
        }
        let own = names.into_iter().find_map(|(name, fused)| {
            if let Some(own) = index.of_experts.get(&(name, layer, expert)) {
                return Some((*own, fused, None));
            }
            let own = index.tensors.get(&(name, Some(layer)))?;
            left.remove(&(name, Some(layer)));
            Some((*own, fused, Some((expert, count))))
        });
        let Some((own, fused, stacked)) = own else {
            found.push(missing(config, part, (Some(layer), Some(expert)), sources));
            refused.insert((part, layer));
            continue;
        };
        let Some(view) = view(config, (part, fused), own, stacked, found) else {
            refused.insert((part, layer));
            continue;
        };
        let first = views.get(&(part, layer, 0));
        if let Some(first) = first.filter(|first| first.dtype != view.dtype) {
            let problem = format!(
                "is stored as {}, that of the first expert as {}: experts of a layer are stored alike",
                view.dtype, first.dtype
            );
            found.push(error(own, &problem));
            continue;
        }
        views.insert((part, layer, expert), view);
    }
    for (place, own) in &index.of_experts {
        if !used.contains(place) {
            let problem = "is of a layer or of an expert that the model does not have";
            found.push(error(*own, problem));
        }
    }
    views
}

/// Returns the matrix `part` from a tensor that holds it alone, fused with others, or stacked for all experts.
fn view<'a>(
    config: &Config,
    (part, fused): (&'static str, Option<&'static Fused>),
    own: Found<'_, 'a>,
    stacked: Option<(usize, usize)>,
    found: &mut Diagnostics,
) -> Option<TensorView<'a>> {
    let shape = match fused {
        Some(fused) => fused_shape(config, fused)?,
        None => shape_of(config, part)?,
    };
    let whole = match stacked {
        None => stored(own, &shape, found)?,
        Some((expert, count)) => {
            let all = [&[count], shape.as_slice()].concat();
            stored(own, &all, found)?.matrix(expert)?
        }
    };
    let Some(fused) = fused else {
        return Some(whole);
    };
    let rows = |part: &str| shape_of(config, part).and_then(|shape| shape.first().copied());
    let before = fused.parts.iter().take_while(|own| *own != part);
    let first = before.filter_map(|part| rows(part)).sum::<usize>();
    whole.rows(first..first + rows(part)?)
}
