//! Output of `--timing`.

use std::time::Duration;

use serde_json::{Value, json};

use super::rewrites::TimedRule;
use super::watch::Timed;

/// Formats a table of wall time, CPU time if known, and share of the total.
pub(super) fn table(times: &[Timed], rules: &[TimedRule], pipeline: &str) -> String {
    let total = total(times);
    let mut out = format!("pipeline: {pipeline}\n");
    for timed in times {
        let time = micros(timed.time);
        let share = 100.0 * time / total.max(1e-9);
        let cpu = cpu_column(timed.cpu);
        out.push_str(&format!(
            "{time:12.1} us  {cpu}{share:5.1} %  {}\n",
            timed.name
        ));
    }
    let cpu = cpu_column(
        times
            .iter()
            .filter_map(|timed| timed.cpu)
            .reduce(|a, b| a + b),
    );
    out.push_str(&format!("{total:12.1} us  {cpu}100.0 %  total\n"));
    if !rules.is_empty() {
        out.push_str("rules, matching and applying:\n");
    }
    for timed in rules {
        let (matching, applying) = (micros(timed.time.matching), micros(timed.time.applying));
        let (pass, rule) = (timed.pass, &timed.rule);
        out.push_str(&format!(
            "{matching:12.1} us  {applying:12.1} us  {pass}  {rule}\n"
        ));
    }
    out
}

/// Formats the CPU time of a line, if known.
fn cpu_column(cpu: Option<Duration>) -> String {
    cpu.map_or(String::new(), |cpu| {
        format!("{:12.1} us cpu  ", micros(cpu))
    })
}

/// Formats a JSON object with times in microseconds, which Chrome trace viewers can load.
pub(super) fn trace(times: &[Timed], rules: &[TimedRule], pipeline: &str) -> String {
    let nanos = |time: Duration| time.as_nanos() as u64;
    let steps: Vec<Value> = times
        .iter()
        .map(|timed| match timed.cpu.map(micros) {
            Some(cpu) => json!({"name": timed.name, "wall_us": micros(timed.time), "cpu_us": cpu}),
            None => json!({"name": timed.name, "wall_us": micros(timed.time)}),
        })
        .collect();
    let rows: Vec<Value> = rules
        .iter()
        .map(|timed| {
            json!({
                "pass": timed.pass,
                "rule": timed.rule,
                "match_ns": nanos(timed.time.matching),
                "apply_ns": nanos(timed.time.applying),
            })
        })
        .collect();
    let object = json!({
        "pipeline": pipeline,
        "total_us": total(times),
        "steps": steps,
        "rules": rows,
        "traceEvents": events(times, rules),
    });
    format!("{object}\n")
}

/// Returns trace events: steps in the first row, and the rules of each pass in the second row.
fn events(times: &[Timed], rules: &[TimedRule]) -> Vec<Value> {
    const STEPS: u32 = 1;
    const RULES: u32 = 2;
    let mut events = vec![row_name(STEPS, "steps"), row_name(RULES, "rules")];
    let mut start = 0.0;
    let mut shown: Vec<&str> = Vec::new();
    for timed in times {
        events.push(event(STEPS, &timed.name, start, micros(timed.time)));
        // The times of rules are summed over all runs of a pass, so only the first run shows them.
        if !shown.contains(&timed.name.as_str()) {
            shown.push(&timed.name);
            let mut below = start;
            for rule in rules.iter().filter(|rule| rule.pass == timed.name) {
                let took = micros(rule.time.matching + rule.time.applying);
                events.push(event(RULES, &rule.rule, below, took));
                below += took;
            }
        }
        start += micros(timed.time);
    }
    events
}

fn event(row: u32, name: &str, start: f64, took: f64) -> Value {
    json!({"name": name, "ph": "X", "ts": start, "dur": took, "pid": 1, "tid": row})
}

fn row_name(row: u32, name: &str) -> Value {
    json!({"name": "thread_name", "ph": "M", "pid": 1, "tid": row, "args": {"name": name}})
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

fn total(times: &[Timed]) -> f64 {
    times.iter().map(|timed| micros(timed.time)).sum()
}
