//! Results of ops compared with reference numbers.

use std::collections::BTreeMap;

use mind_coreml::mil::{self, Spelling};
use mind_interp::{Arrays, Extents, RunConfig, bind, inputs, run};
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_mil::call::floats;
use mind_mil::ops::ROWS;
use mind_testgen::mil::{Program, programs};
use mind_text::Limits;

/// Value inference of coremltools 9.0 in `fp32`.
const INFERRED: &str = include_str!("inferred.json");
/// `reference.py` in `fp32`: ops that coremltools does not infer.
const REFERENCED: &str = include_str!("referenced.json");

/// Maximum relative and absolute error of evaluation.
const ERROR: f64 = 2e-6;

/// Evaluated ops without reference numbers, with the reason.
const EXCUSED: &[(&str, &str)] = &[(
    "while_loop",
    "what its blocks compute is held to numbers; blocks.rs counts",
)];

fn records() -> BTreeMap<String, Vec<Vec<f64>>> {
    let read = |text: &str| -> BTreeMap<String, Vec<Vec<f64>>> {
        serde_json::from_str(text).expect("lists of numbers by case")
    };
    let mut all = read(INFERRED);
    all.extend(read(REFERENCED));
    all
}

#[track_caller]
fn results(source: &str) -> Vec<Tensor> {
    let parsed = mil::parse(source, 0, &Limits::default(), Spelling::Compiler);
    let mut g = parsed.unwrap_or_else(|found| panic!("{:?}\n{source}", found.first_error()));
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "{:?}\n{source}", found.first_error());
    let array = |input: mind_interp::InputSpec<'_>| {
        let shape = input.ty.static_shape().expect("static shapes").into_iter();
        let shape = shape.map(|extent| extent as usize).collect();
        let tensor = Program::tensor(input.name, input.ty.dtype, shape);
        (input.name.to_owned(), tensor)
    };
    let arrays: Arrays = inputs(&g).into_iter().map(array).collect();
    let bound = bind(&g, &arrays, Extents::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(&g, &bound, &RunConfig::default()).unwrap_or_else(|error| panic!("{error:?}\n{source}"))
}

#[test]
fn evaluation_gives_the_numbers_of_others() {
    let records = records();
    let mut wrong = String::new();
    for (at, program) in programs().iter().enumerate() {
        let Some(expected) = records.get(&format!("{at:03}-{}", program.op)) else {
            continue;
        };
        let source = program.text("fp32");
        for (expected, found) in expected.iter().zip(results(&source)) {
            let found = floats(&found);
            let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= ERROR * (1.0 + a.abs());
            if expected.len() != found.len() || !expected.iter().zip(&found).all(near) {
                wrong += &format!("{found:?}, not {expected:?}\n{source}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_evaluated_op_has_numbers_or_a_reason() {
    let records = records();
    let mut gaps: Vec<&str> = Vec::new();
    for row in ROWS.iter().filter(|row| row.eval.is_some()) {
        let has = records
            .keys()
            .any(|key| key.split_once('-').is_some_and(|(_, op)| op == row.name));
        let excused = EXCUSED
            .iter()
            .any(|(op, reason)| *op == row.name && !reason.is_empty());
        if has == excused {
            gaps.push(row.name);
        }
    }
    assert!(
        gaps.is_empty(),
        "neither numbers nor a reason, or both: {gaps:?}"
    );
}
