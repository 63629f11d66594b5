//! Every row of the op table is documented, can be evaluated, and reports the errors that its doc lists.

use std::collections::BTreeSet;

use mind_core::ops::OPS;
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::fused::Fused;
use mind_core::ops::input::Input;
use mind_ir::opdef::{Op, OpDef};

use crate::module::examples;
use crate::rules;

/// Fails on a row that neither holds nor is excused, on an excuse without a reason, and on an unnecessary excuse.
#[track_caller]
fn assert_coverage(holds: impl Fn(&OpDef) -> bool, excused: &[(&str, &str)]) {
    for def in OPS {
        let reason = excused
            .iter()
            .find(|(name, _)| *name == def.name)
            .map(|(_, reason)| *reason);
        match (holds(def), reason) {
            (false, None) => panic!("{} is not covered", def.name),
            (true, Some(_)) => panic!("{} needs no excuse", def.name),
            (_, Some("")) => panic!("{} is excused without a reason", def.name),
            _ => {}
        }
    }
    for (name, _) in excused {
        assert!(
            OPS.iter().any(|def| def.name == *name),
            "{name} is excused, but no op"
        );
    }
}

#[test]
fn every_op_is_documented() {
    let sections = ["Shapes: ", "Errors: ", "Source: "];
    let documented = |def: &OpDef| {
        let first = def.doc.lines().next().unwrap_or_default();
        let lines: Vec<&str> = def.doc.lines().map(str::trim).collect();
        !first.trim().is_empty()
            && sections
                .iter()
                .all(|section| lines.iter().any(|line| line.starts_with(section)))
    };
    assert_coverage(documented, &[]);
}

#[test]
fn every_op_has_a_meaning_or_says_why_not() {
    assert_coverage(
        |def| def.eval.is_some(),
        &[(Input::DEF.name, "bound when run")],
    );
}

#[test]
fn every_op_has_an_example() {
    let examples = examples();
    let has_example = |def: &OpDef| examples.iter().any(|e| e.def.name == def.name);
    let excused = [
        (Input::DEF.name, "its type is declared, not inferred"),
        (Fused::DEF.name, "it needs a body"),
        (If::DEF.name, "it needs regions"),
        (While::DEF.name, "it needs regions"),
        (Scan::DEF.name, "it needs regions"),
    ];
    assert_coverage(has_example, &excused);
}

/// Returns the codes in the `Errors:` section of an op's doc.
fn documented_codes(def: &OpDef) -> BTreeSet<&'static str> {
    let errors = def.doc.split_once("Errors:").map_or("", |(_, rest)| rest);
    let errors = errors
        .split_once("Source:")
        .map_or(errors, |(section, _)| section);
    let starts = errors.match_indices('E').map(|(at, _)| &errors[at..]);
    let code = |text: &'static str| {
        let code = text.get(..5)?;
        code[1..]
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then_some(code)
    };
    starts.filter_map(code).collect()
}

/// Codes that the examples of the verifier do not cover: those of parsers, because no attribute can hold the mistake,
/// and those of running, which the tests of the op itself cover.
const NOT_OF_THE_VERIFIER: [(&str, &str, &str); 24] = [
    (
        "core.const_i64",
        "E1005",
        "an attribute holds an i64: parsers report it",
    ),
    (
        "core.const_f64",
        "E4005",
        "an attribute holds an f64: parsers report it",
    ),
    (
        "core.const_tensor",
        "E3010",
        "an attribute holds flat data: parsers report it",
    ),
    ("core.div", "E6005", "run: elementwise.rs"),
    ("core.pow", "E6005", "run: elementwise.rs"),
    ("core.mod", "E6005", "run: elementwise.rs"),
    ("core.remainder", "E6005", "run: elementwise.rs"),
    ("core.index", "E6001", "run: movement.rs"),
    ("core.gather", "E6001", "run: movement.rs"),
    ("core.dynamic_slice", "E6001", "run: dynamic.rs"),
    ("core.dynamic_update_slice", "E6001", "run: dynamic.rs"),
    ("core.gather_elements", "E6001", "run: indexing.rs"),
    ("core.gather_nd", "E6001", "run: indexing.rs"),
    ("core.scatter_elements", "E6001", "run: indexing.rs"),
    ("core.scatter_nd", "E6001", "run: indexing.rs"),
    ("core.if", "E2001", "regions: control.rs"),
    ("core.if", "E4023", "regions: control.rs"),
    ("core.while", "E2001", "regions: control.rs"),
    ("core.while", "E4023", "regions: control.rs"),
    ("core.while", "E6007", "run: control.rs"),
    ("core.scan", "E2001", "regions: control.rs"),
    ("core.scan", "E3003", "regions: control.rs"),
    ("core.scan", "E3004", "regions: control.rs"),
    ("core.scan", "E4023", "regions: control.rs"),
];

#[test]
fn every_documented_error_has_a_case_and_every_error_is_documented() {
    let cases = rules::all();
    let everywhere = ["E2001", "E2007"];
    for def in OPS {
        let is_code = |text: &str| text.starts_with('E');
        let shown: BTreeSet<&str> = cases
            .iter()
            .filter(|case| case.def.name == def.name && is_code(&case.expected))
            .map(|case| case.expected.as_str())
            .filter(|code| !everywhere.contains(code))
            .collect();
        let profile = def.has(mind_ir::opdef::Trait::Extended).then_some("E4012");
        let excused = NOT_OF_THE_VERIFIER
            .iter()
            .filter(|row| row.0 == def.name)
            .map(|row| row.1);
        let expected: BTreeSet<&str> = shown
            .iter()
            .copied()
            .filter(|code| Some(*code) != profile)
            .chain(excused)
            .collect();
        assert_eq!(
            documented_codes(def),
            expected,
            "{}: documented, and shown by cases",
            def.name
        );
    }
}
