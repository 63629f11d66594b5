//! Inputs with symbolic dimensions.

use mind_convert::Refusal;
use mind_ir::graph::Graph;
use mind_ir::types::{Dim, TypeView};
use mind_mil::check::name_of;
use mind_mil::flexible::{Flexible, Shapes};
use mind_mil::structure::Input;

use crate::config::{Config, Extents};

/// The shape of each input by name.
type InputShapes = Vec<(String, Vec<i64>)>;

/// Maximum number of shapes that a package lists.
const MOST_SHAPES: usize = 128;

/// Returns the name and allowed extents of a symbolic dimension; `None` for another dimension, or without given
/// extents.
fn extents<'c>(g: &Graph, config: &'c Config, dim: Dim) -> Option<(&'c str, &'c Extents)> {
    let Dim::Symbol(sym) = dim else {
        return None;
    };
    let mut all = config.flexible.iter();
    let found = all.find(|(name, _)| name == g.name(sym))?;
    Some((&found.0, &found.1))
}

/// Returns whether every dimension of a type is fixed or has given extents.
pub(crate) fn is_described(g: &Graph, config: &Config, ty: TypeView<'_>) -> bool {
    let known = |&dim: &Dim| dim.fixed().is_some() || extents(g, config, dim).is_some();
    ty.shape.iter().all(known)
}

/// Returns the allowed input shapes, with the first extent of each dimension as default; `None` if all dimensions are
/// fixed.
///
/// # Errors
///
/// If some dimensions have ranges and others lists, or if there are more than 128 shapes.
pub(crate) fn shapes(g: &Graph, config: &Config) -> Result<Option<Flexible>, Refusal> {
    let mut inputs = Vec::new();
    let mut used: Vec<(&str, &Extents)> = Vec::new();
    for op in g.ops(g.body()).filter(|&op| g.is::<Input>(op)) {
        let value = g.result(op);
        let dims = g.ty(value).shape;
        if dims.iter().all(|dim| dim.fixed().is_some()) {
            continue;
        }
        used.extend(dims.iter().filter_map(|&dim| extents(g, config, dim)));
        inputs.push((name_of(g, value), dims));
    }
    if inputs.is_empty() {
        return Ok(None);
    }
    used.sort_by_key(|(name, _)| *name);
    used.dedup_by_key(|(name, _)| *name);
    let shaped = |extent: &dyn Fn(&str, &Extents) -> i64| -> InputShapes {
        let own = |dim: &Dim| match extents(g, config, *dim) {
            Some((name, all)) => extent(name, all),
            None => dim.fixed().unwrap_or(1),
        };
        let all = inputs.iter();
        all.map(|(name, dims)| (name.clone(), dims.iter().map(own).collect()))
            .collect()
    };
    let first = |all: &Extents| match all {
        Extents::Range(least, _) => *least,
        Extents::Listed(list) => list[0],
    };
    let defaults = shaped(&|_, all| first(all));
    let ranges = used
        .iter()
        .filter(|(_, all)| matches!(all, Extents::Range(..)))
        .count();
    let shapes = match ranges {
        0 => Shapes::Listed(listed(&used, &shaped)?),
        count if count == used.len() => {
            let most = shaped(&|_, all| match all {
                Extents::Range(_, most) => *most,
                Extents::Listed(list) => list[0],
            });
            let ranges = defaults.iter().zip(most).map(|((name, least), (_, most))| {
                let pairs = least.iter().zip(most).map(|(&least, most)| [least, most]);
                (name.clone(), pairs.collect())
            });
            Shapes::Ranges(ranges.collect())
        }
        _ => {
            let help = "give every dimension a range, `B=1..32`, or every one a list, `B=1,2,4`";
            return Err(Refusal::unsupported(
                "some dimensions have ranges and some lists",
                help,
            ));
        }
    };
    Ok(Some(Flexible { defaults, shapes }))
}

/// Maps a choice of extents by dimension name to the shapes of the inputs.
type Shaped<'s> = dyn Fn(&dyn Fn(&str, &Extents) -> i64) -> InputShapes + 's;

/// Returns the input shapes for every combination of extents, with the last dimension varying fastest.
fn listed(used: &[(&str, &Extents)], shaped: &Shaped<'_>) -> Result<Vec<InputShapes>, Refusal> {
    let list = |all: &Extents| match all {
        Extents::Listed(list) => list.clone(),
        Extents::Range(least, _) => vec![*least],
    };
    let lists: Vec<Vec<i64>> = used.iter().map(|(_, all)| list(all)).collect();
    let count = lists
        .iter()
        .try_fold(1usize, |all, list| all.checked_mul(list.len()));
    let Some(count) = count.filter(|&count| count <= MOST_SHAPES) else {
        return Err(Refusal::no_counterpart(format!(
            "a package lists at most {MOST_SHAPES} shapes"
        )));
    };
    let choice = |at: usize| {
        let mut rest = at;
        let mut chosen = vec![0; lists.len()];
        for (own, list) in chosen.iter_mut().zip(&lists).rev() {
            (*own, rest) = (list[rest % list.len()], rest / list.len());
        }
        shaped(
            &|name, all| match used.iter().position(|(own, _)| *own == name) {
                Some(at) => chosen[at],
                None => list(all)[0],
            },
        )
    };
    Ok((0..count).map(choice).collect())
}
