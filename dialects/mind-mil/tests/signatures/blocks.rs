//! Evaluation of nested blocks.

use mind_coreml::mil::{self, Spelling};
use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::Limits;

fn program(statements: &str) -> Result<Graph, String> {
    let text = format!(
        "program(1.3)\n[]\n{{\n func main<ios18>(tensor<fp32, [2]> x, tensor<int32, [1]> n) {{\n{statements}\n}} -> (y);\n}}"
    );
    let parsed = mil::parse(&text, 0, &Limits::default(), Spelling::Compiler);
    let message = |found: mind_diag::Diagnostics| {
        found
            .first_error()
            .map_or(String::new(), |first| first.message.clone())
    };
    let mut g = parsed.map_err(message)?;
    let found = verify(&mut g, &VerifyConfig::default());
    if found.has_errors() {
        Err(message(found))
    } else {
        Ok(g)
    }
}

fn ran(statements: &str, n: i32) -> Result<Vec<f32>, String> {
    let g = program(statements)?;
    let arrays: Arrays = [
        ("x".to_owned(), Tensor::of(vec![2], vec![1.0f32, -2.0])),
        ("n".to_owned(), Tensor::of(vec![1], vec![n])),
    ]
    .into_iter()
    .collect();
    let bound = bind(&g, &arrays, Extents::default()).map_err(|errors| format!("{errors:?}"))?;
    let results = run(&g, &bound, &RunConfig::default());
    let results = results.map_err(|error| error.error.to_string())?;
    Ok(results[0].elements::<f32>().to_vec())
}

const COND: &str = "
    tensor<bool, [1]> p = greater(x = n, y = int32(0));
    bool q = squeeze(axes = tensor<int32, [1]>([0]), x = p);
    tensor<fp32, [2]> two = mul(x = x, y = fp32(0x1p+1));
    tensor<fp32, [2]> y = cond(pred = q)
        () { tensor<fp32, [2]> a = add(x = two, y = fp32(0x1p+0)); } -> (a)
        () { tensor<fp32, [2]> b = cond(pred = q) () {} -> (x) () { tensor<fp32, [2]> c = relu(x = two); } -> (c); } -> (b);";

#[test]
fn the_predicate_chooses_a_block_that_reads_from_outside() {
    assert_eq!(ran(COND, 1), Ok(vec![3.0, -3.0]));
    assert_eq!(ran(COND, 0), Ok(vec![2.0, 0.0]));
}

const LOOP: &str = "
    tensor<fp32, [2]> half = mul(x = x, y = fp32(0x1p-1));
    tensor<int32, [1]> m, tensor<fp32, [2]> y = while_loop(loop_vars = (n, x))
        (tensor<int32, [1]> i, tensor<fp32, [2]> v) {
            tensor<bool, [1]> go = greater(x = i, y = int32(0));
            bool g = squeeze(axes = tensor<int32, [1]>([0]), x = go);
        } -> (g)
        (tensor<int32, [1]> i, tensor<fp32, [2]> v) {
            tensor<int32, [1]> j = sub(x = i, y = int32(1));
            tensor<fp32, [2]> w = add(x = v, y = half);
        } -> (j, w);";

#[test]
fn a_loop_runs_while_its_first_block_says_so() {
    assert_eq!(ran(LOOP, 0), Ok(vec![1.0, -2.0]));
    assert_eq!(ran(LOOP, 4), Ok(vec![3.0, -6.0]));
}

/// Converters of recurrent layers write the condition as a list of one.
#[test]
fn a_condition_may_be_a_list_of_one() {
    let list = LOOP.replace("-> (g)", "-> (go)");
    assert_eq!(ran(&list, 0), Ok(vec![1.0, -2.0]));
    assert_eq!(ran(&list, 4), Ok(vec![3.0, -6.0]));
    let two = list.replace(
        "greater(x = i, y = int32(0))",
        "greater(x = i, y = tensor<int32, [2]>([0, 0]))",
    );
    assert!(program(&two.replace("tensor<bool, [1]> go", "tensor<bool, [2]> go")).is_err());
}

#[test]
fn a_loop_without_end_is_stopped() {
    let endless = LOOP.replace("sub(x = i", "add(x = i");
    let found = ran(&endless, 1).expect_err("it never ends");
    assert!(
        found.contains("has not ended after 65536 rounds"),
        "{found}"
    );
}

#[test]
fn blocks_of_other_types_are_refused() {
    for (from, to) in [("-> (c)", "-> (q)"), ("-> (a)", "-> (a, a)")] {
        assert!(program(&COND.replace(from, to)).is_err(), "{to}");
    }
    for (from, to) in [
        ("-> (g)", "-> (i)"),
        ("-> (j, w)", "-> (w, j)"),
        ("-> (j, w)", "-> (j)"),
        ("loop_vars = (n, x)", "loop_vars = (x, n)"),
    ] {
        assert!(program(&LOOP.replace(from, to)).is_err(), "{to}");
    }
    assert!(program(COND).is_ok() && program(LOOP).is_ok());
}
