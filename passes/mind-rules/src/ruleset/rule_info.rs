//! What a rule says of itself.

use crate::ruleset::fast_math::FastMath;

/// The number of a named rule in its [`RuleSet`](crate::RuleSet).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleIx(pub(crate) u16);

impl RuleIx {
    /// This number as an index into [`RuleSet::infos`](crate::RuleSet::infos).
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// What folding constants is called among the rules.
pub const FOLDING: &str = "fold-constants";

/// What plain grouping is called among the rules.
pub const FUSION: &str = "fusion";

/// What a rule says of itself.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleInfo {
    /// Its name, unique over all files.
    pub name: String,
    /// The file it stands in.
    pub file: String,
    /// The line of its name, from 1.
    pub line: usize,
    /// What must be allowed for it to act.
    pub class: FastMath,
    /// The relative error that `approx` admits.
    pub tolerance: Option<f64>,
    /// Why it holds, as its `source` says.
    pub source: Option<String>,
    /// Which side it puts for which.
    pub direction: Direction,
    /// When it acts in the e-graph.
    pub phase: Phase,
    /// Which engines use it.
    pub engine: Engine,
    /// Both sides as written; of a fusion, its pattern.
    pub sides: String,
    /// The condition as written, without `where`.
    pub condition: Option<String>,
    /// The whole rule as written.
    pub text: String,
}

impl RuleInfo {
    /// The name of its file without folders and extension.
    pub fn topic(&self) -> &str {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(topic, _)| topic)
    }
}

/// Which side a rule puts for which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The right one for the left one: `=>`.
    Forward,
    /// Either for the other: `<=>`.
    Both,
    /// None: it names a group of ops.
    Group,
}

/// When a rule acts in the e-graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// While the region is made smaller.
    Simplify,
    /// While layouts are moved about.
    Layout,
    /// The same, for a target whose convolutions have their channels last.
    ChannelsLast,
    /// The same, for a target whose convolutions have their channels second.
    ChannelsFirst,
    /// When one op is made of several that share an operand.
    Merge,
    /// While sums and products are regrouped; opt-in.
    Reassociate,
    /// When `fuse` looks for forms that a fusion names: nothing but fusions reads what these rules make.
    Idiom,
    /// When groups are named.
    Fusion,
}

/// Where the convolutions of a target have their channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channels {
    /// `nhwc`: last.
    Last,
    /// `nchw`: second.
    First,
}

impl Phase {
    /// Every phase that a rule may name, with its name in rule files.
    pub const NAMES: [(&'static str, Phase); 7] = [
        ("simplify", Phase::Simplify),
        ("layout", Phase::Layout),
        ("nhwc", Phase::ChannelsLast),
        ("nchw", Phase::ChannelsFirst),
        ("merge", Phase::Merge),
        ("reassociate", Phase::Reassociate),
        ("idiom", Phase::Idiom),
    ];

    /// The phase of the search in which such a rule acts for a target with these channels; `None` if it does not.
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

/// Which engines use a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// `canonicalize`, which replaces at once.
    Greedy,
    /// `fold` and `fuse`, which choose by cost.
    Egraph,
    /// Both.
    Both,
}

impl Engine {
    /// Every engine with its name in rule files.
    pub const NAMES: [(&'static str, Engine); 3] = [
        ("greedy", Engine::Greedy),
        ("egraph", Engine::Egraph),
        ("both", Engine::Both),
    ];

    /// Whether the e-graph uses the rule.
    pub fn in_egraph(self) -> bool {
        self != Engine::Greedy
    }

    /// Whether the greedy driver uses the rule.
    pub fn in_greedy(self) -> bool {
        self != Engine::Egraph
    }
}
