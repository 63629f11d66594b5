//! Horizontal coordinates, as in "Fast and Simple Horizontal Coordinate Assignment" by Brandes and Köpf: bends of
//! an edge above each other, nodes below the median of their neighbours.

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashSet;

use crate::layers::Layers;

/// The gap between nodes, between a node and an edge, and between two edges.
const GAPS: [i64; 3] = [28, 18, 12];

/// Returns the middle of each node of `layers`, whose real nodes have `widths`; the leftmost border is at 0.
pub(crate) fn coordinates(layers: &Layers, widths: &[i64]) -> Vec<i64> {
    let width = |node: usize| widths.get(node).copied().unwrap_or(0);
    let conflicts = conflicts(layers);
    let mut candidates: Vec<Vec<i64>> = Vec::with_capacity(4);
    for (upwards, mirrored) in [(false, false), (false, true), (true, false), (true, true)] {
        let view = View::new(layers, upwards, mirrored);
        let mut own = view.compact(&view.blocks(&conflicts), &width);
        if mirrored {
            own.iter_mut().for_each(|x| *x = -*x);
        }
        candidates.push(own);
    }
    // The other alignments are shifted to the narrowest one.
    let borders = |own: &[i64]| {
        let left = own.iter().enumerate().map(|(node, x)| x - width(node) / 2);
        let right = own.iter().enumerate().map(|(node, x)| x + width(node) / 2);
        (left.min().unwrap_or(0), right.max().unwrap_or(0))
    };
    let (left, right) = candidates
        .iter()
        .map(|own| borders(own))
        .min_by_key(|(left, right)| right - left)
        .unwrap_or_default();
    for (number, own) in candidates.iter_mut().enumerate() {
        let (own_left, own_right) = borders(own);
        let shift = if number % 2 == 0 {
            left - own_left
        } else {
            right - own_right
        };
        own.iter_mut().for_each(|x| *x += shift);
    }
    let median = |node: usize| {
        let mut own: Vec<i64> = candidates.iter().map(|own| own[node]).collect();
        own.sort_unstable();
        (own[1] + own[2]).div_euclid(2)
    };
    let mut middles: Vec<i64> = (0..layers.layer.len()).map(median).collect();
    let (left, _) = borders(&middles);
    middles.iter_mut().for_each(|x| *x -= left);
    middles
}

/// Returns the segments that cross an inner segment (one between two bends), which therefore are not straightened.
fn conflicts(layers: &Layers) -> FxHashSet<(usize, usize)> {
    let position = layers.positions();
    let mut conflicts = FxHashSet::default();
    for pair in layers.rows.windows(2) {
        let (upper, lower) = (&pair[0], &pair[1]);
        let (mut left, mut next) = (0, 0);
        for (at, &node) in lower.iter().enumerate() {
            let mut inner = layers.above[node]
                .iter()
                .filter(|&&source| node >= layers.real && source >= layers.real);
            let inner = inner.next().map(|&source| position[source]);
            if inner.is_none() && at + 1 < lower.len() {
                continue;
            }
            let right = inner.unwrap_or(upper.len());
            for &other in &lower[next..=at] {
                for &source in &layers.above[other] {
                    if position[source] < left || position[source] > right {
                        conflicts.insert((source, other));
                    }
                }
            }
            (left, next) = (right, at + 1);
        }
    }
    conflicts
}

/// Layers seen from the top or the bottom, from the left or the right.
struct View<'a> {
    rows: Vec<Vec<usize>>,
    /// The neighbours of each node in the previous row.
    before: &'a [Vec<usize>],
    position: Vec<usize>,
    layers: &'a Layers,
    upwards: bool,
}

impl<'a> View<'a> {
    fn new(layers: &'a Layers, upwards: bool, mirrored: bool) -> View<'a> {
        let mut rows = layers.rows.clone();
        if upwards {
            rows.reverse();
        }
        if mirrored {
            rows.iter_mut().for_each(|row| row.reverse());
        }
        let mut position = vec![0; layers.layer.len()];
        for row in &rows {
            for (at, &node) in row.iter().enumerate() {
                position[node] = at;
            }
        }
        View {
            rows,
            before: if upwards {
                &layers.below
            } else {
                &layers.above
            },
            position,
            layers,
            upwards,
        }
    }

    /// Returns the block of each node, named by its first node; the nodes of a block are aligned.
    fn blocks(&self, conflicts: &FxHashSet<(usize, usize)>) -> Vec<usize> {
        let mut root: Vec<usize> = (0..self.position.len()).collect();
        let mut ends = vec![false; root.len()];
        for row in &self.rows {
            // Positions before this one are taken by nodes to the left.
            let mut free = 0;
            for &node in row {
                let mut neighbours = self.neighbours_of(node);
                neighbours.sort_by_key(|&other| self.position[other]);
                let Some(last) = neighbours.len().checked_sub(1) else {
                    continue;
                };
                for &other in &neighbours[last / 2..=last.div_ceil(2)] {
                    let step = if self.upwards {
                        (node, other)
                    } else {
                        (other, node)
                    };
                    let fits = self.position[other] >= free && !ends[other];
                    if fits && !conflicts.contains(&step) {
                        root[node] = root[other];
                        ends[other] = true;
                        free = self.position[other] + 1;
                        break;
                    }
                }
            }
        }
        root
    }

    /// Returns the neighbours that `node` is aligned with. A node without operands is placed next to the chain that it
    /// feeds, not in it.
    fn neighbours_of(&self, node: usize) -> Vec<usize> {
        let is_source = |node: &usize| self.layers.above[*node].is_empty();
        let feeds_chain = |reader: usize| {
            let mut others = self.layers.above[reader].iter();
            others.any(|other| !is_source(other))
        };
        let neighbours = self.before[node].iter().copied();
        if self.upwards {
            let is_source_of_chain = |reader: &usize| is_source(&node) && feeds_chain(*reader);
            return neighbours
                .filter(|reader| !is_source_of_chain(reader))
                .collect();
        }
        let in_chain = feeds_chain(node);
        neighbours
            .filter(|other| !in_chain || !is_source(other))
            .collect()
    }

    /// Computes the least coordinates that keep neighbours apart, then moves each block right as far as its neighbours
    /// allow.
    fn compact(&self, root: &[usize], width: &impl Fn(usize) -> i64) -> Vec<i64> {
        let mut apart: DiGraph<(), i64> = DiGraph::new();
        root.iter().for_each(|_| {
            apart.add_node(());
        });
        for pair in self.rows.iter().flat_map(|row| row.windows(2)) {
            let bends = pair
                .iter()
                .filter(|&&node| node >= self.layers.real)
                .count();
            let distance = (width(pair[0]) + width(pair[1])) / 2 + GAPS[bends];
            let (left, right) = (NodeIndex::new(root[pair[0]]), NodeIndex::new(root[pair[1]]));
            apart.add_edge(left, right, distance);
        }
        // The graph is acyclic, because blocks do not cross and one of two blocks is left of the other.
        let order = toposort(&apart, None).unwrap_or_default();
        let mut x = vec![0; root.len()];
        for &block in &order {
            for edge in apart.edges(block) {
                let (at, to) = (x[block.index()] + edge.weight(), edge.target().index());
                x[to] = x[to].max(at);
            }
        }
        for &block in order.iter().rev() {
            let room = apart
                .edges(block)
                .map(|edge| x[edge.target().index()] - edge.weight());
            if let Some(room) = room.min() {
                x[block.index()] = x[block.index()].max(room);
            }
        }
        root.iter().map(|&block| x[block]).collect()
    }
}
