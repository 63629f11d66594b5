//! The canonical form, which represents equivalent modules in the same way.

mod attrs;
mod counted_loop;
mod declare;
mod known_extents;
mod loop_invariant;
pub(crate) mod order;
mod rules;
mod tensor;

pub(crate) use rules::RulePattern;

use mind_ir::Graph;
use mind_pass::{
    Changed, OptionInfo, OptionKind, Options, Pass, PassCx, PassError, PassInfo, RuleCounts,
};
use mind_rewrite::{GreedyConfig, GreedyReport, PatternSet, apply};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "canonicalize",
    alias: Some("canonicalise"),
    summary: "Folds constants, removes dead ops, applies identities that are exact in IEEE arithmetic, merges chains \
              of transposes and reshapes, orders commutative operands, replaces `?` by constant extents, writes out \
              defaults and types",
    example: "--canonicalize=fold-constants=false",
    options: &[OptionInfo {
        name: "fold-constants",
        kind: OptionKind::Flag,
        default: "true",
        summary: "evaluate ops whose operands are all constants",
    }],
    enters_regions: true,
    make: |options| Box::new(Canonicalize::new(options)),
};

struct Canonicalize {
    greedy: GreedyConfig,
}

impl Canonicalize {
    fn new(options: &Options) -> Canonicalize {
        let mut greedy = GreedyConfig::new(mind_core::constant);
        greedy.evaluate = options.flag("fold-constants");
        Canonicalize { greedy }
    }

    /// Applies the patterns to a fixed point.
    fn apply(
        &self,
        g: &mut Graph,
        patterns: &PatternSet,
        cx: &mut PassCx<'_>,
    ) -> Result<GreedyReport, PassError> {
        let applied = apply(g, patterns, &self.greedy, &mut *cx.watch);
        applied.map_err(|stuck| PassError::NotConverged {
            rewrites: stuck.rewrites,
            last: stuck.last.join(", "),
        })
    }
}

/// Returns the patterns that are written in Rust.
pub(crate) fn patterns() -> PatternSet {
    let mut set = PatternSet::new();
    attrs::add(&mut set);
    counted_loop::add(&mut set);
    loop_invariant::add(&mut set);
    tensor::add(&mut set);
    set
}

impl Pass for Canonicalize {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let mut patterns = patterns();
        patterns.retain(|name| cx.rewriting.enables(name));
        rules::add(&mut patterns, g, cx)?;
        let mut report = self.apply(g, &patterns, cx)?;
        let mut narrowed = 0;
        loop {
            match known_extents::narrow(g, cx.verify, cx.is_region) {
                0 => break,
                count => narrowed += count,
            }
            report.add(self.apply(g, &patterns, cx)?);
        }
        let swapped = order::order_operands(g);
        declare_types(g);
        cx.statistics.add("folded", report.folded as u64);
        cx.statistics.add("evaluated", report.evaluated as u64);
        cx.statistics.add("erased", report.erased as u64);
        cx.statistics.add("operands-ordered", swapped as u64);
        for (name, count) in &report.applied {
            cx.statistics
                .add_rule(name, RuleCounts::acted(*count as u64));
        }
        cx.statistics.add("narrowed", narrowed as u64);
        Ok(Changed::when(report.changed() || swapped + narrowed > 0))
    }
}

/// Orders commutative operands and canonicalises attributes, because rules may swap operands, leave the ends of slices
/// open and count axes from the end.
pub fn canonical(g: &mut Graph) {
    order::order_operands(g);
    attrs::canonical_axes(g);
}

/// Declares the types of all values without a declared type. No op changes.
fn declare_types(g: &mut Graph) {
    let ops: Vec<_> = g.walk().collect();
    for op in ops {
        for value in g.results(op) {
            if let (None, Some(ty)) = (g.declared(value), g.type_id(value)) {
                g.declare(value, ty);
            }
        }
    }
}
