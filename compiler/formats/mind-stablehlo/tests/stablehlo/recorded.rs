//! Runs texts of JAX on arrays whose results JAX computed.
//!
//! `recorded.txt` has the arrays for each file of `lit_tests/mind-stablehlo/inputs`, one per line: `in` or `out`, a
//! name, the dtype, the extents and the elements. `lit_tests/tests/jax_judge.py` has the functions.

use std::path::PathBuf;

use mind_interp::{Extents, RunConfig, bind, run};
use mind_ir::tensor::Tensor;
use mind_stablehlo::ImportOptions;

use super::support::imported;

/// Relative and absolute tolerance of floats, because sums are taken in another order than in XLA.
const TOLERANCE: f64 = 2e-5;

/// Parses a name and an array.
fn array(line: &str) -> (String, Tensor) {
    let mut words = line.split(' ').skip(1);
    let mut next = || words.next().expect("a name, a dtype and extents");
    let (name, dtype, extents) = (next().to_owned(), next(), next());
    let extents = extents.split(',').filter(|own| *own != "-");
    let shape: Vec<usize> = extents.map(|own| own.parse().expect("an extent")).collect();
    let numbers = words.map(|own| own.parse::<f64>().expect("a number"));
    let tensor = match dtype {
        "f32" => Tensor::of(shape, numbers.map(|own| own as f32).collect::<Vec<_>>()),
        "i32" => Tensor::of(shape, numbers.map(|own| own as i32).collect::<Vec<_>>()),
        other => panic!("{other}"),
    };
    (name, tensor)
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        mind_ir::types::DType::F32 => tensor
            .elements::<f32>()
            .iter()
            .map(|&own| own.into())
            .collect(),
        mind_ir::types::DType::I32 => tensor
            .elements::<i32>()
            .iter()
            .map(|&own| own.into())
            .collect(),
        other => panic!("{other}"),
    }
}

/// Runs one file and compares its results.
fn check(name: &str, inputs: &[&str], outputs: &[&str]) {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../lit_tests/mind-stablehlo/inputs");
    let path = folder.join(format!("{name}.stablehlo"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{name}: {why}"));
    let g = imported(&text, &ImportOptions::default());
    let g = g.unwrap_or_else(|found| panic!("{name}: {found}"));
    let arrays = inputs.iter().map(|line| array(line)).collect();
    let bound =
        bind(&g, &arrays, Extents::default()).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    let found =
        run(&g, &bound, &RunConfig::default()).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    assert_eq!(found.len(), outputs.len(), "{name}");
    for (own, line) in found.iter().zip(outputs) {
        let (_, wanted) = array(line);
        assert_eq!(own.shape(), wanted.shape(), "{name}");
        assert_eq!(own.dtype(), wanted.dtype(), "{name}");
        let pairs = numbers(own).into_iter().zip(numbers(&wanted));
        for (at, (own, wanted)) in pairs.enumerate() {
            let near = (own - wanted).abs() <= TOLERANCE * (1.0 + wanted.abs());
            assert!(
                near || own == wanted,
                "{name}, element {at}: {own}, of JAX {wanted}"
            );
        }
    }
}

#[test]
fn results_are_those_of_jax() {
    let text = include_str!("recorded.txt");
    let cases = text.split("file ").skip(1);
    let mut count = 0;
    for case in cases {
        let mut lines = case.lines();
        let name = lines.next().expect("a name");
        let (inputs, outputs): (Vec<&str>, Vec<&str>) =
            lines.partition(|own| own.starts_with("in "));
        check(name, &inputs, &outputs);
        count += 1;
    }
    assert_eq!(count, 9);
}
