//! Implements `--remarks`: rewrites that were made, and rules that did not fire.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_driver::history::Record;
use regex_lite::Regex;

/// Limit on the remarks that are shown; further remarks are counted.
const SHOWN: usize = 100;

/// Filters of remarks, and the remarks so far.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    passed: Option<Filter>,
    missed: Option<Filter>,
    warnings: Vec<Diagnostic>,
    made: Vec<Diagnostic>,
    cut: usize,
}

/// Filter on rule names; `None` accepts all.
type Filter = Option<Regex>;

impl Remarks {
    /// Parses filters, for example `passed,missed:REGEX`. A regex may contain commas.
    ///
    /// # Errors
    ///
    /// Errors if a kind is not `passed` or `missed`, or if a regex is invalid.
    pub(super) fn parse(text: &str) -> Result<Remarks, String> {
        let mut remarks = Remarks::default();
        for item in items(text) {
            let (kind, pattern) = match item.split_once(':') {
                Some((kind, pattern)) => (kind, Some(pattern)),
                None => (item.as_str(), None),
            };
            let filter = pattern.map(regex).transpose()?;
            match kind {
                "passed" => remarks.passed = Some(filter),
                "missed" => remarks.missed = Some(filter),
                other => {
                    return Err(format!(
                        "unknown kind of remark `{other}`: expected `passed` or `missed`, each alone or with \
                         `:REGEX` over rule names"
                    ));
                }
            }
        }
        Ok(remarks)
    }

    /// Returns whether rewrites are reported.
    pub(super) fn shows_passed(&self) -> bool {
        self.passed.is_some()
    }

    /// Returns whether missed matches of `rule` are reported.
    pub(super) fn shows_missed(&self, rule: &str) -> bool {
        self.missed
            .as_ref()
            .is_some_and(|filter| admits(filter, rule))
    }

    /// Records a rewrite.
    pub(super) fn passed(&mut self, record: &Record) {
        let wanted = self.passed.as_ref().is_some_and(|filter| {
            filter.is_none() || record.steps.iter().any(|step| admits(filter, &step.rule))
        });
        if !wanted {
            return;
        }
        let (pass, rules) = (record.pass, record.rules());
        let message = format!("{pass}: {rules}: {} became {}", record.from, record.to);
        let mut remark = Diagnostic::new(Severity::Remark, record.span, message);
        for step in &record.steps {
            if let Some(place) = &step.place {
                remark = remark.note(format!("`{}` is in {place}", step.rule));
            }
        }
        self.push(remark);
    }

    /// Records that a rule did not fire.
    pub(super) fn missed(&mut self, pass: &str, rule: &str, span: Span, reason: &str) {
        let message = format!("{pass}: {rule} did not act: {reason}");
        self.push(Diagnostic::new(Severity::Remark, span, message));
    }

    /// Records a remark or a warning of a pass. Remarks are filtered like missed matches; warnings are always shown.
    pub(super) fn noted(&mut self, note: Diagnostic) {
        let is_wanted = || {
            let filter = self.missed.as_ref();
            filter.is_some_and(|filter| admits(filter, &note.message))
        };
        if note.severity != Severity::Warning {
            if is_wanted() {
                self.push(note);
            }
        } else if !self.warnings.contains(&note) {
            self.warnings.push(note);
        }
    }

    /// Adds a remark, unless it is a duplicate, because passes may visit an op several times.
    fn push(&mut self, remark: Diagnostic) {
        if self.made.contains(&remark) {
            return;
        }
        if self.made.len() < SHOWN {
            self.made.push(remark)
        } else {
            self.cut += 1
        }
    }

    /// Moves the remarks to `found`, with a note on the number of those not shown.
    pub(super) fn take(&mut self, found: &mut Diagnostics) {
        let shown = self.warnings.drain(..).chain(self.made.drain(..));
        shown.for_each(|remark| found.push(remark));
        let cut = std::mem::take(&mut self.cut);
        if cut > 0 {
            let message = format!("{cut} more remarks are not shown");
            let help = "`--remarks=missed:REGEX` and `passed:REGEX` choose among the rules";
            found.push(Diagnostic::new(Severity::Note, Span::FILE, message).help(help));
        }
    }
}

/// Splits the list at commas that are not part of a regex.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for part in text.split(',') {
        let starts = ["passed", "missed"]
            .iter()
            .any(|kind| part.starts_with(kind));
        match items.last_mut() {
            Some(last) if !starts && last.contains(':') => {
                last.push(',');
                last.push_str(part);
            }
            _ => items.push(part.to_owned()),
        }
    }
    items
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("`{pattern}` is not a regex: {error}"))
}

fn admits(filter: &Filter, rule: &str) -> bool {
    filter.as_ref().is_none_or(|regex| regex.is_match(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_rules() {
        let remarks = Remarks::parse("passed,missed:^mul-").unwrap();
        assert!(remarks.shows_passed());
        assert!(remarks.shows_missed("mul-one") && !remarks.shows_missed("add-mul-one"));
        assert!(!Remarks::parse("passed").unwrap().shows_missed("mul-one"));
    }

    #[test]
    fn a_regex_may_hold_commas() {
        let remarks = Remarks::parse("missed:^a{1,2}$,passed").unwrap();
        assert!(remarks.shows_passed());
        assert!(remarks.shows_missed("aa") && !remarks.shows_missed("aaa"));
    }

    #[test]
    fn other_words_and_broken_patterns_are_refused() {
        assert!(Remarks::parse("failed").unwrap_err().contains("`failed`"));
        assert!(Remarks::parse("passed,x").is_err());
        assert!(Remarks::parse("missed:(").is_err());
    }

    #[test]
    fn what_is_cut_is_counted() {
        let mut remarks = Remarks::parse("missed").unwrap();
        for at in 0..SHOWN as u32 + 3 {
            remarks.missed("fold", "r", Span::new(at, at + 1), "no");
        }
        remarks.missed("fold", "r", Span::new(0, 1), "no");
        let mut found = Diagnostics::new();
        remarks.take(&mut found);
        assert_eq!(found.iter().count(), SHOWN + 1);
        let last = found.iter().last().unwrap();
        assert_eq!(last.message, "3 more remarks are not shown");
    }
}
