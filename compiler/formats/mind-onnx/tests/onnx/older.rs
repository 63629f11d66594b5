//! Operators whose semantics are determined by exporters, runtimes and older opsets.

use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_onnx::proto::{AttributeProto, ModelProto, NodeProto};
use mind_onnx::{ImportOptions, import};
use prost::Message;

use super::model::{
    BOOL, Dim, FLOAT, INT64, floats, graph, int, ints, list, model, node, opset, problems, reals,
    text, value, word, words,
};

fn of_opset(version: i64, mut model: ModelProto) -> ModelProto {
    model.opset_import = vec![opset(version)];
    model
}

/// Returns the module and its warnings.
fn read(model: &ModelProto) -> (Graph, Vec<String>) {
    let found = import(model.encode_to_vec().into(), &ImportOptions::default());
    let found = found.unwrap_or_else(|found| panic!("{found:?}"));
    let warnings = found.warnings.iter().map(|own| own.message.clone());
    (found.module, warnings.collect())
}

fn results(mut module: Graph, x: Tensor) -> Result<Vec<Tensor>, String> {
    let found = verify(&mut module, &VerifyConfig::default());
    assert!(!found.has_errors(), "{found:?}");
    let arrays: Arrays = [("x".to_owned(), x)].into_iter().collect();
    let bound = bind(&module, &arrays, Extents::default()).map_err(|found| format!("{found:?}"))?;
    let config = RunConfig::default();
    run(&module, &bound, &config).map_err(|error| error.error.to_string())
}

/// Returns a `Resize` by scales along the last dimension, which has `extent` elements.
fn resize(version: i64, extent: i64, scale: f32, attributes: Vec<AttributeProto>) -> ModelProto {
    let x = value("x", FLOAT, &[1, 1, extent].map(Dim::Of));
    let call = match version {
        ..11 => "y = Resize(x, s)",
        _ => "y = Resize(x, , s)",
    };
    let scales = vec![floats("s", &[3], &[1.0, 1.0, scale])];
    let own = graph(vec![x], scales, vec![node(call, attributes)], &["y"]);
    of_opset(version, model(own))
}

fn resized(model: &ModelProto) -> Vec<f32> {
    let (module, _) = read(model);
    let extent = model.graph.as_ref().and_then(|own| own.input.first());
    let ty = extent.and_then(|own| own.r#type.as_ref()?.tensor_type.as_ref());
    let shape = ty.and_then(|own| own.shape.as_ref()).expect("a shape");
    let Some(mind_onnx::proto::dimension::Value::DimValue(extent)) = shape.dim[2].value else {
        panic!("an extent");
    };
    let x: Vec<f32> = (0..extent).map(|at| at as f32).collect();
    let found = results(module, Tensor::of(vec![1, 1, x.len()], x)).expect("a run");
    found[0].elements::<f32>().to_vec()
}

#[test]
fn corners_are_aligned_with_the_elements_that_there_are() {
    let attributes = |mode| {
        vec![
            word("mode", mode),
            word("coordinate_transformation_mode", "align_corners"),
        ]
    };
    // These are the results of ONNX Runtime and PyTorch; ONNX's reference evaluator ends at 3.69 and 4.8.
    let up = resize(13, 5, 1.5, attributes("linear"));
    let found = resized(&up);
    assert_eq!((found.len(), found[6]), (7, 4.0), "{found:?}");
    let down = resize(13, 7, 0.5, attributes("linear"));
    assert_eq!(resized(&down), [0.0, 3.0, 6.0]);
    assert_eq!(
        resized(&resize(13, 7, 0.5, attributes("nearest"))),
        [0.0, 3.0, 6.0]
    );
    let (_, warnings) = read(&up);
    assert_eq!(
        warnings,
        [
            "`Resize` of opset 13: `align_corners` aligns the last of the elements that there are along axis 2, as PyTorch \
          and ONNX Runtime do; the reference evaluator of ONNX aligns the end of scale × extent = 7.5 elements: node `y`"
        ]
    );
    let whole = resize(13, 5, 2.0, attributes("linear"));
    assert!(read(&whole).1.is_empty());
}

#[test]
fn scales_mean_the_ratios_that_they_were_rounded_from() {
    let floor = || {
        vec![
            word("coordinate_transformation_mode", "asymmetric"),
            word("nearest_mode", "floor"),
        ]
    };
    // 10 times the `f32` closest to 0.7 is slightly less than 7.
    let seven = resize(13, 10, 0.7, floor());
    assert!(text(&seven).contains("sizes=[7]"), "{}", text(&seven));
    assert_eq!(
        resized(&resize(13, 10, 0.6, floor())),
        [0.0, 1.0, 3.0, 5.0, 6.0, 8.0]
    );
    // The third element is at 2 / (1/3), which is 6.
    assert_eq!(
        resized(&resize(13, 11, 1.0 / 3.0, floor())),
        [0.0, 3.0, 6.0]
    );
}

#[test]
fn nearest_elements_of_opset_10_are_rounded_up_where_there_become_fewer() {
    let down = resize(10, 4, 0.6, vec![word("mode", "nearest")]);
    assert_eq!(resized(&down), [0.0, 2.0]);
    let (_, warnings) = read(&down);
    assert!(warnings[0].contains("are rounded up"), "{warnings:?}");
    let up = resize(10, 3, 2.5, vec![word("mode", "nearest")]);
    assert_eq!(resized(&up), [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
    assert!(read(&up).1.is_empty());
    let x = value("x", FLOAT, &[1, 1, 5].map(Dim::Of));
    let scales = vec![floats("s", &[3], &[1.0, 2.0, 0.6])];
    let nodes = vec![node("y = Resize(x, s)", vec![])];
    let both = of_opset(10, model(graph(vec![x], scales, nodes, &["y"])));
    assert_eq!(resized(&both), [0.0, 2.0, 4.0, 0.0, 2.0, 4.0]);
}

#[test]
fn a_scale_that_is_not_positive_is_refused() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let found = import(
            resize(13, 4, scale, vec![]).encode_to_vec().into(),
            &ImportOptions::default(),
        );
        let found = found.err().expect("it is refused");
        let message = &found.iter().next().expect("an error").message;
        assert!(
            message.contains("for axis 2, expected a positive number"),
            "{message}"
        );
    }
}

#[test]
fn squeezing_an_extent_of_one_that_only_a_run_knows_fails() {
    let x = value("x", FLOAT, &[Dim::Of(3)]);
    let nodes = vec![
        node("a = NonZero(x)", vec![]),
        node("y = Squeeze(a)", vec![]),
    ];
    let own = of_opset(13, model(graph(vec![x], vec![], nodes, &["y"])));
    let (module, warnings) = read(&own);
    assert!(
        warnings[0].contains("a run in which one of them is 1 fails"),
        "{warnings:?}"
    );
    let of = |x: [f32; 3]| results(module.clone(), Tensor::of(vec![3], x.to_vec()));
    let two = of([1.0, 0.0, 2.0]).expect("a run");
    assert_eq!(two[0].shape(), [2]);
    assert_eq!(of([0.0, 0.0, 0.0]).expect("a run")[0].shape(), [0]);
    // The result would be of rank 0.
    assert!(of([0.0, 3.0, 0.0]).is_err());
}

#[test]
fn squeezing_a_named_dimension_checks_it() {
    let x = value("x", FLOAT, &[Dim::Named("n"), Dim::Of(1), Dim::Of(2)]);
    let nodes = vec![node("y = Squeeze(x)", vec![])];
    let own = of_opset(13, model(graph(vec![x], vec![], nodes, &["y"])));
    let (module, warnings) = read(&own);
    assert_eq!(warnings.len(), 1);
    let of = |n: usize| results(module.clone(), Tensor::of(vec![n, 1, 2], vec![0f32; 2 * n]));
    assert_eq!(of(3).expect("a run")[0].shape(), [3, 2]);
    assert!(of(1).is_err());
}

/// Returns a model that squeezes `x`, which is `f32[3]`, without axes, followed by other nodes; the result is declared
/// with `rank`.
fn squeezed(mut after: Vec<NodeProto>, rank: usize) -> ModelProto {
    let x = value("x", FLOAT, &[Dim::Of(3)]);
    let mut nodes = vec![
        node("a = NonZero(x)", vec![]),
        node("b = Squeeze(a)", vec![]),
    ];
    nodes.append(&mut after);
    let mut own = graph(vec![x], vec![ints("two", &[], &[2])], nodes, &[]);
    let dims: Vec<Dim> = (0..rank).map(|_| Dim::Named("k")).collect();
    own.output = vec![value("y", INT64, &dims)];
    of_opset(13, model(own))
}

#[test]
fn the_declared_rank_says_what_a_squeeze_drops() {
    let cast = || node("c = Cast(b)", vec![int("to", i64::from(INT64))]);
    for after in [
        vec![node("y = Identity(b)", vec![])],
        vec![node("y = Abs(b)", vec![])],
        vec![cast(), node("y = Neg(c)", vec![])],
    ] {
        // One dimension remains, and a run in which it has one element fails.
        let (module, warnings) = read(&squeezed(after.clone(), 1));
        assert!(warnings.is_empty(), "{warnings:?}");
        let of = |x: [f32; 3]| results(module.clone(), Tensor::of(vec![3], x.to_vec()));
        assert_eq!(of([1.0, 0.0, 2.0]).expect("a run")[0].shape(), [2]);
        let failure = of([0.0, 3.0, 0.0]).expect_err("one element");
        assert!(
            failure.contains("dimension 0 of [1] has extent 1"),
            "{failure}"
        );
        // No dimension remains, and a run with another number of elements fails.
        let (module, warnings) = read(&squeezed(after, 0));
        assert!(warnings.is_empty(), "{warnings:?}");
        let of = |x: [f32; 3]| results(module.clone(), Tensor::of(vec![3], x.to_vec()));
        assert_eq!(of([0.0, 3.0, 0.0]).expect("a run")[0].shape(), [0usize; 0]);
        let failure = of([1.0, 0.0, 2.0]).expect_err("two elements");
        assert!(
            failure.contains("dimension 0 has extent 2, expected 1"),
            "{failure}"
        );
    }
    // A scalar is broadcast, so the other operand has the rank of the sum.
    let (module, warnings) = read(&squeezed(vec![node("y = Add(two, b)", vec![])], 1));
    assert!(warnings.is_empty(), "{warnings:?}");
    let of = |x: [f32; 3]| results(module.clone(), Tensor::of(vec![3], x.to_vec()));
    assert!(of([0.0, 3.0, 0.0]).is_err());
}

#[test]
fn a_declared_rank_that_leaves_open_what_a_squeeze_drops_is_refused() {
    let dims = ["n", "m"].map(Dim::Named);
    let x = value("x", FLOAT, &dims);
    let mut own = graph(vec![x], vec![], vec![node("y = Squeeze(x)", vec![])], &[]);
    own.output = vec![value("y", FLOAT, &[Dim::Named("k")])];
    let found = problems(&of_opset(13, model(own)));
    assert!(found.contains("`axes` is left out, expected"), "{found}");
    assert!(found.contains("declared with rank 1"), "{found}");
    assert!(found.contains("2 dimensions of unknown extent"), "{found}");
}

#[test]
fn axes_of_named_dimensions_are_dropped_where_the_run_has_one_element() {
    let x = value("x", FLOAT, &[Dim::Named("n"), Dim::Of(2)]);
    let axes = vec![ints("axes", &[1], &[0])];
    let nodes = vec![node("y = Squeeze(x, axes)", vec![])];
    let (module, warnings) = read(&of_opset(13, model(graph(vec![x], axes, nodes, &["y"]))));
    assert!(warnings.is_empty(), "{warnings:?}");
    let of = |n: usize| results(module.clone(), Tensor::of(vec![n, 2], vec![0f32; 2 * n]));
    assert_eq!(of(1).expect("a run")[0].shape(), [2]);
    let failure = of(3).expect_err("three rows");
    assert!(
        failure.contains("dimension 0 has extent 3, expected 1"),
        "{failure}"
    );
}

/// Returns a recurrent layer with one activation and lists of parameters for it.
fn recurrent(activation: &'static str, numbers: Vec<AttributeProto>) -> ModelProto {
    let x = value("x", FLOAT, &[2, 1, 1].map(Dim::Of));
    let weights = ["w", "r"].map(|name| floats(name, &[1, 1, 1], &[0.5]));
    let mut attributes = vec![int("hidden_size", 1), words("activations", &[activation])];
    attributes.extend(numbers);
    let nodes = vec![node("y = RNN(x, w, r)", attributes)];
    of_opset(14, model(graph(vec![x], weights.to_vec(), nodes, &["y"])))
}

#[test]
fn activations_without_numbers_have_the_defaults_of_their_operators() {
    let of = |activation, numbers| {
        let (module, warnings) = read(&recurrent(activation, numbers));
        let found = results(module, Tensor::of(vec![2, 1, 1], vec![1f32, 3.0]));
        let found = found.expect("a run").remove(0);
        (found.elements::<f32>().to_vec(), warnings)
    };
    // 0.5 and 0.5 * 3 + 0.5 * 0.5.
    let (found, warnings) = of("Affine", vec![]);
    assert_eq!(found, [0.5, 1.75]);
    assert!(warnings[0].contains("it is 1, as the standard says, and 0 in ONNX Runtime"));
    let (found, warnings) = of("Affine", vec![reals("activation_alpha", &[2.0])]);
    assert_eq!((found, warnings.len()), (vec![1.0, 4.0], 0));
    let (found, warnings) = of("ThresholdedRelu", vec![]);
    assert_eq!((found, warnings.len()), (vec![0.0, 1.5], 1));
    let (found, warnings) = of("LeakyRelu", vec![]);
    assert_eq!((found, warnings.len()), (vec![0.5, 1.75], 0));
    let found = problems(&recurrent("ScaledTanh", vec![]));
    assert!(
        found.contains("`activation_alpha` is short of an entry, expected one for \"ScaledTanh\""),
        "{found}"
    );
    let found = problems(&recurrent("Tanhh", vec![]));
    assert!(
        found.contains("is \"Tanhh\", expected \"Relu\", \"Tanh\""),
        "{found}"
    );
}

#[test]
fn dilated_windows_keep_extents_where_they_are_asked_to() {
    let x = || value("x", FLOAT, &[1, 1, 8].map(Dim::Of));
    for (call, kernel) in [
        ("Conv(x, w)", None),
        ("MaxPool(x)", Some(3)),
        ("AveragePool(x)", Some(3)),
    ] {
        for (stride, extent) in [(1, 8), (3, 3)] {
            let mut attributes = vec![
                word("auto_pad", "SAME_UPPER"),
                list("dilations", &[2]),
                list("strides", &[stride]),
            ];
            attributes.extend(kernel.map(|taps| list("kernel_shape", &[taps])));
            let nodes = vec![node(&format!("y = {call}"), attributes)];
            let known = vec![floats("w", &[1, 1, 3], &[1.0, 0.0, 0.0])];
            let own = of_opset(22, model(graph(vec![x()], known, nodes, &["y"])));
            let found = text(&own);
            assert!(
                found.contains(&format!("f32[1, 1, {extent}]")),
                "{call}: {found}"
            );
        }
    }
}

#[test]
fn a_cut_downwards_starts_inside_of_its_axis() {
    let cut = |start: i64, end: i64| {
        let x = value("x", FLOAT, &[Dim::Of(4)]);
        let list = |name: &str, own: i64| ints(name, &[1], &[own]);
        let known = vec![
            list("s", start),
            list("e", end),
            list("a", 0),
            list("d", -1),
        ];
        let nodes = vec![node("y = Slice(x, s, e, a, d)", vec![])];
        let (module, warnings) = read(&of_opset(13, model(graph(vec![x], known, nodes, &["y"]))));
        let found = results(module, Tensor::of(vec![4], vec![0f32, 1.0, 2.0, 3.0]));
        (
            found.expect("a run")[0].elements::<f32>().to_vec(),
            warnings.len(),
        )
    };
    assert_eq!(cut(-6, i64::MIN), (vec![0.0], 0));
    assert_eq!(cut(9, i64::MIN), (vec![3.0, 2.0, 1.0, 0.0], 0));
    assert_eq!(cut(1, -9), (vec![1.0, 0.0], 0));
    // ONNX Runtime interprets this end as the first element.
    assert_eq!(cut(3, i64::MAX), (vec![], 1));
}

#[test]
fn masks_of_dropout_are_of_the_dtype_of_their_opset() {
    let mask = |version: i64| {
        let x = value("x", FLOAT, &[Dim::Of(3)]);
        let nodes = vec![node("y, m = Dropout(x)", vec![])];
        let own = of_opset(version, model(graph(vec![x], vec![], nodes, &["y", "m"])));
        let (module, _) = read(&own);
        let found = results(module, Tensor::of(vec![3], vec![1f32, 2.0, 3.0]));
        found.expect("a run").remove(1)
    };
    for version in [7, 9] {
        assert_eq!(mask(version).elements::<f32>(), [1.0; 3]);
    }
    for version in [10, 12, 13, 22] {
        assert_eq!(mask(version).elements::<bool>(), [true; 3]);
    }
}

#[test]
fn layers_are_normalised_in_every_opset() {
    let x = value("x", FLOAT, &[2, 3].map(Dim::Of));
    let ones = vec![floats("w", &[3], &[1.0; 3])];
    let nodes = vec![node("y = LayerNormalization(x, w)", vec![int("axis", -1)])];
    let own = of_opset(15, model(graph(vec![x], ones, nodes, &["y"])));
    let (module, _) = read(&own);
    let x = Tensor::of(vec![2, 3], vec![0f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let found = results(module, x).expect("a run");
    assert!((found[0].elements::<f32>()[2] - 1.224_735_6).abs() < 1e-6);
}

#[test]
fn a_policy_gives_one_scale_to_all_axes() {
    let x = value("x", FLOAT, &[1, 1, 5, 6].map(Dim::Of));
    let sizes = vec![ints("z", &[2], &[8, 8])];
    let attributes = vec![
        list("axes", &[2, 3]),
        word("keep_aspect_ratio_policy", "not_larger"),
        word("mode", "linear"),
    ];
    let nodes = vec![node("y = Resize(x, , , z)", attributes)];
    let own = of_opset(19, model(graph(vec![x], sizes, nodes, &["y"])));
    assert!(text(&own).contains("sizes=[7, 8]"), "{}", text(&own));
}

#[test]
fn training_that_drops_nothing_keeps_everything() {
    // Training with a drop ratio of 0 keeps everything as well.
    let x = value("x", FLOAT, &[Dim::Of(2)]);
    let mut training = ints("t", &[], &[1]);
    training.data_type = BOOL;
    training.int64_data.clear();
    training.int32_data = vec![1];
    let known = vec![floats("r", &[], &[0.0]), training];
    let nodes = vec![node("y, m = Dropout(x, r, t)", vec![])];
    let own = of_opset(13, model(graph(vec![x], known, nodes, &["y", "m"])));
    let (module, _) = read(&own);
    let found = results(module, Tensor::of(vec![2], vec![1f32, 2.0])).expect("a run");
    assert_eq!(found[1].elements::<bool>(), [true; 2]);
}
