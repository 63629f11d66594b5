//! Overviews: boxes that represent several ops each.

use std::cmp::Reverse;
use std::ops::Range;

use petgraph::Incoming;
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::drawing::{BoxLine, DrawBox, Drawing, Edge, Fill, Mark};

/// The approximate number of boxes for ops outside of repetitions, and the minimum number of ops of one.
const TARGET_BOXES: usize = 16;
const LEAST: usize = 8;
/// The maximum number of repetitions with a box each.
const FRAMES: usize = 40;
/// The maximum number of inputs with a box each.
const INPUTS: usize = 12;
/// The maximum number of op names that a box lists.
const KINDS: usize = 4;

/// Returns a drawing with a box for each frame of `folded` and each part of the rest, cut where few values are live.
pub(crate) fn overview(folded: &Drawing) -> Drawing {
    let graph = &folded.graph;
    let reads = |node: NodeIndex| graph.neighbors_directed(node, Incoming).count();
    let (order, sources): (Vec<NodeIndex>, Vec<NodeIndex>) =
        graph.node_indices().partition(|&node| reads(node) > 0);
    let inputs = sources.into_iter();
    let inputs: Vec<NodeIndex> = inputs
        .filter(|&node| graph[node].fill == Fill::Input)
        .collect();
    let mut out = Drawing::default();
    let mut part: Vec<Option<NodeIndex>> = vec![None; graph.node_count()];
    if inputs.len() <= INPUTS {
        for node in inputs {
            part[node.index()] = Some(out.add(DrawBox {
                frame: None,
                ..graph[node].clone()
            }));
        }
    }
    for range in split_order(folded, &order) {
        let number = out.add(summary(folded, &order[range.clone()]));
        for node in &order[range] {
            part[node.index()] = Some(number);
        }
    }
    let mut known = FxHashSet::default();
    for edge in graph.raw_edges() {
        let ends = part[edge.source().index()].zip(part[edge.target().index()]);
        if let Some((source, target)) = ends
            && source != target
            && known.insert((source, target))
        {
            out.graph.add_edge(source, target, Edge::default());
        }
    }
    let ops = |node: &NodeIndex| graph[*node].ops * times(folded, *node);
    let total: usize = order.iter().map(ops).sum();
    out.note = Some(format!("An overview of {}", counted(total, "op")));
    out
}

fn times(folded: &Drawing, node: NodeIndex) -> usize {
    let frame = folded.graph[node].frame;
    frame.map_or(1, |frame| folded.frames[frame])
}

/// Splits `order` into parts that do not mix boxes of a frame with others.
fn split_order(folded: &Drawing, order: &[NodeIndex]) -> Vec<Range<usize>> {
    let graph = &folded.graph;
    let keep_frames = folded.frames.len() <= FRAMES;
    let frame = |node: NodeIndex| graph[node].frame.filter(|_| keep_frames);
    let alive = alive(folded, order);
    let free = order.iter().filter(|&&node| frame(node).is_none()).count();
    let size = free.div_ceil(TARGET_BOXES).max(LEAST);
    let is_end = |node: NodeIndex| graph[node].fill == Fill::Output;
    let together =
        |&a: &NodeIndex, &b: &NodeIndex| frame(a) == frame(b) && !is_end(a) && !is_end(b);
    let mut parts = Vec::new();
    let mut start = 0;
    for run in order.chunk_by(together) {
        let end = start + run.len();
        while frame(run[0]).is_none() && end - start > size + size / 2 {
            let cuts = start + size - size / 3..=start + size + size / 3;
            let cut = cuts.min_by_key(|&at| alive[at]).unwrap_or(end);
            parts.push(start..cut);
            start = cut;
        }
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Returns the number of live values at each position of `order`.
fn alive(folded: &Drawing, order: &[NodeIndex]) -> Vec<i64> {
    let mut position = vec![usize::MAX; folded.graph.node_count()];
    for (at, node) in order.iter().enumerate() {
        position[node.index()] = at;
    }
    let mut change = vec![0; order.len() + 2];
    for (at, &node) in order.iter().enumerate() {
        let readers = folded.graph.neighbors(node);
        let last = readers.map(|reader| position[reader.index()]).max();
        if let Some(last) = last {
            change[at + 1] += 1;
            change[last + 1] -= 1;
        }
    }
    let mut alive = 0;
    let sums = change.into_iter().map(|change| {
        alive += change;
        alive
    });
    sums.collect()
}

/// Returns one box for all of `nodes`.
fn summary(folded: &Drawing, nodes: &[NodeIndex]) -> DrawBox {
    let graph = &folded.graph;
    let (first, last) = (&graph[nodes[0]], &graph[nodes[nodes.len() - 1]]);
    let is_repeated = nodes
        .iter()
        .all(|&node| graph[node].frame == graph[nodes[0]].frame);
    let repeated = if is_repeated {
        times(folded, nodes[0])
    } else {
        1
    };
    if nodes.len() == 1 && repeated == 1 {
        return DrawBox {
            frame: None,
            ..first.clone()
        };
    }
    let own = |&node: &NodeIndex| graph[node].ops * times(folded, node);
    let total = nodes.iter().map(own).sum::<usize>() / repeated;
    let title = match repeated {
        1 => counted(total, "op"),
        times => format!("{} × {times}", counted(total, "op")),
    };
    let mut rows = vec![BoxLine::with_aside(
        title,
        format!("{} … {}", first.key, last.key),
    )];
    rows.extend(
        last.rows
            .get(1)
            .map(|ty| BoxLine::new(format!("→ {}", ty.text))),
    );
    let mut kinds: FxHashMap<&str, usize> = FxHashMap::default();
    for &node in nodes {
        let title = graph[node].rows.first();
        *kinds.entry(title.map_or("", |row| &row.text)).or_default() += 1;
    }
    let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(kind, count)| (Reverse(count), kind));
    let listed = kinds.iter().take(KINDS);
    rows.extend(listed.map(|(kind, count)| BoxLine::new(format!("{count} {kind}"))));
    let rest: usize = kinds.iter().skip(KINDS).map(|(_, count)| count).sum();
    if rest > 0 {
        rows.push(BoxLine::new(format!("{rest} others")));
    }
    let mut weights: Vec<NodeIndex> = nodes
        .iter()
        .flat_map(|&node| graph.neighbors_directed(node, Incoming))
        .filter(|&source| graph[source].fill == Fill::Param)
        .collect();
    weights.sort_unstable();
    weights.dedup();
    if !weights.is_empty() {
        let count = counted(weights.len(), "weight");
        rows.push(BoxLine::with_aside("", count));
    }
    let same = nodes.iter().all(|&node| graph[node].mark == Mark::Same);
    DrawBox {
        key: first.key.clone(),
        like: String::new(),
        rows,
        fill: Fill::Op,
        mark: if same { Mark::Same } else { Mark::Changed },
        ops: total * repeated,
        frame: None,
    }
}

/// `1 op`, `2 ops`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
