//! Errors in models, all of them in one run.

use mind_diag::Code;
use mind_onnx::proto::NodeProto;
use mind_onnx::{ImportOptions, read};
use mind_snapshot::snapshot;
use prost::Message;

use super::model::{
    BOOL, Dim, FLOAT, INT64, floats, graph, graph_of, imported, int, ints, list, model, node,
    problems, value, word,
};

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

/// Returns a conditional `y` on `condition` whose second branch is refused.
fn choice(condition: &str) -> NodeProto {
    let branch = |text: &str| graph(vec![], vec![], vec![node(text, vec![])], &["o"]);
    node(
        &format!("y = If({condition})"),
        vec![
            graph_of("then_branch", branch("o = Relu(x)")),
            graph_of("else_branch", branch("o = Squeeze(x, one)")),
        ],
    )
}

/// Returns the helps of the errors in a model with these nodes.
fn ways_out(nodes: Vec<NodeProto>, outputs: &[&str]) -> Vec<String> {
    let inputs = vec![
        value("x", FLOAT, &[Dim::Of(1), Dim::Of(4)]),
        value("rate", INT64, &[]),
        value("is_wide", BOOL, &[Dim::Of(1)]),
    ];
    let known = vec![ints("one", &[1], &[1]), ints("many", &[], &[16000])];
    let found = imported(&model(graph(inputs, known, nodes, outputs))).err();
    let found = found.expect("a refusal");
    let helps = found.iter().filter_map(|own| own.help.clone());
    helps.filter(|own| own.contains("--bind")).collect()
}

#[test]
fn a_choice_that_inputs_alone_make_says_how_to_bind_them() {
    let of_rate = || node("c = Equal(rate, many)", vec![]);
    let found = ways_out(vec![of_rate(), choice("c")], &["y"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`--bind rate=FILE.npz`"), "{found:?}");

    let both = vec![of_rate(), node("d = And(c, is_wide)", vec![]), choice("d")];
    let found = ways_out(both, &["y"]);
    let options = "`--bind is_wide=FILE.npz --bind rate=FILE.npz`";
    assert!(found[0].contains(options), "{found:?}");

    // In a nested branch the condition is an argument.
    let outer = |condition: &str, c: &str| {
        let inner = graph(vec![], vec![], vec![choice(c)], &["y"]);
        let plain = graph(vec![], vec![], vec![node("o = Neg(x)", vec![])], &["o"]);
        node(
            &format!("z = If({condition})"),
            vec![
                graph_of("then_branch", inner),
                graph_of("else_branch", plain),
            ],
        )
    };
    let sum = || node("s = ReduceSum(x)", vec![int("keepdims", 0)]);
    let of_sum = || node("e = Cast(s)", vec![int("to", i64::from(BOOL))]);
    let found = ways_out(vec![sum(), of_sum(), of_rate(), outer("e", "c")], &["z"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("`--bind rate=FILE.npz`"), "{found:?}");
}

#[test]
fn a_choice_that_arrays_have_a_say_in_names_no_input_to_bind() {
    let sum = node("s = ReduceSum(x)", vec![int("keepdims", 0)]);
    let of_sum = node("c = Cast(s)", vec![int("to", i64::from(BOOL))]);
    assert!(ways_out(vec![sum, of_sum, choice("c")], &["y"]).is_empty());

    // Loop-carried values change, so their initial values do not determine them.
    let step = graph(
        vec![
            value("i", INT64, &[]),
            value("go", BOOL, &[]),
            value("s", BOOL, &[Dim::Of(1)]),
        ],
        vec![],
        vec![
            choice("s"),
            node("t = Not(s)", vec![]),
            node("same = Identity(go)", vec![]),
        ],
        &["same", "t", "y"],
    );
    let repeated = node(
        "last, all = Loop(many, , is_wide)",
        vec![graph_of("body", step)],
    );
    assert!(ways_out(vec![repeated], &["all"]).is_empty());
}

#[test]
fn graphs_that_read_what_a_refused_node_makes_are_no_errors_of_their_own() {
    let branch = |text: &str| graph(vec![], vec![], vec![node(text, vec![])], &["o"]);
    let nodes = vec![
        node("w = Squeeze(x, one)", vec![]),
        node(
            "y = If(c)",
            vec![
                graph_of("then_branch", branch("o = Relu(w)")),
                graph_of("else_branch", branch("o = Neg(w)")),
            ],
        ),
    ];
    let inputs = vec![
        value("x", FLOAT, &[Dim::Of(1), Dim::Of(4)]),
        value("c", BOOL, &[]),
    ];
    let known = vec![ints("one", &[1], &[1])];
    let found = problems(&model(graph(inputs, known, nodes, &["y"])));
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
fn a_broken_rule_has_the_code_the_shapes_and_the_help_of_the_verifier() {
    let inputs = vec![
        value("a", FLOAT, &[Dim::Of(2), Dim::Of(3)]),
        value("b", FLOAT, &[Dim::Of(4), Dim::Of(3)]),
    ];
    let nodes = vec![node("y = Add(a, b)", vec![])];
    let found = imported(&model(graph(inputs, vec![], nodes, &["y"]))).err();
    let found = found.expect("a refusal");
    let error = found.first_error().expect("an error");
    assert_eq!(error.code, Some(Code(3001)));
    assert_eq!(error.notes[0], "shapes [2, 3] and [4, 3]");
    assert_eq!(error.notes[1], "`a` is f32[2, 3], `b` is f32[4, 3]");
    let help = error.help.as_deref().unwrap_or_default();
    assert!(help.contains("dimension 0"), "{help}");
}

#[test]
fn a_refusal_names_the_argument_the_found_and_the_expected_value() {
    let image = || {
        value(
            "x",
            FLOAT,
            &[Dim::Of(1), Dim::Of(1), Dim::Of(4), Dim::Of(4)],
        )
    };
    let weights = || {
        vec![
            floats("w", &[1, 1, 2, 2], &[1.0; 4]),
            ints("shape", &[2], &[1, 2]),
        ]
    };
    let cases = [
        (node("y = Conv(x, w)", vec![list("pads", &[1, 1, 1])]), 4109),
        (node("y = Conv(x, w)", vec![list("strides", &[1])]), 4109),
        (node("y = MaxPool(x)", vec![]), 4104),
        (
            node("y = AveragePool(x)", vec![list("kernel_shape", &[2, 0])]),
            4108,
        ),
        (node("y = Pad(x, shape)", vec![]), 4109),
        (
            node("y = Pad(x, shape)", vec![word("mode", "mirror")]),
            4109,
        ),
        (node("y = Tile(x, shape)", vec![]), 4109),
        (
            node("y = DepthToSpace(x)", vec![int("blocksize", -1)]),
            4108,
        ),
        (node("y = Concat(x, x)", vec![]), 4104),
        (node("y = Softmax(x)", vec![int("axis", 7)]), 3004),
        (node("y = LRN(x)", vec![int("size", 0)]), 4108),
        (node("y = Einsum(x)", vec![word("equation", "ij->i")]), 3002),
        (node("y = Cast(x)", vec![int("to", 8)]), 4106),
    ];
    for (own, code) in cases {
        let text = format!("{} {:?}", own.op_type, own.attribute);
        let model = model(graph(vec![image()], weights(), vec![own], &["y"]));
        let found = imported(&model).err().expect("a refusal");
        let error = found.first_error().expect("an error");
        assert_eq!(error.code, Some(Code(code)), "{text}: {}", error.message);
        assert!(error.way_out().is_some(), "{text}");
        if !matches!(code, 3004 | 4104) {
            for key in ["found", "expected"] {
                let mut context = error.context.iter();
                assert!(context.any(|(own, _)| *own == key), "{text}: {key}");
            }
        }
    }
    let pads = node("y = Conv(x, w)", vec![list("pads", &[1, 1, 1])]);
    let found = problems(&model(graph(vec![image()], weights(), vec![pads], &["y"])));
    let expected =
        "`pads` has 3 entries, expected 4 (begin and end for each of 2 spatial dimensions)";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn a_declared_type_that_contradicts_the_inferred_one_is_a_warning() {
    let of = |declared: Vec<Dim>, inner: Vec<Dim>| {
        let x = value("x", FLOAT, &[Dim::Of(2), Dim::Named("n")]);
        let nodes = vec![node("h = Relu(x)", vec![]), node("y = Neg(h)", vec![])];
        let mut graph = graph(vec![x], vec![], nodes, &["y"]);
        graph.output = vec![value("y", FLOAT, &declared)];
        graph.value_info = vec![value("h", FLOAT, &inner)];
        let bytes = model(graph).encode_to_vec();
        let found = mind_onnx::import(bytes.into(), &ImportOptions::default());
        let found = found.unwrap_or_else(|_| panic!("a model")).warnings;
        let messages = found.iter().map(|own| own.message.clone());
        messages.collect::<Vec<String>>()
    };
    let good = || vec![Dim::Of(2), Dim::Named("m")];
    assert!(of(good(), good()).is_empty());
    assert!(of(good(), vec![Dim::Of(2), Dim::Of(7)]).is_empty());
    assert_eq!(
        of(vec![Dim::Of(3), Dim::Named("m")], vec![Dim::Of(2)]),
        [
            "output `y` is declared as f32[3, m], inferred as f32[2, n]",
            "value `h` is declared as f32[2], inferred as f32[2, n]",
        ]
    );
}
