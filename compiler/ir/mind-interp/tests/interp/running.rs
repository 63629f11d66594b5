//! Execution of modules.

use mind_core::ops::elementwise::{Add, Div, Mul, Relu};
use mind_core::ops::shape::Reshape;
use mind_diag::Code;
use mind_interp::{Arrays, Bound, Extents, RunConfig, RunError, bind, run};
use mind_ir::Graph;
use mind_ir::eval::EvalError;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

use crate::module::{Module, dim};

fn bound<'t>(g: &Graph, arrays: &'t Arrays) -> Bound<'t> {
    bind(g, arrays, Extents::default()).unwrap()
}

fn run_all(g: &Graph, arrays: &Arrays, memory_limit: u64) -> Result<Vec<Tensor>, RunError> {
    run(
        g,
        &bound(g, arrays),
        &RunConfig {
            memory_limit,
            ..RunConfig::default()
        },
    )
}

fn arrays(given: &[(&str, Tensor)]) -> Arrays {
    given
        .iter()
        .map(|(name, tensor)| (name.to_string(), tensor.clone()))
        .collect()
}

#[test]
fn outputs_come_in_the_modules_order_and_may_repeat() {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["2"]);
    let sum = m.op::<Add>(&[x, x], &[]);
    let relu = m.op::<Relu>(&[sum], &[]);
    let g = m.yields(&[relu, x, relu, sum]);
    let given = arrays(&[("x", Tensor::of(vec![2], vec![1.5f32, -1.0]))]);
    let found = run(&g, &bound(&g, &given), &RunConfig::default()).unwrap();
    let values: Vec<&[f32]> = found.iter().map(Tensor::elements).collect();
    assert_eq!(values, [[3.0, 0.0], [1.5, -1.0], [3.0, 0.0], [3.0, -2.0]]);
}

#[test]
fn integers_wrap() {
    let mut m = Module::new();
    let x = m.arg("x", DType::I8, &["1"]);
    let square = m.op::<Mul>(&[x, x], &[]);
    let g = m.yields(&[square]);
    let given = arrays(&[("x", Tensor::of(vec![1], vec![100i8]))]);
    let found = run_all(&g, &given, u64::MAX).unwrap();
    assert_eq!(found[0].elements::<i8>(), [16]);
}

#[test]
fn a_failing_op_is_named_with_its_place_and_code() {
    let mut m = Module::new();
    let x = m.arg("x", DType::I32, &["2"]);
    let quotient = m.op::<Div>(&[x, x], &[]);
    let g = m.yields(&[quotient]);
    let given = arrays(&[("x", Tensor::of(vec![2], vec![7, 0]))]);
    let failed = run_all(&g, &given, u64::MAX).unwrap_err();
    assert_eq!(failed.error, EvalError::Division { lhs: 0, rhs: 0 });
    let diagnostic = failed.diagnostic(&g);
    assert_eq!(diagnostic.code, Some(Code(6005)));
    assert_eq!(
        diagnostic.message,
        "`div` failed: integer division 0 / 0 has no result"
    );
    assert_eq!((diagnostic.span.start, diagnostic.span.end), (3, 4));
    assert_eq!(
        diagnostic.notes,
        ["`lhs` is %0: i32[2]", "`rhs` is %0: i32[2]"]
    );
}

/// Returns a chain of `length` additions, whose results take 400 bytes each.
fn chain(length: usize) -> Graph {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["100"]);
    let last = (0..length).fold(x, |value, _| m.op::<Add>(&[value, x], &[]));
    m.yields(&[last])
}

#[test]
fn values_are_freed_after_their_last_use() {
    let given = arrays(&[("x", Tensor::of(vec![100], vec![1f32; 100]))]);
    let found = run_all(&chain(1000), &given, 800).unwrap();
    assert_eq!(found[0].elements::<f32>()[0], 1001.0);
}

#[test]
fn values_alive_together_share_the_memory_limit() {
    let given = arrays(&[("x", Tensor::of(vec![100], vec![1f32; 100]))]);
    let failed = run_all(&chain(2), &given, 799).unwrap_err();
    assert_eq!(
        failed.error,
        EvalError::TooLarge {
            shape: vec![100],
            limit: 399
        }
    );
    assert_eq!(failed.diagnostic(&chain(2)).code, Some(Code(6004)));
}

#[test]
fn repeated_outputs_share_the_memory_limit() {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["100"]);
    let relu = m.op::<Relu>(&[x], &[]);
    let g = m.yields(&[relu; 20]);
    let given = arrays(&[("x", Tensor::of(vec![100], vec![1f32; 100]))]);
    assert_eq!(run_all(&g, &given, 8000).unwrap().len(), 20);
    let failed = run_all(&g, &given, 7999).unwrap_err();
    let (shape, limit) = (vec![100], 399);
    assert_eq!(failed.error, EvalError::TooLarge { shape, limit });
    let diagnostic = failed.diagnostic(&g);
    assert_eq!(diagnostic.code, Some(Code(6004)));
    assert_eq!(diagnostic.notes.len(), 9);
    assert_eq!(diagnostic.notes[8], "and 12 more operands");
}

#[test]
fn a_hundred_thousand_ops_run_without_recursion() {
    let given = arrays(&[("x", Tensor::of(vec![100], vec![1f32; 100]))]);
    assert!(run_all(&chain(100_000), &given, 800).is_ok());
}

#[test]
fn a_symbol_that_no_input_has_must_be_given() {
    let mut m = Module::new();
    let x = m.arg("x", DType::F32, &["?"]);
    let target = ["C", "2"].map(|text| dim(m.graph(), text));
    let reshaped = m.op::<Reshape>(&[x], &Reshape::attrs(&target));
    let g = m.yields(&[reshaped]);
    let given = arrays(&[("x", Tensor::of(vec![6], vec![1f32; 6]))]);
    let failed = run_all(&g, &given, u64::MAX).unwrap_err();
    assert_eq!(failed.error, EvalError::UnboundDim("C".to_owned()));
    let bound = bind(&g, &given, Extents::given(&g, [("C", 3)]).unwrap()).unwrap();
    let found = run(&g, &bound, &RunConfig::default()).unwrap();
    assert_eq!(found[0].shape(), [3, 2]);
}
