//! Layer assignment: each node is below its sources, and edges are cut into segments between adjacent layers.

use rustc_hash::FxHashMap;

/// A graph to lay out. Its nodes are numbered in reading order.
#[derive(Default)]
pub(crate) struct Net {
    /// The width of each node.
    pub(crate) widths: Vec<i64>,
    /// Edges: source, target, and a class; edges with the same source and class share bends.
    pub(crate) edges: Vec<(usize, usize, bool)>,
    /// Nodes kept in the first layer.
    pub(crate) first: Vec<usize>,
    /// Nodes kept in the last layer.
    pub(crate) last: Vec<usize>,
}

/// Nodes in layers. Numbers from `real` on are bends (dummy nodes) of edges.
pub(crate) struct Layers {
    pub(crate) real: usize,
    /// The layer of each node.
    pub(crate) layer: Vec<usize>,
    /// The nodes of each layer from left to right.
    pub(crate) rows: Vec<Vec<usize>>,
    /// The neighbours of each node in the layer above.
    pub(crate) above: Vec<Vec<usize>>,
    /// The neighbours of each node in the layer below.
    pub(crate) below: Vec<Vec<usize>>,
    /// The bends of each edge, from its source to its target.
    pub(crate) bends: Vec<Vec<usize>>,
}

impl Layers {
    /// Assigns layers by longest path, and inserts bends where an edge crosses a layer.
    pub(crate) fn new(net: &Net) -> Layers {
        let real = net.widths.len();
        let layer = assign(net);
        let depth = layer.iter().max().map_or(0, |&last| last + 1);
        let mut rows = vec![Vec::new(); depth];
        for (node, &own) in layer.iter().enumerate() {
            rows[own].push(node);
        }
        let mut layers = Layers {
            real,
            above: vec![Vec::new(); real],
            below: vec![Vec::new(); real],
            bends: Vec::with_capacity(net.edges.len()),
            layer,
            rows,
        };
        // The bends so far by source, class and direction; later edges reuse them.
        let mut shared: FxHashMap<(usize, bool, bool), Vec<usize>> = FxHashMap::default();
        for &(from, to, class) in &net.edges {
            let (start, end) = (layers.layer[from], layers.layer[to]);
            let down = start < end;
            let bends = shared.entry((from, class, down)).or_default();
            let needed = start.abs_diff(end).saturating_sub(1);
            while bends.len() < needed {
                let at = if down {
                    start + bends.len() + 1
                } else {
                    start - bends.len() - 1
                };
                let bend = layers.bend(at);
                layers.step(bends.last().copied().unwrap_or(from), bend);
                bends.push(bend);
            }
            let own = bends[..needed].to_vec();
            if start != end {
                layers.step(own.last().copied().unwrap_or(from), to);
            }
            layers.bends.push(own);
        }
        layers
    }

    fn bend(&mut self, layer: usize) -> usize {
        let bend = self.layer.len();
        self.layer.push(layer);
        self.rows[layer].push(bend);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        bend
    }

    fn step(&mut self, a: usize, b: usize) {
        let (upper, lower) = if self.layer[a] < self.layer[b] {
            (a, b)
        } else {
            (b, a)
        };
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// Returns the position of each node within its layer.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.layer.len()];
        for row in &self.rows {
            for (position, &node) in row.iter().enumerate() {
                positions[node] = position;
            }
        }
        positions
    }
}

/// Returns the layer of each node: below all of its sources, or right above its readers if it has no sources.
fn assign(net: &Net) -> Vec<usize> {
    let count = net.widths.len();
    let (mut sources, mut readers) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for &(from, to, _) in &net.edges {
        let (upper, lower) = (from.min(to), from.max(to));
        if upper != lower {
            sources[lower].push(upper);
            readers[upper].push(lower);
        }
    }
    let mut layer = vec![0; count];
    for node in 0..count {
        let above = sources[node].iter().map(|&source| layer[source] + 1);
        layer[node] = above.max().unwrap_or(0);
    }
    for &node in &net.first {
        readers[node].clear();
    }
    for node in (0..count).filter(|&node| sources[node].is_empty()) {
        let below = readers[node].iter().map(|&reader| layer[reader] - 1);
        layer[node] = below.min().unwrap_or(0);
    }
    let last = layer.iter().max().copied().unwrap_or(0);
    for &node in &net.last {
        layer[node] = last;
    }
    layer
}
