//! Every op, imported and compared with its own evaluation.

use mind_ir::tensor::Tensor;
use mind_mil::call::floats;
use mind_mil::ops::ROWS;
use mind_testgen::mil::programs;

use crate::module::{imported, read, results, text};

/// Relative and absolute tolerance, because sums are taken in another order, and in `fp16` a bias is rounded
/// separately.
const ERROR: [(&str, f64); 2] = [("fp32", 1e-6), ("fp16", 2e-3)];

/// Returns the largest difference of two results, relatively and absolutely.
#[track_caller]
fn distance(expected: &Tensor, found: &Tensor) -> f64 {
    assert_eq!(expected.shape(), found.shape());
    assert_eq!(expected.dtype(), found.dtype());
    let pairs = floats(expected).into_iter().zip(floats(found));
    let apart = pairs.map(|(a, b)| {
        if a == b || a.is_nan() && b.is_nan() {
            0.0
        } else {
            (a - b).abs() / (1.0 + a.abs())
        }
    });
    apart.fold(0.0, f64::max)
}

#[test]
fn imported_programs_compute_what_mil_does() {
    for (float, error) in ERROR {
        let mut exact = 0;
        let mut ran = 0;
        for program in programs() {
            let source = program.text(float);
            let g = read(&source);
            let Ok(own) = imported(&g) else { continue };
            let row = ROWS.iter().find(|row| row.name == program.op);
            let is_evaluated = row.is_some_and(|row| row.not_run.is_none());
            if !is_evaluated && !THREADED.contains(&program.op) {
                continue;
            }
            for (expected, found) in results(&g).iter().zip(&results(&own)) {
                let apart = distance(expected, found);
                assert!(
                    apart <= error,
                    "{apart}: {expected:?} {found:?}\n{source}\n{}",
                    text(&own)
                );
                exact += usize::from(apart == 0.0);
                ran += 1;
            }
        }
        assert!(
            ran > 100 && exact * 10 > ran * 9,
            "{exact} of {ran} results are the same bits"
        );
    }
}

/// Ops that are removed before the import, because states become values.
const THREADED: [&str; 2] = ["read_state", "write_state"];

#[test]
fn every_op_has_a_conversion_or_a_reason() {
    let gaps: Vec<&str> = ROWS
        .iter()
        .filter(|row| !THREADED.contains(&row.name))
        .filter(|row| mind_from_mil::imports(row) == mind_from_mil::not_imported(row).is_some())
        .map(|row| row.name)
        .collect();
    assert!(gaps.is_empty(), "neither, or both: {gaps:?}");
}
