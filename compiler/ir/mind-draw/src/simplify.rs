//! Folding of repeated parts.

use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::drawing::Drawing;
use crate::overview::overview;
use crate::repeats::{Flow, Run};

/// The maximum number of computations that are drawn individually.
const BOXES: usize = 100;
/// The maximum number of boxes of a complete drawing.
const COMPLETE: usize = 1_000;

/// The level of detail of a drawing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Repeated parts are drawn once, with a count; more than 100 computations become an overview.
    #[default]
    Folded,
    /// Every box, up to a thousand.
    Complete,
}

impl Drawing {
    /// Returns the drawing with repeated parts folded, or an overview of it, depending on `detail`.
    pub fn simplified(&self, detail: Detail) -> Drawing {
        let count = self.graph.node_count();
        if detail == Detail::Complete && count <= COMPLETE {
            return self.clone();
        }
        let flow = Flow::new(self);
        let folded = fold(self, &flow, &flow.runs());
        let reads = |node| folded.graph.neighbors_directed(node, petgraph::Incoming);
        let computed = folded.graph.node_indices();
        let computed = computed.filter(|&node| reads(node).next().is_some());
        if computed.count() <= BOXES {
            return folded;
        }
        overview(&folded)
    }
}

/// Returns the drawing with only the first repetition of each run, in a frame.
fn fold(drawing: &Drawing, flow: &Flow, runs: &[Run]) -> Drawing {
    let count = drawing.graph.node_count();
    let mut drawn_as: Vec<usize> = (0..count).collect();
    let mut frame = vec![None; count];
    for (number, run) in runs.iter().enumerate() {
        for at in run.start..run.start + run.period {
            let first = flow.sequence[at];
            frame[first] = Some(number);
            for repetition in 1..run.count {
                let own = flow.sequence[at + repetition * run.period];
                drawn_as[own] = first;
                let sources = flow.sources[first].iter().zip(&flow.sources[own]);
                for (&source, &other) in sources {
                    if source != other && flow.is_source(source) && flow.is_source(other) {
                        drawn_as[other] = source;
                        frame[source] = Some(number);
                    }
                }
            }
        }
    }
    let mut folded = Drawing {
        frames: runs.iter().map(|run| run.count).collect(),
        note: drawing.note.clone(),
        ..Drawing::default()
    };
    // Sources come right before their first reader, or before its frame; unread ones come first.
    let unread = (0..count).filter(|&node| {
        let readers = drawing.graph.neighbors(NodeIndex::new(node));
        flow.is_source(node) && readers.count() == 0
    });
    let starts = runs.iter().map(|run| (run.start, run.start + run.period));
    let starts: FxHashMap<usize, usize> = starts.collect();
    let read = flow.sequence.iter().enumerate().flat_map(|(at, &node)| {
        let end = starts.get(&at).copied().unwrap_or(at + 1);
        let readers = flow.sequence[at..end].iter();
        let sources = readers.flat_map(|&reader| flow.sources[reader].iter().copied());
        let sources = sources.filter(|&own| flow.is_source(own));
        // Boxes outside of the frame come first.
        let (inside, outside): (Vec<usize>, Vec<usize>) =
            sources.partition(|&own| frame[own].is_some());
        outside.into_iter().chain(inside).chain([node])
    });
    let mut place: Vec<Option<NodeIndex>> = vec![None; count];
    for node in unread.chain(read) {
        if drawn_as[node] == node && place[node].is_none() {
            let mut own = drawing.graph[NodeIndex::new(node)].clone();
            own.frame = frame[node];
            place[node] = Some(folded.add(own));
        }
    }
    let mut known = FxHashSet::default();
    for edge in drawing.graph.raw_edges() {
        let source = place[drawn_as[edge.source().index()]];
        let target = place[edge.target().index()];
        if let (Some(source), Some(target)) = (source, target)
            && known.insert((source, target, edge.weight.row))
        {
            folded.graph.add_edge(source, target, edge.weight);
        }
    }
    folded
}
