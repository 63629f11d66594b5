//! Descriptions of rules.

use crate::ruleset::fast_math::FastMath;

/// The index of a rule in its [`RuleSet`](crate::RuleSet).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleIx(pub(crate) u16);

impl RuleIx {
    /// Returns the index into [`RuleSet::infos`](crate::RuleSet::infos).
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// The name of constant folding where rules are listed.
pub const FOLDING: &str = "fold-constants";

/// The name of plain grouping where rules are listed.
pub const FUSION: &str = "fusion";

/// The description of a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleInfo {
    /// Its name, unique over all files.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// The line of its name, 1-based.
    pub line: usize,
    /// The fast-math classes that it requires.
    pub class: FastMath,
    /// The relative error of class `approx`.
    pub tolerance: Option<f64>,
    /// The justification in its `source` clause.
    pub source: Option<String>,
    /// Its direction.
    pub direction: Direction,
    /// The phase of the e-graph in which it is active.
    pub phase: Phase,
    /// The engines that use it.
    pub engine: Engine,
    /// The text of both sides; of a fusion, the text of its pattern.
    pub sides: String,
    /// The text of the condition, without `where`.
    pub condition: Option<String>,
    /// The text of the whole rule.
    pub text: String,
}

impl RuleInfo {
    /// Returns the name of its file without directories and extension.
    pub fn topic(&self) -> &str {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(topic, _)| topic)
    }
}

/// The direction of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// `=>`: replaces the left side by the right side.
    Forward,
    /// `<=>`: replaces either side by the other.
    Both,
    /// A fusion, which groups ops and does not replace them.
    Group,
}

/// A phase of the e-graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Reduces the size of the region.
    Simplify,
    /// Moves layout changes, for example transposes, through other ops.
    Layout,
    /// [`Layout`](Phase::Layout) for a target with channels-last convolutions.
    ChannelsLast,
    /// [`Layout`](Phase::Layout) for a target with channels-first convolutions.
    ChannelsFirst,
    /// Merges several ops that share an operand into one.
    Merge,
    /// Reassociates sums and products; opt-in.
    Reassociate,
    /// Rewrites to the forms that fusions match, in `fuse`. Only fusions read the results of these rules.
    Idiom,
    /// Groups ops.
    Fusion,
}

/// The position of the channel axis in the convolutions of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channels {
    /// `nhwc`: the last axis.
    Last,
    /// `nchw`: the second axis.
    First,
}

impl Phase {
    /// The phases that a rule may name, with their names in rule files.
    pub const NAMES: [(&'static str, Phase); 7] = [
        ("simplify", Phase::Simplify),
        ("layout", Phase::Layout),
        ("nhwc", Phase::ChannelsLast),
        ("nchw", Phase::ChannelsFirst),
        ("merge", Phase::Merge),
        ("reassociate", Phase::Reassociate),
        ("idiom", Phase::Idiom),
    ];

    /// Returns the phase of the search in which a rule of this phase is active for a target with these channels; `None`
    /// if it is not active for the target.
    pub fn for_target(self, channels: Channels) -> Option<Phase> {
        match (self, channels) {
            (Phase::ChannelsLast, Channels::Last) | (Phase::ChannelsFirst, Channels::First) => {
                Some(Phase::Layout)
            }
            (Phase::ChannelsLast | Phase::ChannelsFirst, _) => None,
            (
                Phase::Simplify
                | Phase::Layout
                | Phase::Merge
                | Phase::Reassociate
                | Phase::Idiom
                | Phase::Fusion,
                _,
            ) => Some(self),
        }
    }
}

/// The engines that use a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// `canonicalize`, which replaces each match immediately.
    Greedy,
    /// `fold` and `fuse`, which choose among equivalent forms by cost.
    Egraph,
    /// Both.
    Both,
}

impl Engine {
    /// The engines with their names in rule files.
    pub const NAMES: [(&'static str, Engine); 3] = [
        ("greedy", Engine::Greedy),
        ("egraph", Engine::Egraph),
        ("both", Engine::Both),
    ];

    /// Returns whether the e-graph uses the rule.
    pub fn in_egraph(self) -> bool {
        self != Engine::Greedy
    }

    /// Returns whether the greedy driver uses the rule.
    pub fn in_greedy(self) -> bool {
        self != Engine::Egraph
    }
}
