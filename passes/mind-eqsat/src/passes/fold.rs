//! The passes `fold` and `fuse`.

use mind_core::ops::fused::Fused;
use mind_diag::{Diagnostic, Severity};
use mind_ir::Graph;
use mind_ir::listener::Listener;
use mind_ir::opdef::Op;
use mind_pass::{
    Changed, DrawingForm, OptionInfo, OptionKind, Options, Pass, PassCx, PassError, PassInfo,
    RuleCounts,
};
use mind_rules::{FUSION, RuleSet};
use mind_transforms::{canonical, classes, rules_for_module};

use crate::cost::{CHANNELS_FIRST, CostModel, HOST_CPU};
use crate::{Context, KeptReason, KeptRegion, Limits, Report, fold_with, fuse_with};

pub(crate) const FOLD: PassInfo = PassInfo {
    name: "fold",
    alias: None,
    summary: "Replaces values by cheaper equal ones, found by rules in an e-graph and chosen by cost",
    example: "--fold=max-iters=4",
    options: OPTIONS,
    enters_regions: true,
    make: |options| {
        Box::new(Eqsat {
            goal: fold_with,
            limits: limits(options),
            cost: cost(options),
        })
    },
};

pub(crate) const FUSE: PassInfo = PassInfo {
    name: "fuse",
    alias: None,
    summary: "Gathers ops into fused ones with a body, where that saves launches or memory traffic",
    example: "--fuse=max-iters=4",
    options: OPTIONS,
    enters_regions: true,
    make: |options| {
        Box::new(Eqsat {
            goal: fuse_with,
            limits: limits(options),
            cost: cost(options),
        })
    },
};

const OPTIONS: &[OptionInfo] = &[MAX_ITERS, LAYOUT];

const LAYOUT: OptionInfo = OptionInfo {
    name: "layout",
    kind: OptionKind::Word(&["nhwc", "nchw"]),
    default: "nhwc",
    summary: "the layout of the target's convolutions: `nhwc` of compiled kernels, `nchw` of MIL; transposes move to the \
              borders of a network",
};

const MAX_ITERS: OptionInfo = OptionInfo {
    name: "max-iters",
    kind: OptionKind::Count,
    default: "8",
    summary: "rounds of simplification per region; half as many of moving layouts, twice as many where it convolves",
};

fn limits(options: &Options) -> Limits {
    let rounds = options.count("max-iters");
    Limits {
        simplify_rounds: rounds,
        layout_rounds: rounds.div_ceil(2),
        convolution_layout_rounds: rounds.saturating_mul(2),
        ..Limits::default()
    }
}

fn cost(options: &Options) -> &'static CostModel {
    match options.text("layout") {
        "nchw" => &CHANNELS_FIRST,
        _ => &HOST_CPU,
    }
}

struct Eqsat {
    goal: fn(&mut Graph, &Context<'_>, &mut dyn Listener, Option<usize>) -> Report,
    limits: Limits,
    cost: &'static CostModel,
}

impl Pass for Eqsat {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let rules = rules_for_module(g, cx)?;
        let context = Context {
            rules: &rules,
            classes: classes(cx.rewriting),
            cost: self.cost,
            limits: self.limits,
            constant: mind_core::constant,
            splat: mind_core::splat,
            fused: Fused::DEF,
            canonical,
        };
        let draw = cx.watch.drawing().map(|drawing| drawing.skip);
        let report = (self.goal)(g, &context, &mut *cx.watch, draw);
        if let Some(drawing) = cx.watch.drawing() {
            drawing.skip = drawing.skip.saturating_sub(report.regions);
            let drawn = report.drawing.as_ref();
            drawing.text = drawn.map(|drawn| match drawing.form {
                DrawingForm::Dot => mind_draw::dot(drawn),
                DrawingForm::Svg => mind_draw::svg(drawn),
            });
        }
        for remark in report.remarks.iter() {
            cx.watch.noted(remark);
        }
        // Shipped rules are checked, so a contradiction between them is a bug that tests must notice.
        debug_assert!(
            !cx.rewriting.rules.is_empty() || report.remarks.iter().all(is_remark),
            "shipped rules contradict each other: {:?}",
            report.remarks
        );
        if cx.watch.observes_missed(FUSION) {
            for missed in &report.missed {
                let reason = format!("not fused with its consumer: {}", missed.reason);
                cx.watch.missed(missed.producer, FUSION, &reason);
            }
        }
        count(&report, &rules, cx);
        Ok(Changed::when(report.changed))
    }
}

fn is_remark(found: &Diagnostic) -> bool {
    found.severity == Severity::Remark
}

fn count(report: &Report, rules: &RuleSet, cx: &mut PassCx<'_>) {
    let statistics = &mut *cx.statistics;
    statistics.add("cost-before-ns", report.cost_before / 1000);
    statistics.add("cost-after-ns", report.cost_after / 1000);
    statistics.add("bytes-before", report.bytes_before);
    statistics.add("bytes-after", report.bytes_after);
    statistics.add("regions", report.regions as u64);
    let is_kept = |kept: &&KeptRegion| !matches!(kept.reason, KeptReason::Rounds(_));
    let kept = report.kept.iter().filter(is_kept).count();
    statistics.add("regions-kept", kept as u64);
    statistics.add("values-replaced", report.changes.len() as u64);
    statistics.add("groups-fused", report.fused.len() as u64);
    let mut kinds: Vec<&str> = report
        .fused
        .iter()
        .map(|group| group.kind.as_str())
        .collect();
    kinds.sort_unstable();
    for group in kinds.chunk_by(|a, b| a == b) {
        statistics.add(&format!("fused-{}", group[0]), group.len() as u64);
    }
    if !report.fused.is_empty() {
        let launches = report
            .fused
            .iter()
            .map(|group| group.launches_saved)
            .sum::<usize>();
        statistics.add("launches-saved", launches as u64);
    }
    for (name, rule) in rules.names().zip(&report.rules) {
        if rule.matched > 0 {
            let counts = RuleCounts {
                matched: rule.matched as u64,
                applied: rule.applied as u64,
                refused: rule.refused as u64,
                chosen: rule.chosen as u64,
                saved: rule.saved,
            };
            statistics.add_rule(name, counts);
        }
    }
}
