//! Parts of a drawing that are repeated one after the other.

use std::hash::Hash;

use petgraph::graph::NodeIndex;
use petgraph::visit::{DfsPostOrder, Reversed};
use rustc_hash::FxHashMap;

use crate::drawing::{DrawBox, Drawing, Fill};

/// The least number of boxes that folding a repetition must save.
const SAVED: usize = 6;
/// How many comparisons a search makes at most, by box.
const WORK: usize = 64;
/// How often the length of what must recur doubles: 1, 2, 4, 8 and 16 boxes.
const LENGTHS: usize = 5;
/// The position of a box that reads nothing.
const SOURCE: usize = usize::MAX;

/// A part of [`Flow::sequence`] that is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The position of the first box.
    pub(crate) start: usize,
    /// How many boxes the part has.
    pub(crate) period: usize,
    /// How often it occurs.
    pub(crate) count: usize,
}

/// The boxes of a drawing in an order that depends on its edges, not on the order of boxes that are independent:
/// operands first, from the results backwards. What is repeated is adjacent in it.
pub(crate) struct Flow {
    /// All boxes that read others.
    pub(crate) sequence: Vec<usize>,
    /// The boxes that each box reads, in order.
    pub(crate) sources: Vec<Vec<usize>>,
    /// By box: its place in `sequence`.
    position: Vec<usize>,
    /// By box: the first and last place of its readers.
    readers: Vec<(usize, usize)>,
    /// By box: equal for boxes that are the same but for names.
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

    /// The repeated parts in order, none overlapping another.
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

    /// A word for each place of the sequence: what the box is and which operands are weights and constants. An input
    /// may be in the place of what other repetitions compute.
    fn words(&self) -> Vec<u32> {
        let operand = |&source: &usize| self.is_fixed[source].then_some(self.like[source]);
        number(self.sequence.iter().map(|&node| {
            let operands: Vec<Option<u32>> = self.sources[node].iter().map(operand).collect();
            (self.like[node], operands)
        }))
    }

    /// How often the part of `period` boxes from `start` on is repeated.
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

    /// Whether the box at `at` and the one a period later are the same in the last two repetitions of `run`.
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
        // Whether all readers of a box are in the repetition from `start` on.
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

/// Numbers `items`, equal ones alike.
fn number<T: Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known: FxHashMap<T, u32> = FxHashMap::default();
    items
        .map(|item| {
            let next = known.len() as u32;
            *known.entry(item).or_insert(next)
        })
        .collect()
}

/// How far each word is from the next one like it.
fn gaps_to_next(words: &[u32]) -> Vec<Option<usize>> {
    let mut next: FxHashMap<u32, usize> = FxHashMap::default();
    let gaps = words.iter().enumerate().rev();
    let mut gaps: Vec<Option<usize>> = gaps
        .map(|(at, &word)| next.insert(word, at).map(|later| later - at))
        .collect();
    gaps.reverse();
    gaps
}
