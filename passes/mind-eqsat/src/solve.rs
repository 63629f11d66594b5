//! Searches a region and chooses its best form.

use mind_ir::graph::Graph;
use mind_ir::listener::Listener;

use crate::context::Context;
use crate::cost::{Price, op_price};
use crate::explain::contradiction::contradiction;
use crate::extract::{Choice, Dense, dense_view};
use crate::fusion::body::Group;
use crate::fusion::propose::propose;
use crate::load::Loaded;
use crate::report::{KeptReason, RuleStats};
use crate::saturate::phases::saturate;
use crate::search::RuleIndex;
use crate::writeback::changes::live_values;

/// The goal of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// Replace ops by cheaper ones.
    Fold,
    /// Also gather ops into groups that run as one kernel.
    Fuse,
}

/// The outcome of the search over a region.
pub(crate) struct Saturated {
    /// The price of the region as it is.
    pub(crate) before: Price,
    /// The best form, if it is cheaper.
    pub(crate) best: Option<Extraction>,
    /// The reasons why the region is kept although it has other forms, and the limits that were reached.
    pub(crate) reasons: Vec<KeptReason>,
    /// The statistics of each rule.
    pub(crate) stats: Vec<RuleStats>,
}

/// Saturates the region `loaded` of `g`, and chooses its best form.
pub(crate) fn solve(
    g: &Graph,
    cx: &Context<'_>,
    index: &RuleIndex<'_>,
    goal: Goal,
    loaded: &mut Loaded<'_>,
    listener: &dyn Listener,
) -> Saturated {
    let mut stats = vec![RuleStats::default(); cx.rules.names().len()];
    let before = region_price(g, loaded);
    let mut reasons = saturate(loaded, goal, index, &cx.limits, &mut stats, listener);
    let mut best = None;
    match loaded.egraph.analysis.contradiction {
        Some(sides) => reasons.push(contradiction(loaded, sides)),
        None => match Extraction::find(loaded, cx, index, goal, before, &mut stats, listener) {
            Ok(found) => best = found,
            Err(reason) => reasons.push(reason),
        },
    }
    Saturated {
        before,
        best,
        reasons,
        stats,
    }
}

/// The best form of a region.
pub(crate) struct Extraction {
    pub(crate) dense: Dense,
    pub(crate) choice: Choice,
    pub(crate) groups: Vec<Group>,
}

impl Extraction {
    /// Returns the best form if it is cheaper than `before`, the price of the region. When fusing, the form must also
    /// move no more bytes; if necessary, groups are left out.
    ///
    /// # Errors
    ///
    /// Errors with the reason why the region is kept although it has other forms.
    fn find(
        loaded: &Loaded<'_>,
        cx: &Context<'_>,
        index: &RuleIndex<'_>,
        goal: Goal,
        before: Price,
        stats: &mut [RuleStats],
        listener: &dyn Listener,
    ) -> Result<Option<Extraction>, KeptReason> {
        let best = Extraction::search(loaded, cx, index, goal, stats, listener);
        let after = best.price();
        if after.cost > before.cost {
            let (before, after) = (before.cost, after.cost);
            return Err(KeptReason::NotCheaper { before, after });
        }
        let cheaper = |after: Price| after.cost < before.cost;
        if goal == Goal::Fold || !cheaper(after) || after.bytes <= before.bytes {
            return Ok(cheaper(after).then_some(best));
        }
        let plain = Extraction::of(loaded, dense_view(loaded), Vec::new());
        match cheaper(plain.price()) && plain.price().bytes <= before.bytes {
            true => Ok(Some(plain)),
            false => {
                let (before, after) = (before.bytes, after.bytes);
                Err(KeptReason::MoreBytes { before, after })
            }
        }
    }

    /// Returns the cheapest form found.
    pub(crate) fn search(
        loaded: &Loaded<'_>,
        cx: &Context<'_>,
        index: &RuleIndex<'_>,
        goal: Goal,
        stats: &mut [RuleStats],
        listener: &dyn Listener,
    ) -> Extraction {
        let mut dense = dense_view(loaded);
        let groups = match goal {
            Goal::Fold => Vec::new(),
            Goal::Fuse => propose(loaded, &mut dense, cx, index, stats, listener),
        };
        Extraction::of(loaded, dense, groups)
    }

    fn of(loaded: &Loaded<'_>, dense: Dense, groups: Vec<Group>) -> Extraction {
        Extraction {
            choice: Choice::best(&dense, loaded),
            dense,
            groups,
        }
    }

    fn price(&self) -> Price {
        Price {
            cost: self.choice.cost,
            bytes: self.choice.bytes(&self.dense),
        }
    }
}

/// Returns the price of the live ops of the region.
fn region_price(g: &Graph, loaded: &Loaded<'_>) -> Price {
    let costs = loaded.egraph.analysis.store.costs;
    let live = live_values(g, loaded);
    let needed = loaded.ops.iter().filter(|own| live.contains(&own.result));
    needed.fold(Price::default(), |price, own| {
        price.plus(op_price(g, costs, own.op))
    })
}
