//! Records of rewrites, for display.

use mind_diag::{SourceFile, Span};
use mind_ir::attr::Attr;
use mind_ir::listener::{CostChange, Rewrite, Step};
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, Graph, OpId, ValueId};

/// A rewrite.
#[derive(Debug)]
pub struct Record {
    /// The pass that made it.
    pub pass: &'static str,
    /// The span of the op that was rewritten.
    pub span: Span,
    /// The name and result of that op.
    pub from: String,
    /// The values that replace its results.
    pub to: String,
    /// The results that were replaced.
    pub old: Vec<ValueId>,
    /// Their replacements.
    pub new: Vec<ValueId>,
    /// Other values created by the rewrite.
    pub helpers: Vec<ValueId>,
    /// The rules that were applied, in order.
    pub steps: Vec<RecordedStep>,
    /// The estimated costs before and after, if they were estimated.
    pub cost: Option<CostChange>,
}

/// An application of a rule.
#[derive(Debug)]
pub struct RecordedStep {
    /// The name of the rule.
    pub rule: String,
    /// The rule's file and line; `None` if it is built in.
    pub place: Option<String>,
    class: String,
    reversed: bool,
    /// The span of the matched op.
    pub span: Span,
}

impl Record {
    /// Records a rewrite of `g` that has just been made.
    pub fn new(pass: &'static str, g: &Graph, rewrite: &Rewrite<'_>) -> Record {
        let to: Vec<String> = rewrite
            .values
            .iter()
            .map(|&value| value_text(g, value))
            .collect();
        Record {
            pass,
            span: g.span(rewrite.op),
            from: from_text(g, rewrite),
            to: to.join(", "),
            old: g.results(rewrite.op).into_iter().collect(),
            new: rewrite.values.to_vec(),
            helpers: rewrite.helpers.to_vec(),
            steps: rewrite.steps.iter().map(RecordedStep::new).collect(),
            cost: rewrite.cost,
        }
    }

    /// Lists the names of the rules, in order.
    pub fn rules(&self) -> String {
        let names: Vec<&str> = self.steps.iter().map(|step| step.rule.as_str()).collect();
        if names.is_empty() {
            "equal operands".to_owned()
        } else {
            names.join(", ")
        }
    }

    /// Formats the record as one line.
    pub fn line(&self, file: &SourceFile) -> String {
        let place = place_text(file, self.span);
        let (pass, rules) = (self.pass, self.rules());
        format!("{pass}: {rules}: {} at {place} -> {}", self.from, self.to)
    }
}

impl RecordedStep {
    fn new(step: &Step<'_>) -> RecordedStep {
        RecordedStep {
            rule: step.rule.to_owned(),
            place: step.place.map(|(file, line)| format!("{file}:{line}")),
            class: step.class.to_owned(),
            reversed: step.reversed,
            span: step.span,
        }
    }

    /// Formats the step: the rule, its source, its class, and the span of the match.
    pub fn text(&self, file: &SourceFile) -> String {
        let written = self.place.as_deref().unwrap_or("built in");
        let direction = if self.reversed { ", right to left" } else { "" };
        let (rule, class) = (&self.rule, &self.class);
        let at = place_text(file, self.span);
        format!("{rule} ({written}, {class}{direction}) at {at}")
    }
}

/// Formats the location of a span, for example `model.core:7`.
pub fn place_text(file: &SourceFile, span: Span) -> String {
    match file.position(span) {
        (0, _) => file.name().to_owned(),
        (line, _) => format!("{}:{line}", file.name()),
    }
}

/// Describes the subject of a rewrite: an op, or all ops that were moved into a body with it.
fn from_text(g: &Graph, rewrite: &Rewrite<'_>) -> String {
    let block = g.parent(rewrite.op);
    let body = |&block: &BlockId| rewrite.values.iter().all(|&value| owns(g, value, block));
    match block.filter(body) {
        Some(block) => {
            let others = g.ops(block).count().saturating_sub(2);
            format!("{} and {others} other ops", g.def(rewrite.op).name)
        }
        None => op_text(g, rewrite.op),
    }
}

/// Returns whether `block` is the body of the op that defines `value`.
fn owns(g: &Graph, value: ValueId, block: BlockId) -> bool {
    let owner = g.block_owner(block);
    owner.is_some() && owner == g.defining_op(value)
}

/// Formats an op by its name and results, for example `core.add %3`.
pub fn op_text(g: &Graph, op: OpId) -> String {
    let results = g.results(op).into_iter();
    let labels: Vec<String> = results
        .map(|value| format!("%{}", g.label(value)))
        .collect();
    format!("{} {}", head(g, op), labels.join(", "))
}

/// Formats a value by its op, for example `core.add %3` or `core.fused softmax %9`.
pub fn value_text(g: &Graph, value: ValueId) -> String {
    let label = g.label(value);
    match g.defining_op(value) {
        Some(op) => format!("{} %{label}", head(g, op)),
        None => format!("argument %{label}"),
    }
}

/// Returns the op's name, followed by its name attribute if it has a body or is an input.
fn head(g: &Graph, op: OpId) -> String {
    let def = g.def(op);
    let called = !g.regions(op).is_empty() || def.has(Trait::Interface);
    match g.attrs(op).first() {
        Some(&Attr::Str(name)) if called => format!("{} {}", def.name, g.name(name)),
        _ => def.name.to_owned(),
    }
}
