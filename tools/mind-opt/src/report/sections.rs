//! Sections of the page.

use std::fmt::Write;
use std::time::Duration;

use mind_cli::diff;
use mind_draw::{Detail, Drawing, Fill, escape, group_colour, svg_figure};

use super::costs::{costs, say_costs};
use super::rewrites::rewrites;
use super::subject::Subject;

/// Limit on the lines of a diff.
const DIFF_LINES: usize = 400;

/// Returns the title, the pipeline and the totals.
pub(super) fn head(subject: &Subject<'_>) -> String {
    let name = escape(subject.file.name());
    let pipeline = escape(&subject.pipeline);
    let total: Duration = subject.recording.passes.iter().map(|run| run.time).sum();
    let rewrites = counted(subject.rewrites.len(), "rewrite");
    let shown = if pipeline.is_empty() {
        "no passes".to_owned()
    } else {
        format!("<code>{pipeline}</code>")
    };
    format!(
        "<h1>{name}</h1>\n<p>{shown}</p>\n<p>{rewrites} in {} of passes.</p>\n",
        duration(total)
    )
}

/// Returns a table of the passes.
pub(super) fn passes(subject: &Subject<'_>) -> String {
    let (recording, longest) = (subject.recording, longest(subject));
    let mut out = String::from(
        "<h2>Passes</h2>\n<table>\n<thead><tr><th>pass</th><th class=\"number\">time</th><th class=\"share\"></th>\
         <th class=\"number\">ops</th><th class=\"number\">rewrites</th></tr></thead>\n<tbody>\n",
    );
    // Writing to a string cannot fail.
    for (number, run) in recording.passes.iter().enumerate() {
        let ops = |at: usize| recording.states.get(at).map_or(0, |state| state.ops);
        let percent = run.time.as_nanos() * 100 / longest.as_nanos().max(1);
        let _ = writeln!(
            out,
            "<tr><td class=\"name\"><a href=\"#pass{number}\">{}</a></td><td class=\"number\">{}</td>\
             <td class=\"share\"><div class=\"bar\" style=\"width:{percent}%\"></div></td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td></tr>",
            run.name,
            duration(run.time),
            transition(ops(number), ops(number + 1)),
            run.rewrites.len()
        );
    }
    out.push_str("</tbody></table>\n");
    out
}

fn longest(subject: &Subject<'_>) -> Duration {
    let times = subject.recording.passes.iter().map(|run| run.time);
    times.max().unwrap_or_default()
}

fn transition(before: usize, after: usize) -> String {
    if before == after {
        before.to_string()
    } else {
        format!("{before} → {after}")
    }
}

pub(super) fn duration(time: Duration) -> String {
    let micros = time.as_nanos() as f64 / 1e3;
    if micros < 1e3 {
        format!("{micros:.1} µs")
    } else {
        format!("{:.2} ms", micros / 1e3)
    }
}

/// Returns the section of a pass: rewrites, the module before and after it, and the text diff.
pub(super) fn pass(subject: &Subject<'_>, number: usize) -> String {
    let recording = subject.recording;
    let run = &recording.passes[number];
    let (Some(before), Some(after)) = (
        recording.states.get(number),
        recording.states.get(number + 1),
    ) else {
        return String::new();
    };
    let heading = format!(
        "<h2 id=\"pass{number}\">{}. {}</h2>\n",
        number + 1,
        run.name
    );
    if before.text == after.text {
        let what = if run.changed {
            "It changed nothing that is visible in the text."
        } else {
            "It changed nothing."
        };
        return format!("{heading}<p class=\"dim\">{what}</p>\n");
    }
    let (mut old, mut new) = (before.drawing.clone(), after.drawing.clone());
    Drawing::mark_changes(&mut old, &mut new);
    let costs = costs(subject, number);
    say_costs(&mut new, &costs);
    let mut out = heading;
    out.push_str(&rewrites(subject, run));
    out.push_str(
        "<p class=\"legend dim\"><span class=\"mark-gone\">gone</span><span class=\"mark-new\">new</span>\
         <span class=\"mark-changed\">changed</span></p>\n<div class=\"sides\">\n",
    );
    for (title, drawing) in [("before", &old), ("after", &new)] {
        let figure = svg_figure(&drawing.simplified(Detail::Folded));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<div><h3>{title}</h3><div class=\"scroll\" tabindex=\"0\">{figure}</div></div>"
        );
    }
    out.push_str("</div>\n");
    let _ = writeln!(
        out,
        "<details><summary>Difference as text</summary>{}</details>",
        difference(&before.text, &after.text)
    );
    out
}

/// Returns the text diff.
fn difference(before: &str, after: &str) -> String {
    let text = diff::unified(before, after, ("before", "after"));
    let mut out = String::from("<pre class=\"diff\">");
    for line in text.lines().take(DIFF_LINES) {
        let class = match line.as_bytes().first() {
            Some(b'+') => "plus",
            Some(b'-') => "minus",
            _ => "same",
        };
        let _ = writeln!(out, "<span class=\"{class}\">{}</span>", escape(line));
    }
    if text.lines().count() > DIFF_LINES {
        out.push_str("...\n");
    }
    out.push_str("</pre>");
    out
}

/// Returns the section of the resulting module, with its fusion groups.
pub(super) fn result(subject: &Subject<'_>) -> String {
    let Some(last) = subject.recording.states.last() else {
        return String::new();
    };
    let mut drawing = last.drawing.clone();
    if let Some(number) = subject.recording.passes.len().checked_sub(1) {
        say_costs(&mut drawing, &costs(subject, number));
    }
    let mut out = String::from("<h2 id=\"result\">The result</h2>\n");
    let groups = drawing.boxes().filter_map(|own| match own.fill {
        Fill::Group(number) => Some((own, number)),
        Fill::Input | Fill::Param | Fill::Constant | Fill::Op | Fill::Output => None,
    });
    let groups: Vec<_> = groups.collect();
    if !groups.is_empty() {
        out.push_str("<h3>Fusion groups</h3>\n<table>\n<tbody>\n");
        for (own, group) in groups {
            let row = |start| own.rows.iter().find_map(|row| row.text.strip_prefix(start));
            let (cost, kind) = (row("cost "), row("kind="));
            let title = own.rows.first().map_or("", |row| &row.text);
            let _ = writeln!(
                out,
                "<tr><td class=\"name\"><span class=\"swatch\" style=\"background:{}\"></span>{}</td><td>{}</td><td>{}</td></tr>",
                group_colour(group),
                escape(&format!("{} {title}", own.key)),
                escape(kind.unwrap_or_default()),
                escape(&cost.map_or_else(String::new, |cost| format!("cost {cost}")))
            );
        }
        out.push_str("</tbody></table>\n");
    }
    let _ = writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\">{}</div>",
        svg_figure(&drawing.simplified(Detail::Folded))
    );
    let _ = writeln!(
        out,
        "<details><summary>As text</summary><pre>{}</pre></details>",
        escape(&last.text)
    );
    out
}

/// Formats a count, for example `1 kernel` or `2 kernels`.
pub(super) fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
