//! Explains the rewrites that led to a value, or why a rule did not fire.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use crate::formats::Format;
use crate::history::{Record, RecordedStep, op_text, place_text};
use mind_diag::{SourceFile, Span};
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};
use mind_pass::RewriteOptions;

/// Limit on the names listed in an error.
const LISTED: usize = 40;

/// Limit on the lines about one value.
const LINES: usize = 200;

/// The subject of an explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explain {
    /// Every changed value and every fusion group.
    All,
    /// A value by its name in the output, or output number N as `out:N`.
    Value(String),
    /// The effect of a rule on a line of the input.
    Rule(RuleAt),
}

/// A rule and a line of the input, with the reasons why the rule did not fire there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleAt {
    rule: String,
    line: usize,
    missed_reasons: Vec<String>,
}

impl Explain {
    /// Parses the value of `--explain`; an empty value selects everything.
    pub fn parse(text: &str, rewriting: &RewriteOptions) -> Explain {
        let at = text.rsplit_once('@');
        let at = at.and_then(|(rule, line)| Some((rule, line.parse().ok()?)));
        match (text, at) {
            ("", _) => Explain::All,
            (_, Some((rule, line))) => {
                let off = "it is disabled by `--disable-rule` or `--only-rule`";
                let off = (!rewriting.enables(rule)).then(|| off.to_owned());
                Explain::Rule(RuleAt {
                    rule: rule.to_owned(),
                    line,
                    missed_reasons: off.into_iter().collect(),
                })
            }
            (value, None) => Explain::Value(value.to_owned()),
        }
    }

    /// Returns the rule, if the subject is a rule.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Explain::Rule(at) => Some(&at.rule),
            Explain::All | Explain::Value(_) => None,
        }
    }

    /// Returns whether missed matches of `rule` have to be recorded.
    pub fn records_missed(&self, rule: &str) -> bool {
        matches!(self, Explain::Rule(at) if at.rule == rule)
    }

    /// Records that a rule did not fire.
    pub fn missed(&mut self, file: &SourceFile, pass: &str, rule: &str, span: Span, reason: &str) {
        if let Explain::Rule(at) = self
            && at.rule == rule
            && at.line == file.position(span).0
        {
            let line = format!("{pass}: did not act: {reason}");
            if !at.missed_reasons.contains(&line) {
                at.missed_reasons.push(line);
            }
        }
    }
}

/// The rewrites of a module in order, the resulting module, and its output format.
pub struct Story<'a> {
    file: &'a SourceFile,
    history: &'a [Record],
    g: &'a Graph,
    format: Format,
    /// Indices of the rewrites that created each value or replaced another value by it.
    made_by: HashMap<ValueId, Vec<usize>>,
}

impl<'a> Story<'a> {
    /// Indexes the rewrites of `g`, which is printed as `format`.
    pub fn new(
        file: &'a SourceFile,
        history: &'a [Record],
        g: &'a Graph,
        format: Format,
    ) -> Story<'a> {
        let mut made_by: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (at, record) in history.iter().enumerate() {
            for &value in record.new.iter().chain(&record.helpers) {
                made_by.entry(value).or_default().push(at);
            }
        }
        Story {
            file,
            history,
            g,
            format,
            made_by,
        }
    }

    /// Returns the explanation of `subject`.
    ///
    /// # Errors
    ///
    /// Errors if the output lacks the value.
    pub fn explain(&self, subject: &Explain) -> Result<String, String> {
        let mut out = String::new();
        match subject {
            Explain::All => self.all(&mut out),
            Explain::Value(name) => {
                let (at, value) = self.find(name)?;
                self.value(at, value, &mut out);
            }
            Explain::Rule(at) => self.rule(at, &mut out),
        }
        Ok(out)
    }

    /// Explains every value that a rewrite created or reused, and every fusion group.
    fn all(&self, out: &mut String) {
        for (at, value) in self.values().into_iter().enumerate() {
            if self.made_by.contains_key(&value) {
                self.value(at, value, out);
            }
        }
        if out.is_empty() {
            out.push_str("no rewrite was made\n");
        }
    }

    fn values(&self) -> Vec<ValueId> {
        let ops = self.g.ops(self.g.body());
        ops.flat_map(|op| self.g.results(op)).collect()
    }

    /// Returns the name of `value` in the output.
    fn name(&self, at: usize, value: ValueId) -> String {
        match self.format {
            Format::Mic2 => at.to_string(),
            Format::Mic1 => format!("N{}", self.g.label(value)),
            _ => format!("%{}", self.g.label(value)),
        }
    }

    /// Returns the value called `wanted` and its position among all values.
    fn find(&self, wanted: &str) -> Result<(usize, ValueId), String> {
        let values = self.values();
        if let Some(number) = wanted.strip_prefix("out:") {
            let outputs = self.g.outputs();
            let output = number.parse().ok().and_then(|at: usize| outputs.get(at));
            let at = output.and_then(|output| values.iter().position(|own| own == output));
            return at.map(|at| (at, values[at])).ok_or_else(|| {
                let count = outputs.len();
                format!(
                    "the module has no `{wanted}`; it has {count} outputs, counted from `out:0`"
                )
            });
        }
        if let Some(output) = self.g.interface.output_position(wanted) {
            let output = self.g.outputs()[output];
            if let Some(at) = values.iter().position(|&own| own == output) {
                return Ok((at, output));
            }
        }
        let named = |at: usize| self.name(at, values[at]);
        let found = (0..values.len()).find(|&at| named(at) == wanted);
        found.map(|at| (at, values[at])).ok_or_else(|| {
            let names: Vec<String> = (0..values.len().min(LISTED)).map(named).collect();
            let more = match values.len().saturating_sub(LISTED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let names = names.join(", ");
            format!("no value of the output is called `{wanted}`; they are {names}{more}")
        })
    }

    /// Explains the derivation of `value` from the input.
    fn value(&self, at: usize, value: ValueId, out: &mut String) {
        let name = self.name(at, value);
        let head = self.g.defining_op(value).map(|op| op_text(self.g, op));
        let _ = writeln!(out, "{name}: {}", head.unwrap_or_default());
        let records = self.records(value);
        if let (true, Some(op)) = (records.is_empty(), self.g.defining_op(value)) {
            let place = place_text(self.file, self.g.span(op));
            let _ = writeln!(out, "  as in the input at {place}");
        }
        let mut lines = 0;
        for at in records {
            self.record(&self.history[at], out);
            lines += 1 + self.history[at].steps.len();
            if lines > LINES {
                let _ = writeln!(out, "  ... and more");
                break;
            }
        }
        if let Some(op) = self.g.defining_op(value) {
            self.members(op, out);
        }
    }

    /// Returns the indices of the rewrites that led to `value`, in order.
    fn records(&self, value: ValueId) -> BTreeSet<usize> {
        let mut records = BTreeSet::new();
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            work.extend(self.inner(value));
            for &at in self.made_by.get(&value).into_iter().flatten() {
                if records.insert(at) {
                    work.extend(&self.history[at].old);
                }
            }
        }
        records
    }

    /// Returns the values in the regions of the op that defines `value`.
    fn inner(&self, value: ValueId) -> Vec<ValueId> {
        let op = self.g.defining_op(value);
        let regions = op.map_or(&[][..], |op| self.g.regions(op));
        let blocks = regions.iter().map(|&region| self.g.block(region));
        let ops = blocks.flat_map(|block| self.g.ops(block));
        ops.flat_map(|op| self.g.results(op)).collect()
    }

    fn record(&self, record: &Record, out: &mut String) {
        let place = place_text(self.file, record.span);
        let (pass, from, to) = (record.pass, &record.from, &record.to);
        let _ = write!(out, "  {pass}: {from} at {place} -> {to}");
        if let Some(cost) = record.cost {
            let _ = write!(out, ", cost {} ps -> {} ps", cost.before, cost.after);
        }
        out.push('\n');
        for step in &record.steps {
            let _ = writeln!(out, "    {}", step.text(self.file));
        }
        if record.steps.is_empty() {
            let _ = writeln!(out, "    its operands are equal now");
        }
    }

    /// Lists the ops that are fused in `op`.
    fn members(&self, op: OpId, out: &mut String) {
        for &region in self.g.regions(op) {
            let block = self.g.block(region);
            let inner = self.g.ops(block);
            let inner = inner.filter(|&op| !self.g.def(op).has(Trait::Terminator));
            let members: Vec<String> = inner.map(|op| op_text(self.g, op)).collect();
            let _ = writeln!(out, "  {} fused ops: {}", members.len(), members.join(", "));
        }
    }

    fn rule(&self, at: &RuleAt, out: &mut String) {
        let (rule, line) = (&at.rule, at.line);
        let _ = writeln!(out, "{rule} at {}:{line}", self.file.name());
        let mut is_explained = false;
        for record in self.history {
            let here =
                |step: &RecordedStep| step.rule == *rule && self.file.position(step.span).0 == line;
            if record.steps.iter().any(here) {
                is_explained = true;
                let _ = writeln!(
                    out,
                    "  {}: acted: {} -> {}",
                    record.pass, record.from, record.to
                );
            }
        }
        for reason in &at.missed_reasons {
            is_explained = true;
            let _ = writeln!(out, "  {reason}");
        }
        if !is_explained {
            let text = self.file.text().lines().nth(line.wrapping_sub(1));
            let _ = match text.map(str::trim).filter(|text| !text.is_empty()) {
                Some(text) => writeln!(out, "  no pass tried it on `{text}`"),
                None => writeln!(out, "  the line is empty"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_told_apart() {
        let parse = |text| Explain::parse(text, &RewriteOptions::default());
        assert_eq!(parse(""), Explain::All);
        assert_eq!(parse("%7"), Explain::Value("%7".into()));
        assert!(parse("mul-one@12").records_missed("mul-one"));
        assert_eq!(parse("a@b"), Explain::Value("a@b".into()));
    }
}
