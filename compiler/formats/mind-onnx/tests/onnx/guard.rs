//! Run-time checks of extents in exported models.

use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_onnx::{ExportOptions, ImportOptions, read, write};

use super::export::{module, nodes};

/// Returns the output shape of a module for `x` and `extents`, computed directly and after a round trip through its
/// model; `None` if the run fails.
fn shapes(text: &str, x: &[usize], extents: &[i64]) -> [Option<Vec<usize>>; 2] {
    let own = module(text);
    let written = write(&own, &ExportOptions::default()).expect("a model");
    let back = read(written.model.into(), &ImportOptions::default()).expect("our own model");
    let count = x.iter().product();
    let mut arrays = Arrays::default();
    arrays.insert("x".to_owned(), Tensor::of(x.to_vec(), vec![1f32; count]));
    if !extents.is_empty() {
        let extents = Tensor::of(vec![extents.len()], extents.to_vec());
        arrays.insert("e".to_owned(), extents);
    }
    let shape = |g: &Graph| {
        let bound = bind(g, &arrays, Extents::default()).ok()?;
        let found = run(g, &bound, &RunConfig::default()).ok()?;
        Some(found[0].shape().to_vec())
    };
    [shape(&own), shape(&back)]
}

/// Returns a module that gives `x` of shape `from` the extents `e` by an op with these attributes.
fn given(op: &str, from: &str, count: usize, attrs: &str) -> String {
    format!(
        "%0 = Input {{name=x}} : tensor<f32[{from}]>\n%1 = Input {{name=e}} : tensor<i64[{count}]>\n\
         %2 = {op} (%0, %1) {{{attrs}}}\noutputs: %2\n"
    )
}

#[test]
fn models_fail_where_modules_do() {
    let reshape = given("DynamicReshape", "6", 2, "shape=[?, 3]");
    let open = given("DynamicReshape", "6", 2, "shape=[?, ?]");
    let other = given("DynamicReshape", "6", 2, "shape=[?, ?], refuse_ones=true");
    let broadcast = given("DynamicBroadcastTo", "1", 2, "shape=[2, ?]");
    for (text, x, extents, expected) in [
        (&reshape, 6, [2, 3], true),
        (&reshape, 6, [-1, 3], false),
        (&reshape, 6, [1, 3], false),
        (&reshape, 6, [3, 2], false),
        (&open, 6, [3, 2], true),
        (&open, 6, [1, 6], true),
        (&open, 6, [-1, 2], false),
        (&open, 6, [-3, -2], false),
        (&other, 6, [3, 2], true),
        (&other, 6, [1, 6], false),
        (&broadcast, 1, [2, 4], true),
        (&broadcast, 1, [2, 0], true),
        (&broadcast, 1, [3, 4], false),
        (&broadcast, 1, [2, -1], false),
    ] {
        let wanted = expected.then(|| extents.map(|own| own as usize).to_vec());
        let found = shapes(text, &[x], &extents);
        assert_eq!(found, [wanted.clone(), wanted], "{text} {extents:?}");
    }
}

#[test]
fn a_dimension_that_a_squeeze_keeps_is_checked_in_its_model() {
    let text = "%0 = Input {name=x} : tensor<f32[n, 1]>\n%1 = Squeeze (%0) {axes=[1]}\n\
                %2 = Dim (%1) {axis=0}\n%3 = Reshape (%2) {new_shape=[1]}\n\
                %4 = DynamicReshape (%1, %3) {shape=[n], refuse_ones=true}\noutputs: %4\n";
    assert_eq!(shapes(text, &[3, 1], &[]), [Some(vec![3]), Some(vec![3])]);
    assert_eq!(shapes(text, &[1, 1], &[]), [None, None]);
}

#[test]
fn extents_that_ops_prove_are_not_checked() {
    let text = "%0 = Input {name=x} : tensor<f32[?, 6]>\n%1 = Dim (%0) {axis=0}\n%2 = ExpandDims (%1) {axes=[0]}\n\
                %3 = ConstTensor {data=[2, 3], dtype=i64, shape=[2]}\n%4 = Concat (%2, %3) {axis=0}\n\
                %5 = DynamicReshape (%0, %4) {shape=[?, 2, 3]}\noutputs: %5\n";
    let found = nodes(text, 21);
    assert!(!found.contains("Where"), "{found}");
    assert_eq!(
        shapes(text, &[4, 6], &[]),
        [Some(vec![4, 2, 3]), Some(vec![4, 2, 3])]
    );
}
