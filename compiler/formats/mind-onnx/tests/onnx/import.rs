//! Snapshots of imported models.

use mind_onnx::proto::{AttributeType, FunctionProto};
use mind_onnx::{ImportOptions, is_model, read};
use mind_snapshot::snapshot;
use prost::Message;

use super::model::{
    BOOL, Dim, FLOAT, INT64, floats, graph, graph_of, int, ints, list, model, node, opset, passed,
    printed, text, value, with_functions, word,
};

#[test]
fn a_convolution_with_a_bias() {
    let x = value(
        "x",
        FLOAT,
        &[Dim::Named("N"), Dim::Of(1), Dim::Of(4), Dim::Of(4)],
    );
    let weights = vec![
        floats("w", &[2, 1, 1, 1], &[1.0, 2.0]),
        floats("b", &[2], &[3.0, 4.0]),
    ];
    let nodes = vec![
        node("y = Conv(x, w, b)", vec![list("kernel_shape", &[1, 1])]),
        node("z = Relu(y)", vec![]),
    ];
    snapshot!(text(&model(graph(vec![x], weights, nodes, &["z"]))));
}

#[test]
fn shapes_are_computed_while_a_model_is_read() {
    let x = value("x", FLOAT, &[Dim::Named("batch"), Dim::Of(3), Dim::Of(4)]);
    let known = vec![ints("zero", &[1], &[0]), ints("rest", &[1], &[-1])];
    let nodes = vec![
        node("s = Shape(x)", vec![]),
        node("n = Gather(s, zero)", vec![int("axis", 0)]),
        node("t = Concat(n, rest)", vec![int("axis", 0)]),
        node("y = Reshape(x, t)", vec![]),
    ];
    snapshot!(text(&model(graph(vec![x], known, nodes, &["y"]))));
}

#[test]
fn negative_pads_crop_before_edges_are_repeated() {
    let x = value("x", FLOAT, &[Dim::Of(5)]);
    let known = vec![ints("p", &[2], &[2, -1])];
    let nodes = vec![node("y = Pad(x, p)", vec![word("mode", "edge")])];
    let found = text(&model(graph(vec![x], known, nodes, &["y"])));
    assert!(
        found.contains("Slice (%0) {ends=[4], starts=[0]"),
        "{found}"
    );
    assert!(found.contains("high=[0], "), "{found}");
    assert!(found.contains("f32[6]"), "{found}");
}

#[test]
fn the_parts_of_a_real_signal_may_be_left_out() {
    let x = value("x", FLOAT, &[Dim::Of(1), Dim::Of(16)]);
    let known = vec![ints("step", &[], &[4]), ints("length", &[], &[8])];
    let nodes = vec![node("y = STFT(x, step, , length)", vec![])];
    let found = text(&model(graph(vec![x], known, nodes, &["y"])));
    assert!(found.contains("f32[1, 3, 5, 2]"), "{found}");
}

#[test]
fn sizes_say_scales_that_are_their_ratios() {
    let x = || value("x", FLOAT, &[1, 1, 4, 3].map(Dim::Of));
    let scales = |last: f32| vec![floats("s", &[4], &[1.0, 1.0, 2.0, last])];
    let nodes = || vec![node("y = Resize(x, , s)", vec![])];
    let whole = text(&model(graph(vec![x()], scales(3.0), nodes(), &["y"])));
    assert!(whole.contains("sizes=[8, 9]"), "{whole}");
    assert!(!whole.contains("f64"), "{whole}");
    let rounded = text(&model(graph(vec![x()], scales(1.5), nodes(), &["y"])));
    assert!(rounded.contains("sizes=[8, 4]"), "{rounded}");
    assert!(rounded.contains("f64[2]"), "{rounded}");
}

#[test]
fn dimensions_are_given() {
    let x = value("x", FLOAT, &[Dim::Named("batch"), Dim::Named("?")]);
    let nodes = vec![node("y = Relu(x)", vec![])];
    let bytes = model(graph(vec![x], vec![], nodes, &["y"])).encode_to_vec();
    assert!(is_model(&bytes));
    let dims = |list: &[(&str, i64)]| ImportOptions {
        dims: list
            .iter()
            .map(|(name, own)| ((*name).to_owned(), *own))
            .collect(),
        ..ImportOptions::default()
    };
    let given = dims(&[("batch", 2), ("x_1", 5)]);
    let g = read(bytes.clone().into(), &given).expect("a model");
    assert!(printed(&g).contains("f32[2, 5]"));
    let mut given = dims(&[("batch", 2)]);
    given.shapes.insert("x".to_owned(), vec![3, 7]);
    let g = read(bytes.clone().into(), &given).expect("a model");
    assert!(printed(&g).contains("f32[2, 7]"), "{}", printed(&g));
    given.shapes.insert("x".to_owned(), vec![3, 0]);
    let g = read(bytes.clone().into(), &given).expect("a model");
    assert!(printed(&g).contains("f32[2, x_1]"), "{}", printed(&g));
    let found = read(bytes.into(), &dims(&[("bach", 2)]))
        .err()
        .expect("a typing error");
    let messages: Vec<&str> = found.iter().map(|own| &own.message[..]).collect();
    assert_eq!(
        messages,
        ["the model has no dimension `bach`; its open dimensions are `batch`, `x_1`"]
    );
}

#[test]
fn nodes_come_in_any_order_and_initialisers_may_be_inputs() {
    let x = value("x", FLOAT, &[Dim::Of(2)]);
    let w = value("w", FLOAT, &[Dim::Of(2)]);
    let nodes = vec![
        node("z = Exp(y)", vec![]),
        node("unused = Log(x)", vec![]),
        node("y = Clip(x, , w)", vec![]),
    ];
    let weights = vec![floats("w", &[], &[2.0])];
    snapshot!(text(&model(graph(vec![x, w], weights, nodes, &["z"]))));
}

#[test]
fn functions_of_the_model_stand_in_the_place_of_their_calls() {
    let mut call = node("y = Softer(x)", vec![int("along", 0)]);
    call.domain = "own".to_owned();
    let function = FunctionProto {
        name: "Softer".to_owned(),
        domain: "own".to_owned(),
        input: vec!["a".to_owned(), "left_out".to_owned()],
        output: vec!["b".to_owned()],
        node: vec![
            node(
                "c = Softmax(a)",
                vec![passed("axis", "along", AttributeType::Int)],
            ),
            node("b = Clip(c, left_out)", vec![]),
        ],
        opset_import: vec![opset(17)],
        ..FunctionProto::default()
    };
    let x = value("x", FLOAT, &[Dim::Of(2), Dim::Of(3)]);
    snapshot!(text(&with_functions(
        graph(vec![x], vec![], vec![call], &["y"]),
        vec![function]
    )));
}

#[test]
fn choices_and_loops_have_closed_regions() {
    let x = value("x", FLOAT, &[Dim::Of(2)]);
    let c = value("c", BOOL, &[]);
    let branch = |operator: &str| {
        graph(
            vec![],
            vec![],
            vec![node(&format!("o = {operator}(x)"), vec![])],
            &["o"],
        )
    };
    let step = graph(
        vec![
            value("i", INT64, &[]),
            value("go", BOOL, &[]),
            value("s", FLOAT, &[Dim::Of(2)]),
        ],
        vec![],
        vec![
            node("t = Add(s, x)", vec![]),
            node("same = Identity(go)", vec![]),
        ],
        &["same", "t", "t"],
    );
    let nodes = vec![
        node(
            "y = If(c)",
            vec![
                graph_of("then_branch", branch("Exp")),
                graph_of("else_branch", branch("Neg")),
            ],
        ),
        node("last, all = Loop(count, , y)", vec![graph_of("body", step)]),
    ];
    let known = vec![ints("count", &[], &[3])];
    snapshot!(text(&model(graph(
        vec![x, c],
        known,
        nodes,
        &["last", "all"]
    ))));
}
