//! Legibility checks of a layout, for tests of drawings.

use crate::drawing::Drawing;
use crate::geometry::{Area, Point};
use crate::layout::Layout;

/// The number of points at which a curve is sampled.
const POINTS: i64 = 16;

impl Layout {
    /// Returns overlapping boxes, edges that cross a foreign box or frame, and parts outside of the paper, one sentence
    /// each.
    pub fn faults(&self, drawing: &Drawing) -> Vec<String> {
        let mut faults = Vec::new();
        let frame_of: Vec<Option<usize>> = drawing.boxes().map(|own| own.frame).collect();
        for (at, area) in self.boxes.iter().enumerate() {
            for (other, under) in self.boxes.iter().enumerate().skip(at + 1) {
                if area.meets(under) {
                    faults.push(format!("boxes {at} and {other} overlap"));
                }
            }
            for (frame, under) in self.frames.iter().enumerate() {
                let inside = frame_of[at] == Some(frame);
                if area.meets(under) != inside {
                    faults.push(format!("box {at} is not where frame {frame} says"));
                }
            }
            if area.x < 0 || area.y < 0 || area.x + area.width > self.width {
                faults.push(format!("box {at} leaves the paper"));
            }
        }
        for (edge, route) in drawing.graph.raw_edges().iter().zip(&self.routes) {
            let ends = [edge.source().index(), edge.target().index()];
            let path = flattened(route);
            let through = |area: &Area| path.iter().any(|point| area.holds(*point));
            for at in (0..self.boxes.len()).filter(|at| !ends.contains(at)) {
                if through(&self.boxes[at]) {
                    faults.push(format!("edge {ends:?} runs under box {at}"));
                }
            }
            let own = ends.map(|end| frame_of[end]);
            for frame in (0..self.frames.len()).filter(|&frame| !own.contains(&Some(frame))) {
                if through(&self.frames[frame]) {
                    faults.push(format!("edge {ends:?} runs through frame {frame}"));
                }
            }
            if path
                .iter()
                .any(|at| at.x < 0 || at.y < 0 || at.x > self.width || at.y > self.height)
            {
                faults.push(format!("edge {ends:?} leaves the paper"));
            }
        }
        faults
    }
}

impl Area {
    fn meets(&self, other: &Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    /// Returns whether a point is inside, not on the border.
    fn holds(&self, point: Point) -> bool {
        let inside = |at: i64, start: i64, length: i64| start < at && at < start + length;
        inside(point.x, self.x, self.width) && inside(point.y, self.y, self.height)
    }
}

/// Returns closely spaced points of a route.
fn flattened(route: &[Point]) -> Vec<Point> {
    let between = |pair: &[Point]| -> Vec<Point> {
        let (a, b) = (pair[0], pair[1]);
        let straight = a.x == b.x || a.y == b.y;
        let count = if straight {
            (a.x - b.x).abs() + (a.y - b.y).abs()
        } else {
            POINTS
        };
        let point = |step: i64| {
            let t = step as f64 / count.max(1) as f64;
            // A cubic curve whose control points are at half the height, vertically aligned with the ends.
            let (x, y) = if straight {
                (t, t)
            } else {
                let bent = t * t * (3.0 - 2.0 * t);
                (bent, t * (1.5 - 1.5 * t + t * t))
            };
            let on = |from: i64, to: i64, part: f64| from + ((to - from) as f64 * part) as i64;
            Point {
                x: on(a.x, b.x, x),
                y: on(a.y, b.y, y),
            }
        };
        (0..=count).map(point).collect()
    };
    route.windows(2).flat_map(between).collect()
}
