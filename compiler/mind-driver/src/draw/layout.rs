//! Where boxes stand: in layers, each below all that it reads.

use super::drawing::Drawing;

/// Width of a character.
const CHARACTER: usize = 8;
/// Height of a line.
pub(super) const LINE: usize = 16;
/// Room between text and the border of its box.
pub(super) const PADDING: usize = 8;
const GAP_X: usize = 24;
const GAP_Y: usize = 36;

/// Where a box stands, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Area {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Area {
    pub(super) fn centre(&self) -> usize {
        self.x + self.width / 2
    }
}

/// The boxes of a drawing, and the paper that they need.
pub(super) struct Layout {
    pub(super) areas: Vec<Area>,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Layout {
    pub(super) fn of(drawing: &Drawing) -> Layout {
        let count = drawing.nodes.len();
        let mut areas: Vec<Area> = drawing.nodes.iter().map(size).collect();
        let mut layers: Vec<Vec<usize>> = Vec::new();
        for (node, layer) in layers_of(drawing).into_iter().enumerate() {
            layers.resize(layers.len().max(layer + 1), Vec::new());
            layers[layer].push(node);
        }
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); count];
        for &(from, to) in &drawing.edges {
            sources[to].push(from);
        }
        let (mut y, mut width) = (GAP_Y / 2, 0);
        for layer in &layers {
            let mut wanted: Vec<(usize, usize)> = layer
                .iter()
                .map(|&node| (wish(&areas, &sources[node]), node))
                .collect();
            wanted.sort();
            let (mut x, mut height) = (GAP_X, 0);
            for (wish, node) in wanted {
                let area = &mut areas[node];
                area.x = x.max(wish.saturating_sub(area.width / 2));
                area.y = y;
                x = area.x + area.width + GAP_X;
                height = height.max(area.height);
            }
            width = width.max(x);
            y += height + GAP_Y;
        }
        Layout {
            areas,
            width,
            height: y,
        }
    }
}

fn size(node: &super::drawing::Node) -> Area {
    let lines = std::iter::once(&node.title).chain(&node.lines);
    let longest = lines.map(|line| line.chars().count()).max().unwrap_or(0);
    Area {
        width: longest * CHARACTER + 2 * PADDING,
        height: (1 + node.lines.len()) * LINE + 2 * PADDING,
        ..Area::default()
    }
}

/// Where a box would stand best: below the middle of what it reads.
fn wish(areas: &[Area], sources: &[usize]) -> usize {
    let centres: usize = sources.iter().map(|&source| areas[source].centre()).sum();
    centres.checked_div(sources.len()).unwrap_or(0)
}

/// How many arrows lie above each box; what only feeds one op stands right above that.
fn layers_of(drawing: &Drawing) -> Vec<usize> {
    let count = drawing.nodes.len();
    let mut layers: Vec<usize> = vec![0; count];
    for &(from, to) in &drawing.edges {
        layers[to] = layers[to].max(layers[from] + 1);
    }
    let mut lowest = vec![usize::MAX; count];
    let mut fed = vec![false; count];
    for &(from, to) in &drawing.edges {
        lowest[from] = lowest[from].min(layers[to].saturating_sub(1));
        fed[to] = true;
    }
    for node in 0..count {
        if !fed[node] && lowest[node] != usize::MAX {
            layers[node] = lowest[node];
        }
    }
    layers
}
