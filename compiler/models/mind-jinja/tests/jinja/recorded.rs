//! Constructs of templates, with the texts that jinja2 makes of them as `transformers` configures it.
//!
//! `recorded.jsonl` is written by the judge, see docs/testing.md: the variables that all templates see, then a template and its
//! text on each line, `null` for one that fails.

use mind_jinja::{Template, Value};
use mind_json::{Limits, Value as Json};

/// Steps that no recorded template needs.
const STEPS: u64 = 4_000_000;

pub(crate) fn value(json: &Json) -> Value {
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
        // A number with a fraction or an exponent is a float, whatever its value.
        (_, _, Some(own), _) if !json.print().contains(['.', 'e', 'E']) => Value::Int(own),
        (_, _, _, Some(own)) => Value::Float(own),
        _ => Value::None,
    }
}

#[test]
fn constructs_give_the_recorded_texts() {
    let text = include_str!("recorded.jsonl");
    let parse = |line: &str| mind_json::parse(line, &Limits::default()).expect("JSON");
    let mut lines = text.lines();
    let variables = parse(lines.next().expect("variables"));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in lines {
        let row = parse(line);
        let [template, expected] = row.elements().expect("a row") else {
            panic!("a row of two");
        };
        let (template, expected) = (template.text().expect("a template"), expected.text());
        let own = variables.members().expect("names").iter();
        let own = own.map(|own| (own.key.as_str(), value(&own.value)));
        let mut all: Vec<(&str, Value)> = own.collect();
        let refuse = |_| Err(mind_jinja::Error::new("refused"));
        all.push((
            "raise_exception",
            Value::function("raise_exception", refuse),
        ));
        all.push(("strftime_now", Value::function("strftime_now", refuse)));
        let found = Template::parse(template).and_then(|own| own.render(all, STEPS));
        count += 1;
        if found.as_deref().ok() != expected {
            wrong.push(format!(
                "{template:?}\n  expected {expected:?}\n  found {found:?}"
            ));
        }
    }
    assert!(count > 1000, "{count} templates");
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
