//! The search.

use mind_ir::Graph;
use mind_ir::graph::Preamble;
use mind_ir::verify::{VerifyConfig, verify};

use super::edit::{Edit, without_new_dead_ops};
use super::{Size, attributes, bodies, constants, dtypes, operands, ops, outputs, shapes};

/// What a reduction may take.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How often the property is asked for at most.
    pub trials: usize,
    /// What candidates are held to besides the op tables.
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

/// What a reduction came to.
pub struct Reduced {
    /// The smallest module found.
    pub graph: Graph,
    /// How often the property was asked for.
    pub trials: usize,
    /// How many of these modules had it.
    pub kept: usize,
    /// Whether the search ended for want of trials, and not of candidates.
    pub stopped: bool,
}

/// The ways to make a module smaller, those that remove most first.
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

/// The smallest module found for which `holds` still holds.
///
/// `g` is verified and has the property; `holds` is asked about verified modules only. Ids of `g` that
/// are in the result mean what they meant.
pub fn reduce(g: &Graph, config: &Config, holds: &mut dyn FnMut(&Graph) -> bool) -> Reduced {
    let mut best = g.clone();
    // Declarations of the text that nothing uses would be printed again.
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

    /// Tries the edits of a family, each on what the ones before it left; says whether any was kept.
    fn exhaust(&mut self, family: fn(&Graph) -> Vec<Edit>) -> bool {
        let (mut edits, mut at, mut progress) = (family(&self.best), 0, false);
        while at < edits.len() && !self.is_spent() {
            if self.attempt(&edits[at]) {
                // The edit is gone, so that another one stands at its place.
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
