//! Windows and resizes give the same results for unknown extents as for known ones.

use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_onnx::proto::{AttributeProto, ModelProto};
use mind_onnx::{ImportOptions, import};
use prost::Message;

use super::model::{
    Dim, FLOAT, floats, graph, int, ints, list, model, node, opset, problems, value, word,
};

/// Returns a model of one node over `x` of shape `f32[n, 1, h, w]`.
fn of(call: &str, version: i64, attributes: Vec<AttributeProto>) -> ModelProto {
    let dims = [
        Dim::Named("n"),
        Dim::Of(1),
        Dim::Named("h"),
        Dim::Named("w"),
    ];
    let known = vec![
        floats(
            "filter",
            &[1, 1, 3, 3],
            &[1., 2., -1., 0.5, 3., 1., -2., 1., 4.],
        ),
        floats("twice", &[4], &[1., 1., 2., 3.]),
        floats("half", &[4], &[1., 1., 0.5, 1.]),
        ints("sizes", &[4], &[2, 1, 4, 9]),
    ];
    let nodes = vec![
        node("shape = Shape(x)", vec![]),
        node("first = Slice(shape, zero, two)", vec![]),
        node("to = Concat(first, last)", vec![int("axis", 0)]),
        node(call, attributes),
    ];
    let mut own = graph(vec![value("x", FLOAT, &dims)], known, nodes, &["y"]);
    own.initializer.push(ints("zero", &[1], &[0]));
    own.initializer.push(ints("two", &[1], &[2]));
    own.initializer.push(ints("last", &[2], &[4, 9]));
    let mut model = model(own);
    model.opset_import = vec![opset(version)];
    model
}

fn read(model: &ModelProto, dims: &[(&str, i64)]) -> Graph {
    let mut options = ImportOptions::default();
    let dims = dims.iter().map(|&(name, extent)| (name.to_owned(), extent));
    options.dims = dims.collect();
    let found = import(model.encode_to_vec().into(), &options);
    found.unwrap_or_else(|found| panic!("{found:?}")).module
}

fn result(g: &Graph, x: &Tensor) -> Tensor {
    let arrays: Arrays = [("x".to_owned(), x.clone())].into_iter().collect();
    let bound = bind(g, &arrays, Extents::default()).expect("its input");
    let found = run(g, &bound, &RunConfig::default());
    found
        .map_err(|error| error.error.to_string())
        .expect("a run")
        .remove(0)
}

/// Checks that a model computes the same bits with known and unknown extents.
fn assert_same(call: &str, version: i64, attributes: &[AttributeProto]) {
    let model = of(call, version, attributes.to_vec());
    let open = read(&model, &[]);
    for (n, h, w) in [(1, 4, 5), (2, 5, 4), (2, 6, 7), (1, 7, 6), (2, 8, 9)] {
        let count = n * h * w;
        let elements = (0..count)
            .map(|at| (at * 7 % 23) as f32 - 9.0)
            .collect::<Vec<_>>();
        let x = Tensor::of(vec![n, 1, h, w], elements);
        let dims = [("n", n), ("h", h), ("w", w)].map(|(name, own)| (name, own as i64));
        let (found, wanted) = (result(&open, &x), result(&read(&model, &dims), &x));
        assert_eq!(
            found.shape(),
            wanted.shape(),
            "{call} {attributes:?} of {h}, {w}"
        );
        assert_eq!(
            found.elements::<f32>(),
            wanted.elements::<f32>(),
            "{call} {attributes:?}"
        );
    }
}

#[test]
fn windows_may_round_their_number_up() {
    for call in ["MaxPool", "AveragePool", "LpPool"] {
        for (taps, stride, pad) in [(3, 2, 1), (2, 2, 0), (3, 1, 1), (4, 3, 1)] {
            let mut attributes = vec![
                list("kernel_shape", &[taps; 2]),
                list("strides", &[stride; 2]),
                list("pads", &[pad; 4]),
                int("ceil_mode", 1),
            ];
            let call_of = format!("y = {call}(x)");
            assert_same(&call_of, 22, &attributes);
            if call == "AveragePool" {
                attributes.push(int("count_include_pad", 1));
                assert_same(&call_of, 22, &attributes);
            }
        }
    }
    // A window could start after the input.
    let wide = vec![
        list("kernel_shape", &[2; 2]),
        list("strides", &[3; 2]),
        int("ceil_mode", 1),
    ];
    let found = problems(&of("y = MaxPool(x)", 22, wide));
    assert!(found.contains("dimension 2 of f32[n, 1, h, w]"), "{found}");
}

#[test]
fn windows_may_keep_the_extent_over_their_stride() {
    for (taps, stride) in [(2, 2), (4, 2), (2, 1), (3, 1), (2, 3)] {
        let attributes = [
            list("kernel_shape", &[taps; 2]),
            list("strides", &[stride; 2]),
            word("auto_pad", "SAME_UPPER"),
        ];
        // 4 taps with stride 2 need 2 or 3 elements of padding, 1 of them at the begin.
        for call in ["MaxPool", "AveragePool"] {
            assert_same(&format!("y = {call}(x)"), 22, &attributes);
        }
    }
    let strided = vec![list("strides", &[2; 2]), word("auto_pad", "SAME_UPPER")];
    let found = problems(&of("y = Conv(x, filter)", 22, strided));
    assert!(
        found.contains("dimension 2 of f32[n, 1, h, w], on which the padding of \"SAME_UPPER\" with stride 2 depends"),
        "{found}"
    );
}

#[test]
fn images_of_unknown_extent_are_repeated() {
    for (mode, rounding) in [
        ("asymmetric", "floor"),
        ("half_pixel", "round_prefer_floor"),
        ("half_pixel", "round_prefer_ceil"),
        ("pytorch_half_pixel", "round_prefer_floor"),
    ] {
        let attributes = [
            word("coordinate_transformation_mode", mode),
            word("nearest_mode", rounding),
            word("mode", "nearest"),
        ];
        assert_same("y = Resize(x, , twice)", 19, &attributes);
    }
    assert_same("y = Upsample(x, twice)", 9, &[word("mode", "nearest")]);
    let linear = vec![word("mode", "linear")];
    let found = problems(&of("y = Resize(x, , half)", 19, linear));
    assert!(found.contains("dimension 2 of f32[n, 1, h, w]"), "{found}");
}

#[test]
fn images_of_unknown_extent_are_resized_to_known_sizes() {
    for mode in ["nearest", "linear", "cubic"] {
        assert_same("y = Resize(x, , , to)", 19, &[word("mode", mode)]);
    }
    let axes = [list("axes", &[2, 3]), word("mode", "linear")];
    assert_same("y = Resize(x, , , last)", 19, &axes);
}
