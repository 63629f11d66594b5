//! The search.

use mind_ir::Graph;
use mind_ir::graph::Preamble;
use mind_ir::verify::{VerifyConfig, verify};

use super::edit::{Edit, without_new_dead_ops};
use super::{Size, attributes, bodies, constants, dtypes, operands, ops, outputs, shapes};

/// Limits of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The maximal number of tests of the property.
    pub trials: usize,
    /// Verification of candidates, in addition to the op definitions.
    pub verify: VerifyConfig,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            trials: 10_000,
            verify: VerifyConfig::default(),
        }
    }
}

/// The result of a reduction.
pub struct Reduced {
    /// The smallest module that was found.
    pub graph: Graph,
    /// The number of tests of the property.
    pub trials: usize,
    /// The number of successful tests.
    pub kept: usize,
    /// Whether the search stopped at the limit of trials, not for lack of candidates.
    pub stopped: bool,
}

/// The families of edits, those that remove most first.
const FAMILIES: &[fn(&Graph) -> Vec<Edit>] = &[
    outputs::drop_halves,
    ops::cut_chunks,
    outputs::peel,
    outputs::exchange,
    bodies::inline,
    bodies::run_once,
    ops::bypass,
    ops::cut,
    ops::erase,
    operands::drop,
    operands::repeat,
    shapes::symbols,
    shapes::extents,
    shapes::ranks,
    dtypes::simplify,
    constants::simplify,
    attributes::simplify,
];

/// Returns the smallest module found for which `holds` returns true.
///
/// `g` must be verified and have the property; `holds` is only called with verified modules. Ids of `g` that occur in
/// the result keep their meaning.
pub fn reduce(g: &Graph, config: &Config, holds: &mut dyn FnMut(&Graph) -> bool) -> Reduced {
    let mut best = g.clone();
    // Unused declarations of the text are dropped, because they would be printed.
    best.preamble = Preamble::default();
    let mut search = Search {
        size: Size::of(g),
        best,
        trials: 0,
        kept: 0,
        config,
        holds,
    };
    let mut progress = true;
    while progress && !search.is_spent() {
        progress = false;
        for family in FAMILIES {
            progress |= search.exhaust(*family);
        }
    }
    Reduced {
        stopped: search.is_spent(),
        graph: search.best,
        trials: search.trials,
        kept: search.kept,
    }
}

struct Search<'a> {
    best: Graph,
    size: Size,
    trials: usize,
    kept: usize,
    config: &'a Config,
    holds: &'a mut dyn FnMut(&Graph) -> bool,
}

impl Search<'_> {
    fn is_spent(&self) -> bool {
        self.trials >= self.config.trials
    }

    /// Tries the edits of a family, each on the result of the previous ones. Returns whether any was kept.
    fn exhaust(&mut self, family: fn(&Graph) -> Vec<Edit>) -> bool {
        let (mut edits, mut at, mut progress) = (family(&self.best), 0, false);
        while at < edits.len() && !self.is_spent() {
            if self.attempt(&edits[at]) {
                // The edit no longer applies, so another one is at its index.
                edits = family(&self.best);
                progress = true;
            } else {
                at += 1;
            }
        }
        progress
    }

    fn attempt(&mut self, edit: &Edit) -> bool {
        let mut candidate = without_new_dead_ops(&self.best, edit);
        let size = Size::of(&candidate);
        if size >= self.size || verify(&mut candidate, &self.config.verify).has_errors() {
            return false;
        }
        self.trials += 1;
        if !(self.holds)(&candidate) {
            return false;
        }
        (self.best, self.size) = (candidate, size);
        self.kept += 1;
        true
    }
}
