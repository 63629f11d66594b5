//! Conversion of convolutions to the channels-last layout, which compiled kernels use.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mind_core::ops::convolution::{Conv, ConvTranspose, Layout};
use mind_core::ops::shape::Transpose;
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::{Graph, OpId, ValueId};
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo, RuleCounts};
use mind_rewrite::{
    GreedyConfig, MatchFailure, OperandKinds, PatternSet, RewritePattern, Rewriter, apply,
};

use crate::canonicalize::{RulePattern, canonical};
use crate::rules::rules_for_module;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "channels-last",
    alias: None,
    summary: "Converts convolutions to the channels-last layout and moves the added transposes towards the outputs, \
              with rules of the e-graph, so that fold and fuse find good forms of convolutional networks early",
    example: "--channels-last",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(ChannelsLast),
};

/// The rules that add transposes or move them from operands to results, and whether each is applied from right to left.
const RULES: &[(&str, bool)] = &[
    ("channels-last-line", false),
    ("channels-last-line-backward", false),
    ("channels-last-image", false),
    ("channels-last-image-backward", false),
    ("channels-last-volume", false),
    ("channels-last-volume-backward", false),
    ("transpose-of-transpose", false),
    ("transpose-through-unary", true),
    ("transpose-through-binary", true),
    ("transpose-through-scalar-rhs", true),
    ("transpose-through-scalar-lhs", true),
    ("bias-of-transpose-rhs", false),
    ("bias-of-transpose-lhs", false),
    ("reduce-of-transpose", false),
    ("reduce-of-transpose-kept", false),
    ("extremum-of-transpose", false),
    ("extremum-of-transpose-kept", false),
    ("window-of-transpose", false),
    ("pad-of-transpose", false),
    ("pad-with-of-transpose", false),
    ("concat-of-transposes", false),
];

struct ChannelsLast;

impl Pass for ChannelsLast {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        if !g.ops(g.body()).any(|op| has_channels_second(g, op)) {
            return Ok(Changed::No);
        }
        let rules = rules_for_module(g, cx)?;
        let mut patterns = PatternSet::new();
        let buffers = Rc::new(RefCell::default());
        for &(name, reversed) in RULES {
            for form in rules.forms(name, reversed) {
                patterns.add(Sinking {
                    rule: RulePattern::new(Arc::clone(&rules), form, Rc::clone(&buffers)),
                });
            }
        }
        let config = GreedyConfig::new(mind_core::constant);
        let mut moved = g.clone();
        // The layout is an optimisation: a module keeps its layout if the rules do not reach a fixed point.
        let Ok(report) = apply(&mut moved, &patterns, &config, &mut *cx.watch) else {
            return Ok(Changed::No);
        };
        canonical(&mut moved);
        *g = moved;
        for (name, count) in &report.applied {
            cx.statistics
                .add_rule(name, RuleCounts::acted(*count as u64));
        }
        Ok(Changed::when(report.changed()))
    }
}

/// A rule that is applied only to channels-second convolutions, and to ops that read a transpose to the channels-second
/// layout.
struct Sinking {
    rule: RulePattern,
}

impl RewritePattern for Sinking {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn place(&self) -> Option<(&str, usize)> {
        self.rule.place()
    }

    fn class(&self) -> &str {
        self.rule.class()
    }

    fn roots(&self) -> &[&'static OpDef] {
        self.rule.roots()
    }

    fn may_match(&self, operands: &OperandKinds) -> bool {
        self.rule.may_match(operands)
    }

    fn rewrite(&self, op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
        if has_channels_second(rw, op) {
            return self.rule.rewrite(op, rw);
        }
        let mut operands = rw.operands(op).iter();
        let Some(&moved) = operands.find(|&&value| puts_channels_second(rw, value)) else {
            return Err(MatchFailure("no operand is a transpose from channels last"));
        };
        let mut operands = rw.operands(op).iter();
        if rw.ty(moved).rank() == 3 && !operands.all(|&value| absorbs_transposes(rw, value)) {
            return Err(MatchFailure("another operand would get the same transpose"));
        }
        self.rule.rewrite(op, rw)
    }
}

/// Returns whether an op is a convolution in the channels-second layout.
fn has_channels_second(g: &Graph, op: OpId) -> bool {
    let conv = g.view::<Conv>(op).map(|conv| conv.layout(g));
    let backward = g.view::<ConvTranspose>(op).map(|conv| conv.layout(g));
    conv.or(backward) == Some(Layout::Nchw)
}

/// Returns whether a transpose that is moved to this operand disappears. It must, because a rank-3 transpose is its own
/// inverse and would otherwise move between two operands forever.
fn absorbs_transposes(g: &Graph, value: ValueId) -> bool {
    let is_constant = |op: OpId| g.def(op).has(Trait::Constant);
    g.ty(value).rank() == 0
        || puts_channels_second(g, value)
        || g.defining_op(value).is_some_and(is_constant)
}

/// Returns whether a value is a transpose from the channels-last to the channels-second layout.
fn puts_channels_second(g: &Graph, value: ValueId) -> bool {
    let transpose = g.defining_op(value).and_then(|op| g.view::<Transpose>(op));
    transpose.is_some_and(|transpose| {
        let axes = transpose.permutation(g).iter().copied();
        let last = g.ty(value).rank() as i64 - 1;
        last >= 2 && axes.eq([0, last].into_iter().chain(1..last))
    })
}

#[cfg(test)]
mod tests {
    use mind_rules::shipped_names;

    use super::RULES;

    #[test]
    fn every_rule_that_is_applied_ships() {
        for &(name, _) in RULES {
            assert!(
                shipped_names().any(|own| own == name),
                "no shipped rule is called `{name}`"
            );
        }
    }
}
