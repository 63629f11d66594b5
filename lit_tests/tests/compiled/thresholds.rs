//! Every op that a lowering treats by its size, below and above each size where that changes: lists of places that become
//! constants, taps that are written out, ops of one kernel, results that pass by the caches, pieces that threads share.

use mind_driver::engine::c_text;
use mind_interp::{Extents, RunConfig, bind, random_inputs, run};

use super::{Bench, Folder, run_c, same};

/// Lengths up to which something is written out or listed: lanes of a reduction, weights that are kept apart, windows that are
/// padded.
const LENGTHS: [usize; 3] = [1 << 6, 1 << 12, 1 << 16];

/// The longest list of places that a lowering makes a constant.
const LISTED: usize = 1 << 22;

/// Ops over a list of length `n`.
fn over_a_list(n: usize) -> Vec<String> {
    let half = n / 2;
    let list = format!("i8[{n}]");
    let mut all = listed(n);
    all.extend([
        of(&list, "ReduceWindow (%0) {kind=max, window=[3]}"),
        of(&list, "Cumulative (%0) {axis=0, kind=sum}"),
        of(&list, "Sort (%0) {axis=0}").replace("%1 = ", "%1, %2 = "),
        of(&list, "TopK (%0) {axis=0, k=3}").replace("%1 = ", "%1, %2 = "),
        of(&list, "NonZero (%0)"),
        of(&list, "Sum (%0)"),
        of(&list, "Concat (%0, %0) {axis=0}"),
        of(&format!("i8[3, {n}]"), "Transpose (%0)"),
        of(&format!("f64[{n}]"), "Add (%0, %0)"),
        of(&format!("f32[{n}]"), "Softmax (%0) {axis=0}"),
        of(
            &list,
            &format!("Slice (%0) {{starts=[1], ends=[{n}], steps=[2]}}"),
        ),
        of(
            &format!("i8[{half}]"),
            &format!("Resize (%0) {{axes=[0], sizes=[{n}]}}"),
        ),
        format!(
            "%0 = Input {{name=x}} : tensor<f32[2, {n}]>\n%1 = Input {{name=y}} : tensor<f32[{n}, 2]>\n\
             %2 = MatMul (%0, %1)\noutputs: %2"
        ),
    ]);
    all
}

/// Returns an op over one input.
fn of(ty: &str, op: &str) -> String {
    format!("%0 = Input {{name=x}} : tensor<{ty}>\n%1 = {op}\noutputs: %1")
}

/// Ops that are lowered by a list as long as an extent, here `n`.
fn listed(n: usize) -> Vec<String> {
    let (before, blocks) = (n - 1, n / 3 + 1);
    let list = format!("i8[{n}]");
    let picked = |op: &str, indices: &str| {
        format!(
            "%0 = Input {{name=x}} : tensor<{list}>\n%1 = Input {{name=i}} : tensor<{indices}>\n%2 = {op}\noutputs: %2"
        )
    };
    vec![
        format!("%0 = Iota {{dtype=i32, shape=[{n}]}}\noutputs: %0"),
        format!("%0 = Iota {{dtype=bf16, shape=[2, {n}], axis=1}}\noutputs: %0"),
        format!("%0 = Iota {{dtype=u8, shape=[{n}, 1], axis=0}}\noutputs: %0"),
        format!("%0 = Iota {{dtype=i64, shape=[0, {n}], axis=1}}\noutputs: %0"),
        of(&list, "Reverse (%0) {axes=[0]}"),
        of(&list, "Pad (%0) {low=[1], high=[0], mode=edge}"),
        of(&list, "ArgMax (%0) {axis=0}"),
        of(&list, "ArgMaxWindow (%0) {window=[3], low=[1], high=[1]}"),
        of(
            &format!("f16[{n}]"),
            "ReduceWindow (%0) {kind=mean, window=[3], low=[1], high=[1]}",
        ),
        picked(
            &format!("DynamicSlice (%0, %1) {{sizes=[{before}]}}"),
            "i64[]",
        ),
        picked("GatherElements (%0, %1)", &format!("i32[{n}]")),
        picked("GatherNd (%0, %1) {bounds=clamp}", &format!("i32[{n}, 1]")),
        format!(
            "%0 = Input {{name=x}} : tensor<{list}>\n%1 = Input {{name=u}} : tensor<i8[2]>\n\
             %2 = Input {{name=at}} : tensor<i64[]>\n%3 = DynamicUpdateSlice (%0, %1, %2)\noutputs: %3"
        ),
        format!(
            "%0 = Input {{name=x}} : tensor<{list}>\n%1 = Input {{name=s}} : tensor<f16[{blocks}]>\n\
             %2 = Dequantize (%0, %1)\noutputs: %2"
        ),
    ]
}

/// Ops whose lowering counts something else than elements: `count` taps, phases or ops.
fn over_a_count(count: usize) -> Vec<String> {
    let (length, filter) = (2 * count + 3, count);
    let mut chain = "%0 = Input {name=x} : tensor<f32[5]>\n".to_owned();
    for at in 1..=count {
        let op = if at % 2 == 0 { "Neg" } else { "Floor" };
        chain += &format!("%{at} = {op} (%{})\n", at - 1);
    }
    vec![
        chain + &format!("outputs: %{count}"),
        format!(
            "%0 = Input {{name=x}} : tensor<i8[{length}]>\n%1 = ArgMaxWindow (%0) {{window=[{count}]}}\noutputs: %1"
        ),
        format!(
            "%0 = Input {{name=x}} : tensor<f32[{length}]>\n%1 = ReduceWindow (%0) {{kind=sum, window=[{count}]}}\noutputs: %1"
        ),
        format!(
            "%0 = Input {{name=x}} : tensor<f32[{length}]>\n\
             %1 = Resize (%0) {{axes=[0], sizes=[2], mode=linear, antialias=true}}\noutputs: %1"
        ),
        format!(
            "%0 = Input {{name=x}} : tensor<f32[1, {length}, 2]>\n%1 = Input {{name=f}} : tensor<f32[{filter}, 2, 3]>\n\
             %2 = Conv (%0, %1)\noutputs: %2"
        ),
        format!(
            "%0 = Input {{name=x}} : tensor<f32[1, 3, 2]>\n%1 = Input {{name=f}} : tensor<f32[2, 3, 2]>\n\
             %2 = ConvTranspose (%0, %1) {{strides=[{count}]}}\noutputs: %2"
        ),
    ]
}

/// Checks a module in the interpreter and compiled; as C too, which either computes the same or names the op that it lacks.
fn check(bench: &Bench, text: &str, as_c: Option<&Folder>) {
    let g = bench
        .read(text)
        .unwrap_or_else(|| panic!("not valid: {text}"));
    let arrays = random_inputs(&g, 1, Extents::default()).expect("arrays");
    bench
        .check(&g, &arrays)
        .unwrap_or_else(|why| panic!("{why}\n{text}"));
    let Some(folder) = as_c else { return };
    match c_text(&bench.session, g.clone(), "module", true) {
        Ok(c) => {
            let bound = bind(&g, &arrays, Extents::default()).expect("inputs that fit");
            let expected = run(&g, &bound, &RunConfig::default());
            let found = run_c(&c, &g, &arrays, &folder.0);
            same(&expected, found).unwrap_or_else(|why| panic!("as C: {why}\n{text}"));
        }
        Err(found) => {
            let found = format!("{found:?}");
            assert!(found.contains("`core."), "as C: {found}\n{text}");
        }
    }
}

#[test]
fn lists_of_every_length_where_a_lowering_changes() {
    let bench = Bench::new();
    for length in LENGTHS.iter().flat_map(|&length| [length, length + 1]) {
        for text in over_a_list(length) {
            check(&bench, &text, None);
        }
    }
}

#[test]
fn lists_that_are_too_long_for_a_constant() {
    let (mut bench, folder) = (Bench::new(), Folder::new("thresholds"));
    // The others differ in their kernels, and lists are made before these.
    bench.engines.truncate(1);
    for text in listed(LISTED + 1) {
        check(&bench, &text, Some(&folder));
    }
}

#[test]
fn counts_at_which_a_lowering_changes() {
    let (bench, folder) = (Bench::new(), Folder::new("counts"));
    for count in [16, 17, 32, 33, 64, 65] {
        for text in over_a_count(count) {
            check(&bench, &text, Some(&folder));
        }
    }
}
