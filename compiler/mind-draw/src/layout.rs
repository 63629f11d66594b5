//! Positions of all parts of a drawing, in pixels.

use rustc_hash::FxHashMap;

use crate::drawing::{BoxLine, DrawBox, Drawing};
use crate::geometry::{Area, Point};
use crate::place::{End, Keep, Link, Node, Placed, place, straighten};
use crate::text::width;

/// The height of a row.
pub(crate) const LINE: i64 = 17;
/// The distance of text from the left and right border of its box.
pub(crate) const PADDING: i64 = 10;
/// The distance of the first row from the top of its box.
pub(crate) const TOP: i64 = 6;
/// The minimum distance between the text of a row and its right-aligned part.
const ASIDE: i64 = 18;
/// The distance of boxes from their frame, and of the drawing from the border of the paper.
pub(crate) const MARGIN: i64 = 18;

/// The positions of boxes, frames and edges.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// The width of the paper.
    pub width: i64,
    /// Its height.
    pub height: i64,
    /// By box.
    pub boxes: Vec<Area>,
    /// By frame.
    pub frames: Vec<Area>,
    /// By edge: its points. A segment is a straight line if its ends share a coordinate, otherwise a curve with
    /// vertical tangents at both ends.
    pub routes: Vec<Vec<Point>>,
}

/// Returns the size of a box.
fn size(own: &DrawBox) -> (i64, i64) {
    let row = |row: &BoxLine| {
        let aside = if row.aside.is_empty() { 0 } else { ASIDE };
        width(&row.text) + aside + width(&row.aside)
    };
    let widest = own.rows.iter().map(row).max().unwrap_or(0);
    let height = own.rows.len() as i64 * LINE + 2 * TOP;
    (even(widest + 2 * PADDING), height)
}

/// Returns `width` rounded up to an even number.
fn even(width: i64) -> i64 {
    width + width % 2
}

/// Returns the width of the title of a frame, which is left of its boxes.
fn gutter(times: usize) -> i64 {
    width(&title(times)) * 3 / 2 + MARGIN
}

/// The title of a frame.
pub(crate) fn title(times: usize) -> String {
    format!("× {times}")
}

/// Returns the y offset of the middle of a row from the top of its box.
fn row_middle(row: usize) -> i64 {
    TOP + LINE * row as i64 + LINE / 2
}

impl Layout {
    /// Places a drawing.
    pub fn new(drawing: &Drawing) -> Layout {
        Frames::new(drawing).finish()
    }
}

/// A frame whose boxes are placed.
struct Inside {
    placed: Placed,
    /// By box outside: the x offset where its edges enter the frame.
    entries: FxHashMap<usize, i64>,
    /// By box inside: the x offset where its edges leave the frame.
    exits: FxHashMap<usize, i64>,
    /// By edge with a box inside: its route.
    routes: FxHashMap<usize, usize>,
    /// By box inside: its index in `placed`.
    numbers: FxHashMap<usize, usize>,
    size: (i64, i64),
}

/// Frames, each placed separately and then treated as one box.
struct Frames<'d> {
    drawing: &'d Drawing,
    boxes: Vec<&'d DrawBox>,
    /// Source, target, row of the target, and whether it is highlighted.
    edges: Vec<(usize, usize, Option<usize>, bool)>,
    inside: Vec<Inside>,
}

impl<'d> Frames<'d> {
    fn new(drawing: &'d Drawing) -> Frames<'d> {
        let edges = drawing.graph.raw_edges().iter();
        let edges = edges.map(|edge| {
            let (from, to) = (edge.source().index(), edge.target().index());
            (from, to, edge.weight.row, edge.weight.chosen)
        });
        let mut frames = Frames {
            drawing,
            boxes: drawing.boxes().collect(),
            edges: edges.collect(),
            inside: Vec::new(),
        };
        frames.inside = (0..drawing.frames.len())
            .map(|frame| frames.place_inside(frame))
            .collect();
        frames
    }

    fn end(row: Option<usize>) -> End {
        row.map_or(End::Border, |row| End::Side(row_middle(row)))
    }

    fn place_inside(&self, frame: usize) -> Inside {
        let is_inside = |own: usize| self.boxes[own].frame == Some(frame);
        let mut nodes: Vec<Node> = Vec::new();
        let mut add = |(width, height), keep| {
            nodes.push(Node {
                width,
                height,
                keep,
            });
            nodes.len() - 1
        };
        let (mut entries, mut exits) = (FxHashMap::default(), FxHashMap::default());
        let mut numbers = FxHashMap::default();
        for &(from, to, ..) in &self.edges {
            if is_inside(to) && !is_inside(from) {
                entries
                    .entry(from)
                    .or_insert_with(|| add((0, 0), Keep::First));
            }
        }
        for own in (0..self.boxes.len()).filter(|&own| is_inside(own)) {
            numbers.insert(own, add(size(self.boxes[own]), Keep::Free));
        }
        for &(from, to, ..) in &self.edges {
            if is_inside(from) && !is_inside(to) {
                exits.entry(from).or_insert_with(|| add((0, 0), Keep::Last));
            }
        }
        let (mut links, mut routes) = (Vec::new(), FxHashMap::default());
        let mut known: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        for (number, &(from, to, row, chosen)) in self.edges.iter().enumerate() {
            let (from, to, end) = match (numbers.get(&from), numbers.get(&to)) {
                (Some(&from), Some(&to)) => (from, to, Frames::end(row)),
                (Some(&inner), None) => (inner, exits[&from], End::Fixed(0)),
                (None, Some(&inner)) => (entries[&from], inner, Frames::end(row)),
                (None, None) => continue,
            };
            // All readers outside share one route out of the frame.
            let route = match known.get(&(from, to)) {
                Some(&route) if matches!(end, End::Fixed(_)) => route,
                Some(_) | None => {
                    links.push(Link {
                        from,
                        to,
                        chosen,
                        start: None,
                        end,
                    });
                    known.insert((from, to), links.len() - 1);
                    links.len() - 1
                }
            };
            routes.insert(number, route);
        }
        let placed = place(&nodes, &links);
        let left = gutter(self.drawing.frames[frame]);
        let at = |ports: FxHashMap<usize, usize>| -> FxHashMap<usize, i64> {
            let ports = ports.into_iter();
            ports
                .map(|(own, node)| (own, placed.areas[node].x + left))
                .collect()
        };
        let width = left + placed.width + MARGIN;
        Inside {
            entries: at(entries),
            exits: at(exits),
            routes,
            numbers,
            size: (even(width), placed.height + 2 * MARGIN),
            placed,
        }
    }

    fn finish(self) -> Layout {
        // The outer nodes: boxes without a frame, and each frame at the position of its first box.
        let mut nodes = Vec::new();
        let mut number = vec![0; self.boxes.len()];
        let mut of_frame: Vec<Option<usize>> = vec![None; self.inside.len()];
        for (at, own) in self.boxes.iter().enumerate() {
            let known = own.frame.and_then(|frame| of_frame[frame]);
            number[at] = known.unwrap_or_else(|| {
                let (width, height) = own
                    .frame
                    .map_or_else(|| size(own), |frame| self.inside[frame].size);
                nodes.push(Node {
                    width,
                    height,
                    keep: Keep::Free,
                });
                nodes.len() - 1
            });
            if let Some(frame) = own.frame {
                of_frame[frame] = Some(number[at]);
            }
        }
        let (mut links, mut link_of) = (Vec::new(), vec![None; self.edges.len()]);
        let mut known: FxHashMap<(usize, Option<i64>, usize, i64), usize> = FxHashMap::default();
        for (at, &(from, to, row, chosen)) in self.edges.iter().enumerate() {
            let (source, target) = (self.boxes[from].frame, self.boxes[to].frame);
            if source.is_some() && source == target {
                continue;
            }
            let start = source.map(|frame| self.inside[frame].exits[&from]);
            let end = match target {
                Some(frame) => End::Fixed(self.inside[frame].entries[&from]),
                None => Frames::end(row),
            };
            let link = Link {
                from: number[from],
                to: number[to],
                chosen,
                start,
                end,
            };
            link_of[at] = Some(match end {
                End::Fixed(offset) => *known
                    .entry((link.from, start, link.to, offset))
                    .or_insert_with(|| {
                        links.push(link);
                        links.len() - 1
                    }),
                End::Border | End::Side(_) => {
                    links.push(link);
                    links.len() - 1
                }
            });
        }
        let outside = place(&nodes, &links);
        self.assemble(&outside, &number, &of_frame, &link_of)
    }

    fn assemble(
        &self,
        outside: &Placed,
        number: &[usize],
        of_frame: &[Option<usize>],
        link_of: &[Option<usize>],
    ) -> Layout {
        let shift = |area: Area, x: i64, y: i64| Area {
            x: area.x + x,
            y: area.y + y,
            ..area
        };
        let frame_area = |frame: usize| {
            let node = of_frame[frame].map(|node| outside.areas[node]);
            shift(node.unwrap_or_default(), MARGIN, MARGIN)
        };
        // The contents of a frame, relative to the paper.
        let origin = |frame: usize| {
            let area = frame_area(frame);
            (area.x + gutter(self.drawing.frames[frame]), area.y + MARGIN)
        };
        let boxes = self
            .boxes
            .iter()
            .enumerate()
            .map(|(at, own)| match own.frame {
                None => shift(outside.areas[number[at]], MARGIN, MARGIN),
                Some(frame) => {
                    let inside = &self.inside[frame];
                    let (x, y) = origin(frame);
                    shift(inside.placed.areas[inside.numbers[&at]], x, y)
                }
            });
        let part = |frame: Option<usize>, edge: usize| {
            let route = frame.map(|frame| {
                let inside = &self.inside[frame];
                let (x, y) = origin(frame);
                let points = inside.placed.routes[inside.routes[&edge]].iter();
                points.map(move |point| Point {
                    x: point.x + x,
                    y: point.y + y,
                })
            });
            route.into_iter().flatten()
        };
        let routes = self
            .edges
            .iter()
            .enumerate()
            .map(|(edge, &(from, to, ..))| {
                let (source, target) = (self.boxes[from].frame, self.boxes[to].frame);
                let Some(link) = link_of[edge] else {
                    return part(source, edge).collect();
                };
                let between = outside.routes[link].iter().map(|point| Point {
                    x: point.x + MARGIN,
                    y: point.y + MARGIN,
                });
                let whole = part(source, edge).chain(between);
                straighten(whole.chain(part(target, edge)).collect())
            });
        let note = self.drawing.note.as_deref();
        let text = note.map_or(0, width);
        Layout {
            width: outside.width.max(text) + 2 * MARGIN,
            height: outside.height + 2 * MARGIN + if note.is_some() { 2 * LINE } else { 0 },
            boxes: boxes.collect(),
            frames: (0..self.inside.len()).map(frame_area).collect(),
            routes: routes.collect(),
        }
    }
}
