//! Broadcasts and mismatches of extents that only a run can determine.

use mind_interp::Arrays;
use mind_ir::eval::EvalError;
use mind_ir::tensor::Tensor;

use crate::module::{assert_same, lowered, read, results};

fn ones(shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    let elements: Vec<f32> = (0..count).map(|i| i as f32 + 0.5).collect();
    Tensor::of(shape.to_vec(), elements)
}

/// Runs `op` over inputs with these declared and actual shapes, before and after the lowering.
#[track_caller]
fn run(op: &str, inputs: &[(&str, &[usize])]) -> Result<Vec<usize>, EvalError> {
    let mut arrays = Arrays::new();
    let mut text = String::new();
    for (at, (dims, shape)) in inputs.iter().enumerate() {
        text += &format!("%{at} = Input {{name=x{at}}} : tensor<f32[{dims}]>\n");
        arrays.insert(format!("x{at}"), ones(shape));
    }
    text += &format!("%9 = {op}\noutputs: %9\n");
    let g = read(&text).unwrap_or_else(|why| panic!("{why}"));
    let low = lowered(&g, &text);
    assert_same(&g, &low, &arrays, &text);
    Ok(results(&low, &arrays)?[0].shape().to_vec())
}

#[test]
fn either_operand_may_stretch() {
    let add = "Add (%0, %1)";
    assert_eq!(run(add, &[("?", &[1]), ("?", &[5])]), Ok(vec![5]));
    assert_eq!(run(add, &[("?", &[5]), ("?", &[1])]), Ok(vec![5]));
    assert_eq!(run(add, &[("?", &[1]), ("B", &[5])]), Ok(vec![5]));
    assert_eq!(
        run(add, &[("?, ?", &[2, 1]), ("?, ?", &[1, 3])]),
        Ok(vec![2, 3])
    );
    assert_eq!(run(add, &[("?", &[4]), ("?, 1", &[3, 1])]), Ok(vec![3, 4]));
    assert_eq!(run(add, &[("?", &[1]), ("4", &[4])]), Ok(vec![4]));
}

#[test]
fn stacks_of_matrices_stretch_when_run() {
    let matmul = "MatMul (%0, %1)";
    let inputs: [(&str, &[usize]); 2] = [("?, 2, 3", &[1, 2, 3]), ("?, 3, ?", &[4, 3, 5])];
    assert_eq!(run(matmul, &inputs), Ok(vec![4, 2, 5]));
    let inputs: [(&str, &[usize]); 2] = [("?, ?, ?", &[2, 7, 3]), ("?, ?, ?, ?", &[5, 1, 3, 7])];
    assert_eq!(run(matmul, &inputs), Ok(vec![5, 2, 7, 7]));
}

#[test]
fn extents_that_do_not_fit_stop_the_run() {
    let fails = |op: &str, inputs: &[(&str, &[usize])]| {
        let result = run(op, inputs);
        assert!(
            matches!(result, Err(EvalError::Shape(_))),
            "{op}: {result:?}"
        );
    };
    fails("Add (%0, %1)", &[("?", &[2]), ("?", &[3])]);
    fails("Add (%0, %1)", &[("?", &[2]), ("4", &[4])]);
    fails("Add (%0, %1) : tensor<f32[5]>", &[("?", &[1]), ("?", &[1])]);
    fails("Add (%0, %1) : tensor<f32[5]>", &[("?", &[1]), ("?", &[4])]);
    fails("Relu (%0) : tensor<f32[5]>", &[("?", &[1])]);
    fails("MatMul (%0, %1)", &[("?, ?", &[2, 3]), ("?, ?", &[4, 2])]);
    fails(
        "MatMul (%0, %1)",
        &[("?, 2, 2", &[2, 2, 2]), ("?, 2, 2", &[3, 2, 2])],
    );
    fails("Reshape (%0) {new_shape=[2, -1]}", &[("?", &[5])]);
    fails("Reshape (%0) {new_shape=[2, 3]}", &[("?", &[5])]);
    fails("Split (%0) {axis=0, count=2, part=1}", &[("?, ?", &[3, 2])]);
    fails(
        "Concat (%0, %1) {axis=0}",
        &[("?, ?", &[1, 2]), ("?, ?", &[1, 3])],
    );
    fails(
        "Slice (%0) {ends=[4], starts=[0], steps=[1]}",
        &[("?", &[3])],
    );
}

#[test]
fn declared_extents_are_kept() {
    assert_eq!(
        run("Relu (%0) : tensor<f32[5]>", &[("?", &[5])]),
        Ok(vec![5])
    );
    let add = "Add (%0, %1) : tensor<f32[5]>";
    assert_eq!(run(add, &[("?", &[5]), ("?", &[1])]), Ok(vec![5]));
    let flat = "Reshape (%0) {new_shape=[-1]} : tensor<f32[C]>";
    let text = format!(
        "%0 = Input {{name=x0}} : tensor<f32[B, D]>\n%1 = Input {{name=x1}} : tensor<f32[C]>\n\
         %2 = {flat}\n%3 = Add (%2, %1)\noutputs: %3\n"
    );
    let g = read(&text).unwrap_or_else(|why| panic!("{why}"));
    let low = lowered(&g, &text);
    let mut arrays = Arrays::new();
    arrays.insert("x0".to_owned(), ones(&[2, 3]));
    arrays.insert("x1".to_owned(), ones(&[6]));
    assert_same(&g, &low, &arrays, &text);
}

#[test]
fn empty_tensors_keep_their_shapes() {
    let empty = "Slice (%0) {ends=[0, _], starts=[0, 0], steps=[1, 1]}";
    let ops = [
        "Squeeze (%8) {axes=[1]}",
        "ExpandDims (%8) {axes=[1]}",
        "Split (%8) {axis=0, count=2, part=1}",
        "Relu (%8)",
        "Add (%8, %1)",
        "Sum (%8) {axes=[0], keepdims=true}",
        "Max (%8)",
        "Reshape (%8) {new_shape=[-1]}",
    ];
    for op in ops {
        for dims in ["3, 1", "?, 1", "3, 1"] {
            let text = format!(
                "%0 = Input {{name=x0}} : tensor<f32[{dims}]>\n%1 = Input {{name=x1}} : \
                 tensor<f32[]>\n%8 = {empty}\n%9 = {op}\noutputs: %9\n"
            );
            let g = read(&text).unwrap_or_else(|why| panic!("{why}"));
            let mut arrays = Arrays::new();
            arrays.insert("x0".to_owned(), ones(&[3, 1]));
            arrays.insert("x1".to_owned(), ones(&[]));
            assert_same(&g, &lowered(&g, &text), &arrays, &text);
        }
    }
}
