//! Section of the rewrites of a pass, with justifications.

use std::fmt::Write;

use mind_draw::escape;
use mind_driver::history::{Record, place_text};

use super::costs::cost_text;
use super::recording::PassRun;
use super::subject::Subject;

/// Limit on the rewrites listed for a pass.
const LISTED: usize = 200;

/// Returns a table of the rewrites with the rules and their sources.
pub(super) fn rewrites(subject: &Subject<'_>, run: &PassRun) -> String {
    let records = &subject.rewrites[run.rewrites.clone()];
    if records.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<details open><summary>Rules that acted</summary><table class=\"stacks\">\n\
         <colgroup><col class=\"rule\"><col class=\"on\"><col class=\"became\"><col></colgroup>\n\
         <thead><tr><th>rule</th><th>on</th><th>became</th><th>because</th></tr></thead>\n<tbody>\n",
    );
    for record in records.iter().take(LISTED) {
        let (from, to) = (escape(&record.from), escape(&record.to));
        let place = escape(&place_text(subject.file, record.span));
        let cost = record.cost.map_or(String::new(), |cost| {
            format!("<br><span class=\"dim\">{}</span>", cost_text(cost))
        });
        let _ = writeln!(
            out,
            "<tr><td class=\"name\" data-label=\"rule\">{}</td>\
             <td class=\"name\" data-label=\"on\">{from}<br><span class=\"dim\">{place}</span></td>\
             <td class=\"name\" data-label=\"became\">{to}{cost}</td><td data-label=\"because\">{}</td></tr>",
            escape(&record.rules()),
            because(subject, record)
        );
    }
    out.push_str("</tbody></table>");
    if records.len() > LISTED {
        let _ = write!(out, "<p class=\"dim\">{} more</p>", records.len() - LISTED);
    }
    out.push_str("</details>\n");
    out
}

/// Justifies a rewrite.
fn because(subject: &Subject<'_>, record: &Record) -> String {
    if record.steps.is_empty() {
        return "equal ops on equal operands have equal results".to_owned();
    }
    let steps = record.steps.iter();
    let reasons = steps.map(|step| reason(subject, &step.text(subject.file), &step.rule));
    reasons.collect::<Vec<_>>().join("<br>")
}

/// Describes a step, with the source of its rule.
fn reason(subject: &Subject<'_>, step: &str, rule: &str) -> String {
    let known = subject
        .rules
        .and_then(|rules| rules.infos().iter().find(|info| info.name == rule));
    let Some(info) = known else {
        return escape(step);
    };
    let source = info.source.as_deref().unwrap_or_default();
    format!(
        "{}<br><code>{}</code><br>{}",
        escape(step),
        escape(&info.sides),
        escape(source)
    )
}
