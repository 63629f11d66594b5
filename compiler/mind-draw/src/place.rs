//! Placement of boxes of known size, and edge routing between layers.

use crate::coordinates::coordinates;
use crate::crossings::reduce;
use crate::geometry::{Area, Point};
use crate::layers::{Layers, Net};

/// The minimum gap between layers, to which wide edges add.
const GAP: i64 = 30;
const MORE: i64 = 30;
/// The distance of the first edge next to a box from its border, and between such edges.
const SIDE_EDGE_GAP: i64 = 9;
const SIDE_EDGE_STEP: i64 = 5;
/// The maximum number of edges next to a box that are drawn apart.
const BUNDLE: usize = 6;
/// The minimum distance of edges from the corners of a box, and the default distance between edges.
const CORNER: i64 = 10;
const TIPS: i64 = 14;

/// A box to place.
pub(crate) struct Node {
    pub(crate) width: i64,
    pub(crate) height: i64,
    pub(crate) keep: Keep,
}

/// A layer constraint of a box.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// None.
    Free,
    /// In the first layer.
    First,
    /// In the last layer.
    Last,
}

/// An edge to route.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) chosen: bool,
    /// The x offset of its start from the source's left border; `None` for the middle.
    pub(crate) start: Option<i64>,
    pub(crate) end: End,
}

/// The point of the target where an edge ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Anywhere along the upper or lower border.
    Border,
    /// At this x offset.
    Fixed(i64),
    /// On the side, at this y offset.
    Side(i64),
}

/// Placed boxes and routed edges.
pub(crate) struct Placed {
    pub(crate) areas: Vec<Area>,
    pub(crate) routes: Vec<Vec<Point>>,
    pub(crate) width: i64,
    pub(crate) height: i64,
}

/// Places `nodes` in layers and routes `links`.
pub(crate) fn place(nodes: &[Node], links: &[Link]) -> Placed {
    let mut side_edges = vec![0; nodes.len()];
    for link in links {
        if matches!(link.end, End::Side(_)) {
            side_edges[link.to] += 1;
        }
    }
    let margin = |node: usize| match side_edges[node].min(BUNDLE) {
        0 => 0,
        count => SIDE_EDGE_GAP + SIDE_EDGE_STEP * count as i64,
    };
    let kept = |keep: Keep| (0..nodes.len()).filter(move |&node| nodes[node].keep == keep);
    let widths = nodes.iter().enumerate();
    let net = Net {
        widths: widths
            .map(|(at, node)| node.width + 2 * margin(at))
            .collect(),
        edges: links
            .iter()
            .map(|link| (link.from, link.to, link.chosen))
            .collect(),
        first: kept(Keep::First).collect(),
        last: kept(Keep::Last).collect(),
    };
    let mut layers = Layers::new(&net);
    reduce(&mut layers);
    let middle = coordinates(&layers, &net.widths);
    let bands = bands(&layers, nodes, &middle);
    let areas: Vec<Area> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| Area {
            x: middle[at] - node.width / 2,
            y: bands[layers.layer[at]].0,
            width: node.width,
            height: node.height,
        })
        .collect();
    let right = (0..nodes.len()).map(|at| middle[at] + net.widths[at] / 2);
    let bends = middle[nodes.len()..].iter().copied();
    let width = right.chain(bends).max().unwrap_or(0);
    let router = Router {
        links,
        layers: &layers,
        middle: &middle,
        bands: &bands,
        areas: &areas,
    };
    Placed {
        routes: router.routes(),
        width,
        height: bands.last().map_or(0, |band| band.1),
        areas,
    }
}

/// Returns the top and bottom of each layer.
fn bands(layers: &Layers, nodes: &[Node], middle: &[i64]) -> Vec<(i64, i64)> {
    let mut top = 0;
    let bands = layers.rows.iter().map(|row| {
        let own = row.iter().filter_map(|&node| nodes.get(node));
        let bottom = top + own.map(|node| node.height).max().unwrap_or(0);
        let band = (top, bottom);
        let steps = row
            .iter()
            .flat_map(|&node| layers.below[node].iter().map(move |&other| (node, other)));
        let widest = steps.map(|(a, b)| (middle[a] - middle[b]).abs()).max();
        top = bottom + GAP + (widest.unwrap_or(0) / 12).min(MORE);
        band
    });
    bands.collect()
}

struct Router<'a> {
    links: &'a [Link],
    layers: &'a Layers,
    middle: &'a [i64],
    bands: &'a [(i64, i64)],
    areas: &'a [Area],
}

impl Router<'_> {
    fn routes(&self) -> Vec<Vec<Point>> {
        let tips = self.tips();
        (0..self.links.len())
            .map(|link| self.route(link, tips[link]))
            .collect()
    }

    /// Returns the x coordinate where a link leaves its source.
    fn start(&self, link: &Link) -> i64 {
        let area = self.areas[link.from];
        area.x + link.start.unwrap_or(area.width / 2)
    }

    /// Returns the x coordinate of the last bend of a link.
    fn last(&self, number: usize) -> i64 {
        let bend = self.layers.bends[number].last();
        bend.map_or_else(
            || self.start(&self.links[number]),
            |&bend| self.middle[bend],
        )
    }

    /// Returns the x coordinate where each link reaches the layer of its target.
    fn tips(&self) -> Vec<i64> {
        let mut tips = vec![0; self.links.len()];
        // Links by target, by border, then from left to right.
        let mut order: Vec<usize> = (0..self.links.len()).collect();
        let layer = |node: usize| self.layers.layer[node];
        let group = |link: usize| {
            let own = &self.links[link];
            let left = self.last(link) <= self.middle[own.to];
            let down = layer(own.from) < layer(own.to);
            match own.end {
                End::Border => (own.to, 0, down, 0, self.last(link)),
                End::Fixed(_) => (own.to, 1, down, 0, 0),
                End::Side(y) => (own.to, 2, left, i32::from(!down), if down { y } else { -y }),
            }
        };
        order.sort_by_key(|&link| group(link));
        let same = |a: &usize, b: &usize| {
            let (a, b) = (group(*a), group(*b));
            (a.0, a.1, a.2) == (b.0, b.1, b.2)
        };
        for run in order.chunk_by(same) {
            let area = self.areas[self.links[run[0]].to];
            let (left, right) = (area.x + CORNER, area.x + area.width - CORNER);
            let apart = TIPS.min((right - left).max(0) / run.len() as i64);
            let mut free = left;
            for (number, &link) in run.iter().enumerate() {
                tips[link] = match self.links[link].end {
                    End::Border => {
                        let remaining = (run.len() - 1 - number) as i64;
                        let tip = self.last(link).min(right - remaining * apart).max(free);
                        free = tip + apart;
                        tip
                    }
                    End::Fixed(offset) => area.x + offset,
                    End::Side(_) => {
                        let away = SIDE_EDGE_GAP + SIDE_EDGE_STEP * number.min(BUNDLE - 1) as i64;
                        if self.last(link) <= self.middle[self.links[link].to] {
                            area.x - away
                        } else {
                            area.x + area.width + away
                        }
                    }
                };
            }
        }
        tips
    }

    fn route(&self, number: usize, tip: i64) -> Vec<Point> {
        let link = &self.links[number];
        let (from, to) = (self.areas[link.from], self.areas[link.to]);
        let point = |x, y| Point { x, y };
        if link.from == link.to {
            let End::Side(y) = link.end else {
                return Vec::new();
            };
            let (border, title) = (from.x + from.width, from.y + TIPS);
            let out = border + SIDE_EDGE_GAP;
            let y = (from.y + y).max(title + 1);
            return vec![
                point(border, title),
                point(out, title),
                point(out, y),
                point(border, y),
            ];
        }
        let down = self.layers.layer[link.from] < self.layers.layer[link.to];
        // The near and the far side of a layer, in the direction of the link.
        let band = |node: usize| {
            let (top, bottom) = self.bands[self.layers.layer[node]];
            if down { (top, bottom) } else { (bottom, top) }
        };
        let start = self.start(link);
        let leaves = if down { from.y + from.height } else { from.y };
        let mut route = vec![point(start, leaves), point(start, band(link.from).1)];
        for &bend in &self.layers.bends[number] {
            let (near, far) = band(bend);
            route.extend([
                point(self.middle[bend], near),
                point(self.middle[bend], far),
            ]);
        }
        route.push(point(tip, band(link.to).0));
        match link.end {
            End::Side(y) => {
                let border = if tip < to.x { to.x } else { to.x + to.width };
                route.extend([point(tip, to.y + y), point(border, to.y + y)]);
            }
            End::Border | End::Fixed(_) => {
                let meets = if down { to.y } else { to.y + to.height };
                route.push(point(tip, meets));
            }
        }
        straighten(route)
    }
}

/// Returns the route without redundant points.
pub(crate) fn straighten(route: Vec<Point>) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::with_capacity(route.len());
    for point in route {
        if kept.last() == Some(&point) {
            continue;
        }
        if let [.., before, last] = kept[..]
            && before.x == last.x
            && last.x == point.x
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}
