//! Detection of repeated parts of a drawing, for example the layers of a transformer.

use std::hash::Hash;

use petgraph::graph::NodeIndex;
use petgraph::visit::{DfsPostOrder, Reversed};
use rustc_hash::FxHashMap;

use crate::drawing::{DrawBox, Drawing, Fill};

/// The minimum number of boxes that folding must save.
const SAVED: usize = 6;
/// The maximum number of comparisons of a search, per box.
const WORK: usize = 64;
/// How often the length of the recurring sequence doubles: 1, 2, 4, 8 and 16 boxes.
const LENGTHS: usize = 5;
/// The position of a box without operands.
const SOURCE: usize = usize::MAX;

/// A repeated part of [`Flow::sequence`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The position of the first box.
    pub(crate) start: usize,
    /// The number of boxes of the part.
    pub(crate) period: usize,
    /// The number of repetitions.
    pub(crate) count: usize,
}

/// The boxes of a drawing in a topological order, computed by depth-first search from the results, that does not depend
/// on the order of independent boxes. Repetitions are adjacent in it.
pub(crate) struct Flow {
    /// All boxes with operands.
    pub(crate) sequence: Vec<usize>,
    /// The operands of each box, in order.
    pub(crate) sources: Vec<Vec<usize>>,
    /// By box: its position in `sequence`.
    position: Vec<usize>,
    /// By box: the first and last position of its readers.
    readers: Vec<(usize, usize)>,
    /// By box: equal for boxes that differ only in names.
    like: Vec<u32>,
    /// By box: whether it is a weight or a constant.
    is_fixed: Vec<bool>,
}

impl Flow {
    pub(crate) fn new(drawing: &Drawing) -> Flow {
        let graph = &drawing.graph;
        let count = graph.node_count();
        let mut sources = vec![Vec::new(); count];
        for edge in graph.raw_edges() {
            sources[edge.target().index()].push(edge.source().index());
        }
        let mut sequence = Vec::with_capacity(count);
        let reversed = Reversed(graph);
        let mut search = DfsPostOrder::empty(reversed);
        let is_read = |node: NodeIndex| graph.neighbors(node).next().is_some();
        for end in graph.node_indices().filter(|&node| !is_read(node)) {
            search.move_to(end);
            while let Some(node) = search.next(reversed) {
                if !sources[node.index()].is_empty() {
                    sequence.push(node.index());
                }
            }
        }
        let mut position = vec![SOURCE; count];
        let mut readers = vec![(usize::MAX, 0); count];
        for (at, &node) in sequence.iter().enumerate() {
            position[node] = at;
            for &source in &sources[node] {
                let (first, last) = readers[source];
                readers[source] = (first.min(at), last.max(at));
            }
        }
        let likes = drawing
            .boxes()
            .map(|own| (&*own.like, own.fill.class(), own.mark));
        let is_fixed = |own: &DrawBox| matches!(own.fill, Fill::Param | Fill::Constant);
        Flow {
            like: number(likes),
            is_fixed: drawing.boxes().map(is_fixed).collect(),
            sequence,
            sources,
            position,
            readers,
        }
    }

    pub(crate) fn is_source(&self, node: usize) -> bool {
        self.position[node] == SOURCE
    }

    /// Returns the repeated parts in order; they do not overlap.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let count = self.sequence.len();
        let plain = self.sequence.iter().map(|&node| self.like[node]).collect();
        let mut gaps: Vec<Vec<Option<usize>>> = Vec::with_capacity(2 * LENGTHS);
        for mut words in [plain, self.words()] {
            for length in 0..LENGTHS {
                gaps.push(gaps_to_next(&words));
                let step = 1 << length;
                let end = |at: usize| words.get(at + step).copied().unwrap_or(u32::MAX);
                words = number((0..count).map(|at| (words[at], end(at))));
            }
        }
        let (mut runs, mut at, mut budget) = (Vec::new(), 0, count * WORK);
        while at < count {
            let mut best: Option<Run> = None;
            for gap in gaps.iter().filter_map(|gaps| gaps[at]) {
                if best.is_some_and(|best| best.period == gap) {
                    continue;
                }
                let run = self.run(at, gap, &mut budget);
                let covered = |run: Run| run.period * run.count;
                let saves = run.period * (run.count - 1) >= SAVED;
                if saves && best.is_none_or(|best| covered(run) > covered(best)) {
                    best = Some(run);
                }
            }
            at += best.map_or(1, |run| run.period * run.count);
            runs.extend(best);
        }
        runs
    }

    /// Returns a word for each position of the sequence: the box, and which operands are weights or constants. Inputs
    /// and computed operands are not distinguished, because the first repetition may read an input where later ones
    /// read a result.
    fn words(&self) -> Vec<u32> {
        let operand = |&source: &usize| self.is_fixed[source].then_some(self.like[source]);
        number(self.sequence.iter().map(|&node| {
            let operands: Vec<Option<u32>> = self.sources[node].iter().map(operand).collect();
            (self.like[node], operands)
        }))
    }

    /// Returns the repetitions of the `period` boxes from `start`.
    fn run(&self, start: usize, period: usize, budget: &mut usize) -> Run {
        let mut run = Run {
            start,
            period,
            count: 1,
        };
        while start + period * (run.count + 1) <= self.sequence.len() && *budget > 0 {
            let first = start + period * (run.count - 1);
            let agrees = |at: usize| {
                *budget = budget.saturating_sub(1 + self.sources[self.sequence[at]].len());
                self.agree(at, &run)
            };
            if !(first..first + period).all(agrees) {
                break;
            }
            run.count += 1;
        }
        run
    }

    /// Returns whether the boxes at `at` and one period later agree in the last two repetitions of `run`.
    fn agree(&self, at: usize, run: &Run) -> bool {
        let (a, b) = (self.sequence[at], self.sequence[at + run.period]);
        let (sources, others) = (&self.sources[a], &self.sources[b]);
        let mut pairs = sources.iter().zip(others);
        self.like[a] == self.like[b]
            && sources.len() == others.len()
            && pairs.all(|(&a, &b)| self.sources_agree(a, b, run))
    }

    fn sources_agree(&self, a: usize, b: usize, run: &Run) -> bool {
        let first = run.start + run.period * (run.count - 1);
        // Whether all readers of a box are in the repetition that begins at `start`.
        let only_in = |node: usize, start: usize| {
            let (low, high) = self.readers[node];
            start <= low && high < start + run.period
        };
        let starts_chain = run.count == 1
            && (run.start..run.start + run.period).contains(&self.position[b])
            && (self.is_source(a) || self.position[a] < run.start);
        match (self.is_source(a), self.is_source(b)) {
            (true, true) => {
                a == b
                    || self.like[a] == self.like[b]
                        && only_in(a, first)
                        && only_in(b, first + run.period)
            }
            (true, false) => starts_chain,
            (false, true) => false,
            (false, false) => {
                let moved = self.position[b] == self.position[a] + run.period;
                let shared = a == b && self.position[a] < run.start;
                shared || starts_chain || moved && self.position[a] >= run.start
            }
        }
    }
}

/// Numbers `items`; equal ones get the same number.
fn number<T: Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known: FxHashMap<T, u32> = FxHashMap::default();
    items
        .map(|item| {
            let next = known.len() as u32;
            *known.entry(item).or_insert(next)
        })
        .collect()
}

/// Returns the distance from each word to its next occurrence.
fn gaps_to_next(words: &[u32]) -> Vec<Option<usize>> {
    let mut next: FxHashMap<u32, usize> = FxHashMap::default();
    let gaps = words.iter().enumerate().rev();
    let mut gaps: Vec<Option<usize>> = gaps
        .map(|(at, &word)| next.insert(word, at).map(|later| later - at))
        .collect();
    gaps.reverse();
    gaps
}
