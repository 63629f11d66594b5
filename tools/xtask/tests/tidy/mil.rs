//! The programs of the MIL support table.

use xtask::mil::{Import, outcomes, untried};

/// Ops without evaluation, because states are converted to values before programs run.
const THREADED: [&str; 2] = ["read_state", "write_state"];

#[test]
fn every_definition_of_an_op_has_a_program() {
    let (outcomes, _) = outcomes();
    let missing: Vec<String> = untried(&outcomes)
        .iter()
        .map(|(row, since)| format!("{} {}", row.name, since.tag()))
        .collect();
    assert!(missing.is_empty(), "no program: {}", missing.join(", "));
}

#[test]
fn a_program_is_refused_for_a_reason_and_runs_unless_its_row_says_why_not() {
    let (outcomes, _) = outcomes();
    for outcome in &outcomes {
        let name = outcome.program.op;
        if let Import::Refused(reason) = &outcome.import {
            assert!(!reason.is_empty(), "{name}");
            assert_ne!(reason, "it has no counterpart", "{name}");
        }
        let row = mind_mil::ops::ROWS.iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("{name} is not an op"));
        let excused = row.not_run.is_some() && !THREADED.contains(&name);
        assert_eq!(outcome.evaluation.is_err(), excused, "{name}");
    }
}
