//! The rows against the published signatures.

mod blocks;
mod evaluation;
mod integers;
mod mutations;
mod numbers;

use std::collections::BTreeMap;

use mind_mil::ops::ROWS;
use mind_mil::signature::{Arg, Kind};
use mind_mil::{Element, MilOp, Opset};
use serde_json::Value;

/// Published ops without a row, with the reason.
const ABSENT: &[(&str, &str)] = &[
    (
        "const",
        "a constant has attributes, no arguments: `mil.const`",
    ),
    (
        "_const_symbolic",
        "of the Python tool alone; no file holds it",
    ),
    ("classify", "its result is a dictionary"),
    ("make_list", "its result is a list"),
    ("list_read", "it takes a list"),
    ("list_write", "it takes a list"),
    ("list_gather", "it takes a list"),
    ("list_scatter", "it takes a list"),
    ("list_length", "it takes a list"),
];

/// Rows that are not published, with the reason.
const EXTRA: &[(&str, &str)] = &[(
    "write_state",
    "the Python tool writes it for its own `coreml_update_state`",
)];

fn published() -> BTreeMap<String, Value> {
    serde_json::from_str(include_str!("mil_ops.json")).expect("the fixture is JSON")
}

fn opset(name: &str) -> Opset {
    match name {
        "iOS13" | "iOS15" => Opset::Ios15,
        other => Opset::parse(other).unwrap_or_else(|| panic!("no opset {other}")),
    }
}

#[test]
fn every_published_op_has_a_row_or_a_reason() {
    let named = |name: &str| ROWS.iter().any(|row| row.name == name);
    for name in published().keys() {
        let excused = ABSENT
            .iter()
            .any(|(own, reason)| own == name && !reason.is_empty());
        assert_ne!(named(name), excused, "{name}");
    }
    for row in ROWS {
        let excused = EXTRA
            .iter()
            .any(|(own, reason)| *own == row.name && !reason.is_empty());
        assert_ne!(published().contains_key(row.name), excused, "{}", row.name);
    }
}

#[test]
fn every_signature_is_the_published_one() {
    let published = published();
    for row in ROWS {
        let Some(versions) = published.get(row.name).and_then(Value::as_object) else {
            continue;
        };
        let mut wanted: Vec<(Opset, &Value)> = versions
            .iter()
            .map(|(name, version)| (opset(name), version))
            .collect();
        wanted.sort_by_key(|(since, _)| *since);
        let own: Vec<Opset> = row.signatures.iter().map(|(since, _)| *since).collect();
        let since: Vec<Opset> = wanted.iter().map(|(since, _)| *since).collect();
        assert_eq!(own, since, "{}", row.name);
        for ((since, args), (_, version)) in row.signatures.iter().zip(wanted) {
            check(
                row,
                *since,
                args,
                version["inputs"].as_object().expect("inputs"),
            );
        }
    }
}

fn check(row: &MilOp, since: Opset, args: &[Arg], inputs: &serde_json::Map<String, Value>) {
    let built = |kind: &str| matches!(kind, "Internal" | "PyFunction");
    let inputs: Vec<(&String, &Value)> = inputs
        .iter()
        .filter(|(_, input)| !built(input["kind"].as_str().unwrap()))
        .collect();
    let place = format!("{} in {}", row.name, since.tag());
    let mut names: Vec<&str> = args.iter().map(|arg| arg.name).collect();
    let mut wanted: Vec<&str> = inputs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(names, wanted, "{place}");
    let mut groups: BTreeMap<&str, u8> = BTreeMap::new();
    for (name, input) in inputs {
        let arg = args
            .iter()
            .find(|arg| arg.name == name)
            .expect("compared above");
        let place = format!("{place}: {name}");
        let kind = match arg.kind {
            Kind::Tensor => "Tensor",
            Kind::Tuple => "Tuple",
            Kind::State => "State",
            Kind::List => "List",
            Kind::Any => "ListOrTensorOrDict",
        };
        assert_eq!(input["kind"], kind, "{place}");
        assert_eq!(input["const"], arg.constant, "{place}: const");
        assert_eq!(input["optional"], arg.optional, "{place}: optional");
        if let Some(types) = input["types"].as_array() {
            let mut wanted: Vec<&str> = types.iter().map(|name| name.as_str().unwrap()).collect();
            let mut own: Vec<&str> = arg.types.iter().map(Element::name).collect();
            own.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(own, wanted, "{place}: types");
        }
        match input["domain"].as_str() {
            Some(domain) => {
                let known = *groups.entry(domain).or_insert(arg.group);
                assert_eq!(known, arg.group, "{place}: group");
                assert_ne!(arg.group, 0, "{place}: group");
            }
            None => assert_eq!(arg.group, 0, "{place}: group"),
        }
    }
    let distinct: std::collections::BTreeSet<u8> = groups.values().copied().collect();
    assert_eq!(distinct.len(), groups.len(), "{place}: groups");
}
