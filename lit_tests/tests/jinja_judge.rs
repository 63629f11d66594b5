//! Compares templates with jinja2 as configured by `transformers`.
//!
//! `MIND_TRANSFORMERS` names a Python with that package. Without it the group is reported as not run;
//! `MIND_TRANSFORMERS_REQUIRED=1` makes that a failure. `MIND_SEED` selects other random templates, and
//! `MIND_TEMPLATES` their number. `INSTA_UPDATE=always` records a part of them, with which mind-jinja is tested without
//! a Python; see docs/testing.md.

use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_jinja::{Template, Value};
use mind_json::{Limits, Value as Json};

/// Maximum number of steps of a template.
const STEPS: u64 = 4_000_000;

/// The recorded part: the seed and the number of random templates, and the step through the combinations of statements.
const RECORDED: [&str; 3] = ["20", "400", "9"];

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_TRANSFORMERS").ok();
    let required = std::env::var("MIND_TRANSFORMERS_REQUIRED").is_ok_and(|value| value == "1");
    let name = "templates_of_jinja2";
    let trial = match python {
        Some(python) => Trial::test(name, move || judged(&python).map_err(Failed::from)),
        None if required => Trial::test(name, || {
            Err(Failed::from(
                "`MIND_TRANSFORMERS` names no Python with transformers",
            ))
        }),
        None => Trial::test(
            format!("{name} (not run: MIND_TRANSFORMERS is not set)"),
            || Ok(()),
        )
        .with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn judged(python: &str) -> Result<(), String> {
    let from = |name: &str, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let (seed, count) = (from("MIND_SEED", "1"), from("MIND_TEMPLATES", "4000"));
    let text = rendered(python, [&seed, &count, "1"])?;
    let mut lines = text.lines();
    let parse = |line: &str| mind_json::parse(line, &Limits::default()).map_err(|why| why.message);
    let variables = parse(lines.next().ok_or("no variables")?)?;
    let (mut wrong, mut all) = (Vec::new(), 0);
    for line in lines {
        let row = parse(line)?;
        let Some([template, expected]) = row.elements() else {
            return Err(format!("no row: {line}"));
        };
        let (template, expected) = (template.text().unwrap_or_default(), expected.text());
        let found = Template::parse(template).and_then(|own| own.render(names(&variables), STEPS));
        all += 1;
        if found.as_deref().ok() != expected {
            wrong.push(format!(
                "{template:?}\n  expected {expected:?}\n  found {found:?}"
            ));
        }
    }
    println!(
        "{} of {all} templates are as jinja2 renders them",
        all - wrong.len()
    );
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../compiler/models/mind-jinja/tests/jinja/recorded.jsonl"
        );
        let text = rendered(python, RECORDED)?;
        std::fs::write(path, text).map_err(|why| format!("{path}: {why}"))?;
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// Runs the script and returns its output.
fn rendered(python: &str, arguments: [&str; 3]) -> Result<String, String> {
    let name = format!("mind-jinja-{}.jsonl", std::process::id());
    let path = std::env::temp_dir().join(name);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jinja_judge.py");
    let mut command = Command::new(python);
    let command = command
        .args(["-W", "ignore", script])
        .arg(&path)
        .args(arguments);
    let status = command.status().map_err(|why| format!("{python}: {why}"))?;
    let text = std::fs::read_to_string(&path);
    let _ = std::fs::remove_file(&path);
    match status.success() {
        true => text.map_err(|why| format!("{}: {why}", path.display())),
        false => Err(format!("{script} failed")),
    }
}

/// Returns the variables that all templates share.
fn names(variables: &Json) -> Vec<(&str, Value)> {
    let refuse = |_| Err(mind_jinja::Error::new("refused"));
    let own = variables.members().unwrap_or_default().iter();
    let own = own.map(|own| (own.key.as_str(), value(&own.value)));
    let functions = ["raise_exception", "strftime_now"];
    own.chain(functions.map(|name| (name, Value::function(name, refuse))))
        .collect()
}

fn value(json: &Json) -> Value {
    if let Some(members) = json.members() {
        let pair = |own: &mind_json::Member| (Value::from(own.key.as_str()), value(&own.value));
        return Value::dict(members.iter().map(pair));
    }
    if let Some(elements) = json.elements() {
        return Value::list(elements.iter().map(value));
    }
    match (json.text(), json.truth(), json.integer(), json.real()) {
        (Some(text), ..) => Value::from(text),
        (_, Some(truth), ..) => Value::Bool(truth),
        // As in Python, a number with a fraction or an exponent is a float even if its value is an integer.
        (_, _, Some(own), _) if !json.print().contains(['.', 'e', 'E']) => Value::Int(own),
        (_, _, _, Some(own)) => Value::Float(own),
        _ => Value::None,
    }
}
