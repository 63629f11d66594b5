//! Report of the ops that run on the neural engine.

use std::fmt::Write;

use mind_ir::graph::Graph;
use mind_mil::call::Call;
use mind_mil::check::name_of;
use mind_mil::ops;
use serde_json::json;

use super::facts::broken;
use super::rows::{CONSTRAINTS, Constraint, Limit, SMALL_ISLAND, Verdict};

/// The verdict for one op.
#[derive(Debug)]
pub struct Finding {
    /// The name of its first result; empty for an op without results.
    pub value: String,
    /// The op.
    pub op: &'static str,
    /// Whether it runs on the engine.
    pub verdict: Verdict,
    /// The deciding row, and the property of the op that violates it.
    pub row: Option<(&'static Constraint, String)>,
}

/// The verdicts for all ops of a program.
#[derive(Debug)]
pub struct Report {
    /// The ops in order, without constants.
    pub findings: Vec<Finding>,
    /// The number of runs of consecutive ops on the engine.
    pub islands: usize,
    /// The number of transitions between the engine and other processors.
    pub transfers: usize,
}

/// Checks each op of a verified program against every constraint. The worst verdict counts; if several rows give it,
/// the first one is reported.
pub fn report(g: &Graph) -> Report {
    let mut findings = Vec::new();
    for op in g.walk() {
        let Some(row) = ops::row(g.def(op)) else {
            continue;
        };
        if row.is_constexpr() {
            continue;
        }
        let Ok(call) = Call::bind(row, op, g) else {
            continue;
        };
        let mut worst: Option<(&'static Constraint, String)> = None;
        for constraint in CONSTRAINTS {
            if worst
                .as_ref()
                .is_some_and(|(own, _)| own.verdict >= constraint.verdict)
            {
                continue;
            }
            if let Some(detail) = broken(constraint.limit, g, op, row, &call) {
                worst = Some((constraint, detail));
            }
        }
        findings.push(Finding {
            value: g
                .results(op)
                .into_iter()
                .next()
                .map_or(String::new(), |value| name_of(g, value)),
            op: row.name,
            verdict: worst.as_ref().map_or(Verdict::Yes, |(own, _)| own.verdict),
            row: worst,
        });
    }
    mark_islands(&mut findings);
    let on: Vec<bool> = findings
        .iter()
        .map(|finding| finding.verdict != Verdict::No)
        .collect();
    let starts = |at: &usize| on[*at] && (*at == 0 || !on[*at - 1]);
    Report {
        islands: (0..on.len()).filter(starts).count(),
        transfers: on.windows(2).filter(|pair| pair[0] != pair[1]).count(),
        findings,
    }
}

/// Marks eligible ops in islands that are too short, if other ops of the program run elsewhere.
fn mark_islands(findings: &mut [Finding]) {
    let Limit::Island(least) = SMALL_ISLAND.limit else {
        return;
    };
    let runs_elsewhere = |finding: &Finding| finding.verdict == Verdict::No;
    if !findings.iter().any(runs_elsewhere) {
        return;
    }
    for island in findings.chunk_by_mut(|a, b| runs_elsewhere(a) == runs_elsewhere(b)) {
        let length = island.len();
        if length >= least || island.first().is_some_and(runs_elsewhere) {
            continue;
        }
        let detail = format!("{length} ops between ops elsewhere");
        for finding in island {
            if finding.verdict < SMALL_ISLAND.verdict {
                finding.verdict = SMALL_ISLAND.verdict;
                finding.row = Some((&SMALL_ISLAND, detail.clone()));
            }
        }
    }
}

const FOOTER: &str = "placement not verified off-device";

impl Report {
    fn count(&self, verdict: Verdict) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.verdict == verdict)
            .count()
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for finding in &self.findings {
            // Writing to a string cannot fail.
            let _ = write!(
                out,
                "{:<8} {} {}",
                finding.verdict.word(),
                finding.value,
                finding.op
            );
            if let Some((row, detail)) = &finding.row {
                let _ = write!(out, ": {} ({detail})", row.reason);
                let _ = write!(
                    out,
                    "\n         rewrite: {}\n         source: {}",
                    row.rewrite, row.source
                );
            }
            out.push('\n');
        }
        let counts =
            Verdict::ALL.map(|verdict| format!("{} {}", self.count(verdict), verdict.word()));
        let _ = writeln!(
            out,
            "{} ops: {}; islands: {}, transfers: {}; {FOOTER}",
            self.findings.len(),
            counts.join(", "),
            self.islands,
            self.transfers
        );
        out
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let ops: Vec<_> = self
            .findings
            .iter()
            .map(|finding| {
                let row = finding.row.as_ref();
                json!({
                    "value": finding.value,
                    "op": finding.op,
                    "eligible": finding.verdict.word(),
                    "reason": row.map(|(row, _)| row.reason),
                    "detail": row.map(|(_, detail)| detail),
                    "rewrite": row.map(|(row, _)| row.rewrite),
                    "source": row.map(|(row, _)| row.source),
                })
            })
            .collect();
        let counts =
            Verdict::ALL.map(|verdict| (verdict.word().to_owned(), json!(self.count(verdict))));
        let report = json!({
            "ops": ops,
            "counts": serde_json::Map::from_iter(counts),
            "islands": self.islands,
            "transfers": self.transfers,
            "note": FOOTER,
        });
        format!("{report:#}\n")
    }
}
