//! Control flow and ops with several results, checked against the interpreter.

use mind_interp::{Extents, random_inputs};
use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

use crate::module::{lowered, narrowed, near, read, results, text};

/// Returns the f32 program of a module, after checking that both compute the same.
#[track_caller]
pub fn same(module: &str) -> String {
    let g = read(module).unwrap_or_else(|why| panic!("{why}"));
    let config = Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    };
    let low = lowered(&g, &config).unwrap_or_else(|why| panic!("{why:?}"));
    for seed in 1..5 {
        let arrays = random_inputs(&g, seed, Extents::default()).expect("small arrays");
        let expected = results(&g, &arrays).expect("a module that runs");
        let found = results(&low, &narrowed(&low, &arrays)).expect("a program that runs");
        assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            near(expected, found, 1e-5).unwrap_or_else(|why| panic!("{why}\n{}", text(&low)));
        }
    }
    text(&low)
}

#[test]
fn a_choice_is_a_cond() {
    let program = same(
        "%0 = Input {name=x} : tensor<f32[2, 3]>\n%1 = Input {name=z} : tensor<f32[2, 3]>\n\
         %2 = Mean (%0)\n%3 = ConstF32 {value=0.0}\n%4 = Compare (%2, %3) {direction=lt}\n\
         %5, %6 = If (%4, %0, %1) {\nargs: %10, %11\n%12 = Add (%10, %11)\nyield: %12, %10\n\
         } {\nargs: %13, %14\n%15 = Mul (%13, %14)\nyield: %15, %14\n}\noutputs: %5, %6\n",
    );
    assert!(program.contains("= cond(pred = "), "{program}");
}

#[test]
fn a_loop_is_a_while_loop_that_reads_fixed_values_where_they_stand() {
    let program = same(
        "%0 = Input {name=x} : tensor<f32[3]>\n%1 = Input {name=z} : tensor<f32[3]>\n%2 = ConstI64 {value=0}\n\
         %3, %4 = While (%2, %0, %1) {carried=2} {\nargs: %10, %11, %12\n%13 = ConstI64 {value=4}\n\
         %14 = Compare (%10, %13) {direction=lt}\nyield: %14\n} {\nargs: %15, %16, %17\n\
         %18 = ConstI64 {value=1}\n%19 = Add (%15, %18)\n%20 = Mul (%16, %17)\nyield: %19, %20\n}\n\
         outputs: %4\n",
    );
    assert!(program.contains("while_loop(loop_vars = "), "{program}");
}

#[test]
fn choices_stand_in_loops() {
    let program = same(
        "%0 = Input {name=x} : tensor<f32[3]>\n%2 = ConstI64 {value=0}\n\
         %3, %4 = While (%2, %0) {carried=2} {\nargs: %10, %11\n%13 = ConstI64 {value=3}\n\
         %14 = Compare (%10, %13) {direction=lt}\nyield: %14\n} {\nargs: %15, %16\n\
         %17 = ConstI64 {value=1}\n%18 = Add (%15, %17)\n%19 = Compare (%15, %17) {direction=eq}\n\
         %20 = If (%19, %16) {\nargs: %21\n%22 = Tanh (%21)\nyield: %22\n} {\nargs: %23\n\
         %24 = Add (%23, %23)\nyield: %24\n}\nyield: %18, %20\n}\noutputs: %4\n",
    );
    assert!(program.contains("cond(pred = "), "{program}");
}

#[test]
fn sorting_ops_have_two_results() {
    for op in [
        "Sort (%0) {axis=1}",
        "Sort (%0) {axis=0, descending=true}",
        "TopK (%0) {k=2, axis=1}",
        "TopK (%0) {k=1, axis=0, largest=false}",
    ] {
        same(&format!(
            "%0 = Input {{name=x}} : tensor<f32[3, 4]>\n%1, %2 = {op}\n%3 = Cast (%2) {{dtype=i32}}\n\
             outputs: %1, %3\n"
        ));
    }
}

#[test]
fn places_of_elements_come_by_rows() {
    let program = same(
        "%0 = Input {name=x} : tensor<f32[3, 4]>\n%1 = Relu (%0)\n%2 = NonZero (%1)\n\
         %3 = Transpose (%2) {permutation=[1, 0]}\n%4 = Cast (%3) {dtype=i32}\noutputs: %4\n",
    );
    assert!(!program.contains("transpose("), "{program}");
}

#[test]
fn truth_values_are_compared_by_logic() {
    for direction in ["eq", "ne", "lt", "le", "gt", "ge"] {
        let program = same(&format!(
            "%0 = Input {{name=x}} : tensor<f32[8]>\n%1 = Input {{name=z}} : tensor<f32[8]>\n\
             %2 = ConstF32 {{value=0.0}}\n%3 = Compare (%0, %2) {{direction=lt}}\n\
             %4 = Compare (%1, %2) {{direction=lt}}\n%5 = Compare (%3, %4) {{direction={direction}}}\n\
             %6 = Select (%5, %0, %1)\noutputs: %6\n"
        ));
        assert!(program.contains("logical_"), "{program}");
    }
}
