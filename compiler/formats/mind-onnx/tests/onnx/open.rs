//! Data-dependent extents.

use mind_interp::{Extents, RunConfig, bind, run};
use mind_ir::tensor::Tensor;
use mind_onnx::proto::{NodeProto, TensorProto, ValueInfoProto};

use super::model::{
    BOOL, Dim, FLOAT, INT64, floats, graph, graph_of, imported, int, ints, model, node, problems,
    text, value,
};

/// Returns the constants that nodes refer to.
fn known() -> Vec<TensorProto> {
    let list = |name: &str, own: &[i64]| ints(name, &[own.len() as i64], own);
    let mut known = vec![
        ints("zero", &[], &[0]),
        ints("one", &[], &[1]),
        ints("five", &[], &[5]),
        floats("nothing", &[], &[0.0]),
        floats("half", &[1], &[0.5]),
    ];
    for own in -7..=9 {
        known.push(list(&format!("[{own}]"), &[own]));
    }
    known.push(list("[1 3]", &[1, 3]));
    known.push(list("[1 4]", &[1, 4]));
    known.push(ints("rows", &[2, 1], &[7, 8]));
    known
}

/// Returns the result of nodes on `r`, which is 0, 1, .. with a data-dependent number `n` of elements, or the error of
/// the run.
fn of_range(n: i64, nodes: Vec<NodeProto>) -> Result<Tensor, String> {
    of_range_in(17, n, nodes)
}

/// Returns the result of [`of_range`] in a version of the operator set.
fn of_range_in(opset: i64, n: i64, mut nodes: Vec<NodeProto>) -> Result<Tensor, String> {
    nodes.insert(0, node("r = Range(zero, n, one)", vec![]));
    let mut model = model(graph(vec![value("n", INT64, &[])], known(), nodes, &["y"]));
    model.opset_import[0].version = opset;
    let g = match imported(&model) {
        Ok(g) => g,
        Err(_) => panic!("{}", problems(&model)),
    };
    let arrays = [("n".to_owned(), Tensor::scalar(n))].into_iter().collect();
    let bound = bind(&g, &arrays, Extents::default()).expect("its input");
    let found = run(&g, &bound, &RunConfig::default());
    found
        .map(|mut own| own.remove(0))
        .map_err(|why| format!("{why:?}"))
}

fn made(n: i64, nodes: Vec<NodeProto>) -> (Vec<usize>, Vec<i64>) {
    let found = of_range(n, nodes).expect("it runs");
    (found.shape().to_vec(), found.elements::<i64>().to_vec())
}

#[test]
fn cuts_move_into_an_axis_that_only_a_run_knows() {
    let cut = |n: i64, start: i64, end: i64, step: i64| {
        let own = format!("y = Slice(r, [{start}], [{end}], [0], [{step}])");
        made(n, vec![node(&own, vec![])]).1
    };
    assert_eq!(cut(6, 1, -1, 1), [1, 2, 3, 4]);
    assert_eq!(cut(6, 1, 9, 2), [1, 3, 5]);
    assert_eq!(cut(6, 4, -7, -2), [4, 2, 0]);
    assert_eq!(cut(6, -1, -4, -1), [5, 4, 3]);
    assert_eq!(cut(3, 0, 5, 1), [0, 1, 2]);
    assert_eq!(cut(3, 5, 9, 1), [0i64; 0]);
    assert_eq!(cut(0, 0, 1, 1), [0i64; 0]);
    // A start before the axis is clamped to its first position.
    assert_eq!(cut(3, -7, -7, -1), [0]);
    assert_eq!(cut(0, -7, -7, -1), [0i64; 0]);
}

#[test]
fn a_dimension_of_one_element_is_dropped_if_the_run_has_it_so() {
    let nodes = || {
        vec![
            node("first = Slice(r, [0], [1], [0])", vec![]),
            node("y = Squeeze(first, [0])", vec![]),
        ]
    };
    assert_eq!(made(4, nodes()), (vec![], vec![0]));
    let failure = of_range(0, nodes()).expect_err("nothing to squeeze");
    assert!(
        failure.contains("dimension 0 has extent 0, expected 1"),
        "{failure}"
    );
}

#[test]
fn lists_keep_elements_that_are_known_next_to_those_of_a_run() {
    let joined = || {
        vec![
            node("n1 = Unsqueeze(n, [0])", vec![]),
            node("s = Concat(n1, [1 3])", vec![int("axis", -1)]),
        ]
    };
    let shape = |text: &str| {
        let mut nodes = joined();
        nodes.push(node(text, vec![]));
        let own = model(graph(vec![value("n", INT64, &[])], known(), nodes, &["y"]));
        self::text(&own)
    };
    let filled = shape("y = ConstantOfShape(s)");
    assert!(filled.contains("f32[?, 1, 3]"), "{filled}");
    let wide = shape("y = Expand(rows, s)");
    assert!(wide.contains("i64[?, 2, 3]"), "{wide}");
    let mut nodes = joined();
    nodes.push(node("y = Expand(rows, s)", vec![]));
    assert_eq!(made(1, nodes), (vec![1, 2, 3], vec![7, 7, 7, 8, 8, 8]));
    let mut nodes = joined();
    nodes.push(node("two = Gather(s, [-1])", vec![]));
    nodes.push(node("y = Add(two, [1])", vec![]));
    assert_eq!(made(1, nodes), (vec![1], vec![4]));
}

#[test]
fn a_shape_may_copy_or_infer_an_extent_that_a_run_gives() {
    let reshaped = |given: i64| {
        let nodes = vec![
            node("n1 = Unsqueeze(n, [0])", vec![]),
            node("s = Concat(n1, [2])", vec![int("axis", 0)]),
            node("y = Reshape(square, s)", vec![]),
        ];
        let mut known = known();
        known.push(ints("square", &[2, 2], &[1, 2, 3, 4]));
        let own = model(graph(vec![value("n", INT64, &[])], known, nodes, &["y"]));
        let g = imported(&own).unwrap_or_else(|why| panic!("{why:?}"));
        let arrays = [("n".to_owned(), Tensor::scalar(given))]
            .into_iter()
            .collect();
        let bound = bind(&g, &arrays, Extents::default()).expect("its input");
        run(&g, &bound, &RunConfig::default()).map(|own| own[0].shape().to_vec())
    };
    for given in [2, 0, -1] {
        assert_eq!(reshaped(given).expect("a run"), [2, 2], "{given}");
    }
    assert!(reshaped(3).is_err());
    assert!(reshaped(1).is_err());
}

#[test]
fn the_shape_of_another_value_must_fit() {
    let nodes = |other: &str| {
        vec![
            node(&format!("other = {other}"), vec![]),
            node("s = Shape(other)", vec![]),
            node("y = Reshape(r, s)", vec![]),
        ]
    };
    let same = "Neg(r)";
    assert_eq!(made(3, nodes(same)), (vec![3], vec![0, 1, 2]));
    let failure = of_range(3, nodes("Slice(r, [0], [2], [0])")).expect_err("two of three");
    assert!(
        failure.contains("reshape changes the element count"),
        "{failure}"
    );
}

#[test]
fn numbers_of_a_run_cut_a_list_where_they_say() {
    let nodes = || {
        vec![
            node("size = Shape(r)", vec![]),
            node("y = Slice([1 3], size, [9], [0])", vec![]),
        ]
    };
    assert_eq!(made(1, nodes()), (vec![1], vec![3]));
    assert_eq!(made(0, nodes()), (vec![2], vec![1, 3]));
    assert_eq!(made(5, nodes()), (vec![0], vec![]));
}

#[test]
fn tiles_repeat_as_often_as_a_run_says() {
    let tile = |text: &str| vec![node("c = Unsqueeze(r, [1])", vec![]), node(text, vec![])];
    let found = made(3, vec![node("y = Tile(r, [2])", vec![])]);
    assert_eq!(found, (vec![6], vec![0, 1, 2, 0, 1, 2]));
    let found = made(2, tile("y = Tile(c, [1 3])"));
    assert_eq!(found, (vec![2, 3], vec![0, 0, 0, 1, 1, 1]));
    let found = made(0, tile("y = Tile(c, [1 3])"));
    assert_eq!(found, (vec![0, 3], vec![]));

    let by_run = vec![
        node("n1 = Unsqueeze(n, [0])", vec![]),
        node("times = Concat([1], n1)", vec![int("axis", 0)]),
        node("y = Tile(rows, times)", vec![]),
    ];
    assert_eq!(made(2, by_run), (vec![2, 2], vec![7, 7, 8, 8]));
    let negative = vec![
        node("r = Range(zero, n, one)", vec![]),
        node("y = Tile(r, [-1])", vec![]),
    ];
    let n = || vec![value("n", INT64, &[])];
    let found = problems(&model(graph(n(), known(), negative, &["y"])));
    assert!(
        found.contains("is -1, expected repeats of 0 or more"),
        "{found}"
    );
}

/// Returns a loop of five steps, or until `go` is false, that carries `s` with the initial value `begin`; a step yields
/// `next` of it.
fn repeated(
    begin: &str,
    carried: ValueInfoProto,
    mut nodes: Vec<NodeProto>,
    next: ValueInfoProto,
) -> Vec<NodeProto> {
    nodes.push(node("goes = Less(i, n)", vec![]));
    let inputs = vec![value("i", INT64, &[]), value("go", BOOL, &[]), carried];
    let mut step = graph(inputs, vec![], nodes, &["goes"]);
    step.output.push(next);
    let body = vec![graph_of("body", step)];
    vec![node(&format!("y = Loop(five, , {begin})"), body)]
}

#[test]
fn a_value_that_no_step_reads_may_begin_as_another_type() {
    let any = || value("s", INT64, &[]);
    let next = || value("t", INT64, &[Dim::Named("L")]);
    let step = || vec![node("t = Add(r, i)", vec![])];
    let found = made(2, repeated("zero", any(), step(), next()));
    assert_eq!(found, (vec![2], vec![2, 3]));

    // The same in a loop that runs to its limit.
    let mut own = repeated("zero", any(), vec![node("t = Add(r, i)", vec![])], next());
    let body = own[0].attribute[0].g.as_mut().expect("a graph");
    body.node[1] = node("goes = Identity(go)", vec![]);
    assert_eq!(made(2, own), (vec![2], vec![4, 5]));

    // A carried value that a step reads must not change its type.
    let step = vec![node("t = Add(r, s)", vec![])];
    let mut nodes = repeated("zero", any(), step, next());
    nodes.insert(0, node("r = Range(zero, n, one)", vec![]));
    let n = || vec![value("n", INT64, &[])];
    let found = problems(&model(graph(n(), known(), nodes, &["y"])));
    assert!(found.contains("a carried value"), "{found}");

    // The same applies to a loop that may run no step.
    let step = vec![node("t = Add(r, i)", vec![])];
    let mut nodes = repeated("zero", any(), step, next());
    nodes[0].input[0] = "n".to_owned();
    nodes.insert(0, node("r = Range(zero, n, one)", vec![]));
    let found = problems(&model(graph(n(), known(), nodes, &["y"])));
    assert!(found.contains("a carried value"), "{found}");
}

#[test]
fn one_element_has_the_rank_that_graphs_declare() {
    let carried = || value("s", INT64, &[]);
    let step = || vec![node("t = Add(s, [2])", vec![])];
    let found = made(
        1,
        repeated("zero", carried(), step(), value("t", INT64, &[])),
    );
    assert_eq!(found, (vec![], vec![4]));
    let declared = value("t", INT64, &[Dim::Of(1)]);
    let mut nodes = repeated("zero", carried(), step(), declared);
    nodes.insert(0, node("r = Range(zero, n, one)", vec![]));
    let n = vec![value("n", INT64, &[])];
    let found = problems(&model(graph(n, known(), nodes, &["y"])));
    assert!(found.contains("a carried value"), "{found}");

    let branch = |text: &str, dims: &[Dim]| {
        let mut own = graph(vec![], vec![], vec![node(text, vec![])], &[]);
        own.output = vec![value("o", INT64, dims)];
        own
    };
    let choice = |dims: fn() -> Vec<Dim>| {
        vec![
            node("c = Greater(n, zero)", vec![]),
            node(
                "y = If(c)",
                vec![
                    graph_of("then_branch", branch("o = Neg(n)", &dims())),
                    graph_of("else_branch", branch("o = Add(n, [2])", &dims())),
                ],
            ),
        ]
    };
    assert_eq!(made(5, choice(Vec::new)), (vec![], vec![-5]));
    assert_eq!(made(-5, choice(Vec::new)), (vec![], vec![-3]));
    let n = vec![value("n", INT64, &[])];
    let other = choice(|| vec![Dim::Named("one")]);
    let found = problems(&model(graph(n, known(), other, &["y"])));
    assert!(found.contains("that the first region yields"), "{found}");
}

#[test]
fn rows_of_a_loop_that_ends_by_itself_have_extents_that_are_known() {
    let stacked = |row: &str| {
        let inputs = vec![value("i", INT64, &[]), value("go", BOOL, &[])];
        let nodes = vec![
            node("goes = Less(i, n)", vec![]),
            node(&format!("t = {row}"), vec![]),
        ];
        let body = graph(inputs, vec![], nodes, &["goes", "t"]);
        let x = value("x", FLOAT, &[Dim::Named("batch"), Dim::Of(2)]);
        let nodes = vec![
            node("r = Range(zero, n, one)", vec![]),
            node("y = Loop(, , )", vec![graph_of("body", body)]),
        ];
        let mut loops = model(graph(
            vec![value("n", INT64, &[]), x],
            known(),
            nodes,
            &["y"],
        ));
        let graph = loops.graph.as_mut().expect("a graph");
        graph.node[1].input.truncate(2);
        loops
    };
    let mut declared = stacked("Neg(r)");
    let graph = declared.graph.as_mut().expect("a graph");
    let body = graph.node[1].attribute[0].g.as_mut().expect("a graph");
    body.output[1] = value("t", INT64, &[Dim::Of(2)]);
    let found = text(&declared);
    assert!(found.contains("i64[?, 2]"), "{found}");
    let found = text(&stacked("Neg(x)"));
    assert!(found.contains("f32[?, batch, 2]"), "{found}");
    let found = problems(&stacked("Neg(r)"));
    assert!(
        found.contains("dimension 0 of the values that it stacks"),
        "{found}"
    );
}

#[test]
fn loops_inside_of_each_other_take_no_time_without_bound() {
    let nested = |depth: usize| {
        let mut row = node("t0 = Neg(x)", vec![]);
        for level in 1..=depth {
            let inputs = vec![value("i", INT64, &[]), value("go", BOOL, &[])];
            let inner = format!("t{}", level - 1);
            let nodes = vec![node("goes = Less(i, n)", vec![]), row];
            let body = graph(inputs, vec![], nodes, &["goes", &inner]);
            let text = format!("t{level} = Loop(five, )");
            row = node(&text, vec![graph_of("body", body)]);
        }
        let inputs = vec![value("n", INT64, &[]), value("x", FLOAT, &[Dim::Of(2)])];
        row.output[0] = "y".to_owned();
        model(graph(inputs, known(), vec![row], &["y"]))
    };
    let found = problems(&nested(24));
    assert!(found.contains("the limit is 8"), "{found}");
}

/// Returns the shape that nodes compute from `r`, which is 0, 1, .. with `n` elements, as floats `[n, 4]` called `x`.
fn shape_of(n: i64, nodes: Vec<NodeProto>) -> Vec<usize> {
    let mut all = vec![
        node("column = Unsqueeze(r, [1])", vec![]),
        node("wide = Expand(column, [1 4])", vec![]),
        node("x = Cast(wide)", vec![int("to", i64::from(FLOAT))]),
        node("s = Shape(x)", vec![]),
        node("rows_of = Slice(s, [0], [1])", vec![]),
    ];
    all.extend(nodes);
    of_range_in(23, n, all).expect("it runs").shape().to_vec()
}

#[test]
fn a_shape_may_have_an_open_extent_and_one_that_is_left() {
    let nodes = || {
        vec![
            node("to = Concat(rows_of, [-1], [2])", vec![int("axis", 0)]),
            node("y = Reshape(x, to)", vec![]),
        ]
    };
    assert_eq!(shape_of(3, nodes()), [3, 2, 2]);
    assert_eq!(shape_of(5, nodes()), [5, 2, 2]);
}

#[test]
fn an_open_axis_is_split() {
    let even = |n| {
        let split = node(
            "first, y = Split(x)",
            vec![int("axis", 0), int("num_outputs", 2)],
        );
        shape_of(n, vec![split])
    };
    assert_eq!(even(5), [2, 4]);
    assert_eq!(even(4), [2, 4]);
    let sizes = |n| {
        shape_of(
            n,
            vec![node("first, y = Split(x, [1 3])", vec![int("axis", 0)])],
        )
    };
    assert_eq!(sizes(4), [3, 4]);
}

#[test]
fn attention_runs_over_open_positions() {
    let heads = vec![
        int("q_num_heads", 2),
        int("kv_num_heads", 2),
        int("is_causal", 1),
    ];
    let nodes = vec![
        node("batch = Unsqueeze(x, [0])", vec![]),
        node("y = Attention(batch, batch, batch)", heads),
    ];
    let of = |n| {
        let mut all = vec![
            node("column = Unsqueeze(r, [1])", vec![]),
            node("wide = Expand(column, [1 4])", vec![]),
            node("x = Cast(wide)", vec![int("to", i64::from(FLOAT))]),
        ];
        all.extend(nodes.clone());
        of_range_in(23, n, all).expect("it runs").shape().to_vec()
    };
    assert_eq!(of(3), [1, 3, 4]);
}

#[test]
fn triangles_and_largest_elements_of_open_matrices() {
    let lower = vec![node("y = Trilu(x)", vec![int("upper", 0)])];
    assert_eq!(shape_of(3, lower), [3, 4]);
    let hard = vec![node("y = Hardmax(x)", vec![int("axis", 0)])];
    assert_eq!(shape_of(3, hard), [3, 4]);
}

#[test]
fn what_depends_on_a_choice_of_two_ranks_is_in_both_branches() {
    let branch = |text: &str| graph(vec![], vec![], vec![node(text, vec![])], &["o"]);
    let choice = || {
        node(
            "c = If(is_many)",
            vec![
                graph_of("then_branch", branch("o = Relu(x)")),
                graph_of("else_branch", branch("o = Slice(flat, [0], [4])")),
            ],
        )
    };
    let of = |n| {
        shape_of(
            n,
            vec![
                node("flat = Reshape(x, [-1])", vec![]),
                node("is_many = Greater(n, one)", vec![]),
                choice(),
                node("y = Add(c, x)", vec![]),
            ],
        )
    };
    assert_eq!(of(3), [3, 4]);
    assert_eq!(of(1), [1, 4]);
    // If the conditional itself is an output, its rank is unknown.
    let x = value("x", FLOAT, &[Dim::Of(1), Dim::Of(4)]);
    let flat = node("flat = Reshape(x, [-1])", vec![]);
    let inputs = vec![x, value("is_many", BOOL, &[])];
    let found = problems(&model(graph(inputs, known(), vec![flat, choice()], &["c"])));
    assert!(found.contains("that the first region yields"), "{found}");
}

#[test]
fn dimensions_whose_names_are_spelled_alike_are_two() {
    let inputs = vec![
        value("a", FLOAT, &[Dim::Named("a.b")]),
        value("b", FLOAT, &[Dim::Named("a_b")]),
        value("c", FLOAT, &[Dim::Named("a.b")]),
    ];
    let nodes = vec![
        node("d = Add(a, c)", vec![]),
        node("y = Concat(d, b)", vec![int("axis", 0)]),
    ];
    let text = text(&model(graph(inputs, vec![], nodes, &["y"])));
    assert_eq!(text.matches("f32[a_b_2]").count(), 3, "{text}");
    assert_eq!(text.matches("f32[a_b]").count(), 1, "{text}");
}

/// Returns a loop of [`repeated`] that always runs its five steps.
fn counted(mut nodes: Vec<NodeProto>) -> Vec<NodeProto> {
    let body = nodes[0].attribute[0].g.as_mut().expect("a graph");
    let last = body.node.last_mut().expect("the condition");
    *last = node("goes = Identity(go)", vec![]);
    nodes
}

#[test]
fn steps_of_a_loop_may_change_extents() {
    let any = |name: &str| value(name, INT64, &[Dim::Named("length")]);
    let twice = || {
        let joined = node("t = Concat(s, s)", vec![int("axis", 0)]);
        repeated("[1 3]", any("s"), vec![joined], any("t"))
    };
    assert_eq!(made(2, twice()).0, [16]);
    assert_eq!(made(-1, twice()).0, [4]);
    assert_eq!(made(0, counted(twice())).0, [64]);
    let fewer = || {
        let cut = node("t = Slice(s, [1], [9], [0])", vec![]);
        repeated("[1 3]", any("s"), vec![cut], any("t"))
    };
    assert_eq!(made(-1, fewer()), (vec![1], vec![3]));
    assert_eq!(made(1, fewer()), (vec![0], vec![]));
    // The extent is unknown from the start, because that of `r` is.
    let joined = node("t = Concat(s, r)", vec![int("axis", 0)]);
    let longer = repeated("r", any("s"), vec![joined], any("t"));
    assert_eq!(made(2, longer), (vec![8], [0, 1].repeat(4)));
}

#[test]
fn a_step_keeps_extents_that_its_graph_declares() {
    let own = || {
        let any = value("s", INT64, &[Dim::Named("length")]);
        let step = vec![node("t = Concat(r)", vec![int("axis", 0)])];
        repeated("[1 3]", any, step, value("t", INT64, &[Dim::Of(2)]))
    };
    assert_eq!(made(2, own()), (vec![2], vec![0, 1]));
    let failure = of_range(3, own()).expect_err("three elements");
    assert!(failure.contains("which is not of shape [2]"), "{failure}");
}

#[test]
fn loops_that_change_extents_inside_of_each_other_take_no_time_without_bound() {
    let nested = |depth: usize| {
        let any = |name: &str| value(name, INT64, &[Dim::Named("length")]);
        let mut row = node("t0 = Concat(s, s)", vec![int("axis", 0)]);
        for level in 1..=depth {
            let inner = format!("t{}", level - 1);
            let inputs = vec![value("i", INT64, &[]), value("go", BOOL, &[]), any("s")];
            let nodes = vec![node("goes = Less(i, n)", vec![]), row];
            let body = graph(inputs, vec![], nodes, &["goes", &inner]);
            row = node(
                &format!("t{level} = Loop(five, , s)"),
                vec![graph_of("body", body)],
            );
        }
        row.output[0] = "y".to_owned();
        row.input[2] = "[1 3]".to_owned();
        model(graph(
            vec![value("n", INT64, &[])],
            known(),
            vec![row],
            &["y"],
        ))
    };
    assert!(text(&nested(2)).contains("i64[?]"));
    assert!(text(&nested(24)).contains("i64[?]"));
}
