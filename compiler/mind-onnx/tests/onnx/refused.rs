//! What is wrong with models, all of it at once.

use mind_onnx::{ImportOptions, read};
use mind_snapshot::snapshot;
use prost::Message;

use super::model::{Dim, FLOAT, floats, graph, int, list, model, node, problems, value, word};

#[test]
fn everything_that_is_missing_is_named_at_once() {
    let x = value("x", FLOAT, &[Dim::Of(2), Dim::Of(3)]);
    let mut elsewhere = node("e = Fancy(x)", vec![]);
    elsewhere.domain = "far.away".to_owned();
    let nodes = vec![
        node("a = ImageDecoder(x)", vec![]),
        node("b = ImageDecoder(a)", vec![]),
        node("c = Softmax(x)", vec![int("axis", 5)]),
        node("d = Relu(x)", vec![int("speed", 5)]),
        node("f = Add(x, nothing)", vec![]),
        elsewhere,
        node("y = Concat(b, c, d, e, f)", vec![int("axis", 0)]),
    ];
    snapshot!(problems(&model(graph(vec![x], vec![], nodes, &["y"]))));
}

#[test]
fn a_model_that_makes_no_sense() {
    let x = || value("x", FLOAT, &[Dim::Of(2)]);
    let circle = vec![node("a = Add(x, b)", vec![]), node("b = Relu(a)", vec![])];
    let mut found = vec![problems(&model(graph(vec![x()], vec![], circle, &["b"])))];
    found.push(problems(&model(graph(
        vec![x()],
        vec![],
        vec![],
        &["nowhere"],
    ))));
    let short = vec![floats("w", &[3], &[1.0])];
    found.push(problems(&model(graph(vec![x()], short, vec![], &["x"]))));
    let negative = vec![floats("w", &[-3], &[1.0])];
    found.push(problems(&model(graph(vec![x()], negative, vec![], &["x"]))));
    let text = vec![value("s", 8, &[Dim::Of(2)])];
    found.push(problems(&model(graph(text, vec![], vec![], &["s"]))));
    let mut old = model(graph(vec![x()], vec![], vec![], &["x"]));
    old.ir_version = 2;
    found.push(problems(&old));
    snapshot!(found.join("\n"));
}

#[test]
fn an_opset_outside_of_the_rows() {
    let x = || value("x", FLOAT, &[Dim::Of(2)]);
    let of = |version: i64, operator: &str| {
        let nodes = vec![node(&format!("y = {operator}(x)"), vec![])];
        let mut model = model(graph(vec![x()], vec![], nodes, &["y"]));
        model.opset_import[0].version = version;
        problems(&model)
    };
    snapshot!([of(17, "Gelu"), of(29, "Relu")].join("\n"));
}

#[test]
fn windows_that_fit_no_image() {
    let x = |shape: &[i64]| {
        let dims: Vec<Dim> = shape.iter().copied().map(Dim::Of).collect();
        value("x", FLOAT, &dims)
    };
    let most = i64::MAX;
    let huge = || {
        vec![
            list("strides", &[most, most]),
            word("auto_pad", "SAME_UPPER"),
        ]
    };
    let cases = [
        (true, vec![1, 1, 2, 2], "y = ConvTranspose(x, line)", vec![]),
        (true, vec![1, 1], "y = ConvTranspose(x, w)", vec![]),
        (
            true,
            vec![1, 1, 2, 2],
            "y = ConvTranspose(x, w)",
            vec![list("output_shape", &[3])],
        ),
        (true, vec![1, 1, 2, 2], "y = ConvTranspose(x, w)", huge()),
        (
            false,
            vec![1, 1, 2, 2],
            "y = ConvTranspose(x, w)",
            vec![
                list("dilations", &[most, most]),
                list("output_shape", &[3, 3]),
            ],
        ),
        (
            false,
            vec![1, 1, 2, 2],
            "y = Conv(x, w)",
            vec![
                list("dilations", &[most, most]),
                word("auto_pad", "SAME_LOWER"),
            ],
        ),
        (
            true,
            vec![1, 1, 2, 2],
            "y = MaxPool(x)",
            vec![
                list("kernel_shape", &[2, 2]),
                list("pads", &[most, most, most, most]),
                int("ceil_mode", 1),
            ],
        ),
    ];
    for (is_refused, shape, text, attributes) in cases {
        let weights = vec![
            floats("line", &[1], &[1.0]),
            floats("w", &[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]),
        ];
        let nodes = vec![node(text, attributes)];
        let model = model(graph(vec![x(&shape)], weights, nodes, &["y"]));
        let found = read(model.encode_to_vec().into(), &ImportOptions::default());
        assert_eq!(found.is_err(), is_refused, "{text} of {shape:?}");
    }
}
