//! Control flow: the interpreter, machine code and C have the same results bit by bit, and the same errors.

use std::sync::Arc;

use mind_driver::engine::{Config, Engine, c_text};
use mind_interp::{Extents, random_inputs};

use super::{BROKEN, Bench, Folder, check_as_c, in_parts, run_c};

/// Modules with the number of random inputs to run.
pub(super) const MODULES: &[(&str, u64)] = &[
    // Both branches, with a weight that only one of them reads.
    (
        "%0 = Input {name=p} : tensor<bool[]>\n%1 = Input {name=x} : tensor<f32[5, 7]>\n\
         %2 = Input {name=w, role=param} : tensor<f32[7, 7]>\n%3 = If (%0, %1, %2) {\n  args: %4, %5\n\
         \x20 %6 = MatMul (%4, %5)\n  yield: %6\n} {\n  args: %7, %8\n  %9 = Neg (%7)\n  yield: %9\n}\noutputs: %3",
        4,
    ),
    // A loop with a trip count from an input, and a product with a weight.
    (
        "%0 = Input {name=n} : tensor<i64[]>\n%1 = ConstI64 {value=7}\n%2 = Remainder (%0, %1)\n\
         %3 = ConstI64 {value=0}\n%4 = Input {name=x} : tensor<f32[3, 20]>\n\
         %5 = Input {name=w, role=param} : tensor<f32[20, 20]>\n%6, %7 = While (%3, %4, %2, %5) {carried=2} {\n\
         \x20 args: %8, %9, %10, %11\n  %12 = Compare (%8, %10) {direction=lt}\n  yield: %12\n} {\n\
         \x20 args: %13, %14, %15, %16\n  %17 = ConstI64 {value=1}\n  %18 = Add (%13, %17)\n  %19 = MatMul (%14, %16)\n\
         \x20 %20 = Tanh (%19)\n  yield: %18, %20\n}\noutputs: %6, %7",
        6,
    ),
    // Scans forward and in reverse along other axes, with an even and an odd number of steps.
    (
        "%0 = Input {name=h} : tensor<f16[3]>\n%1 = Input {name=a} : tensor<f16[3, 4]>\n\
         %2 = Input {name=b} : tensor<f16[5, 3]>\n\
         %3, %4 = Scan (%0, %1) {carried=1, scanned=1, in_axes=[1], in_reverse=[1], out_axes=[1]} {\n  args: %5, %6\n\
         \x20 %7 = Add (%5, %6)\n  %8 = Relu (%7)\n  yield: %7, %8\n}\n\
         %9, %10 = Scan (%3, %2) {carried=1, scanned=1, out_reverse=[1]} {\n  args: %11, %12\n\
         \x20 %13 = Mul (%11, %12)\n  yield: %12, %13\n}\noutputs: %3, %4, %9, %10",
        2,
    ),
    // A scan without steps.
    (
        "%0 = Input {name=h} : tensor<i32[3]>\n%1 = Input {name=a} : tensor<i32[0, 3]>\n\
         %2, %3 = Scan (%0, %1) {carried=1, scanned=1} {\n  args: %4, %5\n  %6 = Div (%4, %5)\n\
         \x20 yield: %6, %5\n}\noutputs: %2, %3",
        1,
    ),
    // A conditional in a loop in a scan, all with the same weight.
    (
        "%0 = Input {name=h} : tensor<f32[2, 6]>\n%1 = Input {name=a} : tensor<f32[3, 2, 6]>\n\
         %2 = Input {name=w, role=param} : tensor<f32[6, 6]>\n\
         %3, %4 = Scan (%0, %1, %2) {carried=1, scanned=1} {\n  args: %5, %6, %7\n  %8 = ConstI64 {value=0}\n\
         \x20 %9, %10 = While (%8, %5, %6, %7) {carried=2} {\n    args: %11, %12, %13, %14\n    %15 = ConstI64 {value=2}\n\
         \x20   %16 = Compare (%11, %15) {direction=lt}\n    yield: %16\n  } {\n    args: %17, %18, %19, %20\n\
         \x20   %21 = Sum (%18)\n    %22 = ConstF32 {value=0.0}\n    %23 = Compare (%21, %22) {direction=lt}\n\
         \x20   %24 = If (%23, %18, %19, %20) {\n      args: %25, %26, %27\n      %28 = MatMul (%25, %27)\n\
         \x20     %29 = Add (%28, %26)\n      yield: %29\n    } {\n      args: %30, %31, %32\n      %33 = Sub (%30, %31)\n\
         \x20     yield: %33\n    }\n    %34 = ConstI64 {value=1}\n    %35 = Add (%17, %34)\n    yield: %35, %24\n  }\n\
         \x20 %36 = Tanh (%10)\n  yield: %36, %10\n}\noutputs: %3, %4",
        4,
    ),
    // A division by a weight of zeros, in the branch that does not run, and in a loop without steps.
    (
        "%0 = Input {name=p} : tensor<bool[]>\n%1 = Input {name=x} : tensor<i32[4]>\n%2 = Xor (%0, %0)\n\
         %3 = ConstTensor {data=[0, 0, 0, 0], dtype=i32, shape=[4]}\n%4 = If (%2, %1, %3) {\n  args: %5, %6\n\
         \x20 %7 = ConstTensor {data=[8, 8, 8, 8], dtype=i32, shape=[4]}\n  %8 = Div (%7, %6)\n  %9 = Add (%8, %5)\n\
         \x20 yield: %9\n} {\n  args: %10, %11\n  %12 = Neg (%10)\n  yield: %12\n}\n\
         %13 = Input {name=d, role=param} : tensor<i32[4]>\n%14 = Sub (%13, %13)\n\
         %15 = While (%4, %14, %2) {carried=1} {\n  args: %16, %17, %18\n  yield: %18\n} {\n\
         \x20 args: %19, %20, %21\n  %22 = ConstTensor {data=[8, 8, 8, 8], dtype=i32, shape=[4]}\n  %23 = Div (%22, %20)\n\
         \x20 %24 = Add (%23, %19)\n  yield: %24\n}\noutputs: %4, %15",
        2,
    ),
    // Rows written in a body, at indices in and out of bounds.
    (
        "%0 = Input {name=t} : tensor<f32[4, 2]>\n%1 = Input {name=i} : tensor<i64[3, 1, 1]>\n\
         %2 = Input {name=u} : tensor<f32[1, 2]>\n%3 = Scan (%0, %1, %2) {carried=1, scanned=1} {\n  args: %4, %5, %6\n\
         \x20 %7 = ScatterNd (%4, %5, %6) {kind=add, bounds=clamp}\n  yield: %7\n}\noutputs: %3",
        2,
    ),
    (
        "%0 = Input {name=t} : tensor<f32[1, 2]>\n%1 = Input {name=i} : tensor<i64[2, 1, 1]>\n\
         %2 = Input {name=u} : tensor<f32[1, 2]>\n%3 = Scan (%0, %1, %2) {carried=1, scanned=1} {\n  args: %4, %5, %6\n\
         \x20 %7 = ScatterNd (%4, %5, %6) {kind=add}\n  yield: %7\n}\noutputs: %3",
        3,
    ),
    // An index in a body that is out of bounds for most inputs.
    (
        "%0 = Input {name=t} : tensor<f32[4, 2]>\n%1 = Input {name=i} : tensor<i64[3, 1]>\n%2 = ConstF32 {value=0.0}\n\
         %3 = BroadcastTo (%2) {shape=[1, 2]}\n%4 = Scan (%3, %1, %0) {carried=1, scanned=1} {\n  args: %5, %6, %7\n\
         \x20 %8 = Gather (%7, %6) {axis=0}\n  %9 = Add (%5, %8)\n  yield: %9\n}\noutputs: %4",
        3,
    ),
];

#[test]
fn control_flow_gives_the_same_bits_compiled_and_as_c() {
    let (bench, folder) = (Bench::new(), Folder::new("control"));
    for &(text, draws) in MODULES {
        let g = bench
            .read(text)
            .unwrap_or_else(|| panic!("not valid: {text}"));
        for seed in 0..draws {
            let arrays = random_inputs(&g, seed, Extents::default()).expect("small arrays");
            let checked = bench.check(&g, &arrays);
            let checked = checked.and_then(|()| check_as_c(&bench, &g, &arrays, &folder.0));
            checked.unwrap_or_else(|why| panic!("draw {seed}: {why}\n{text}"));
        }
    }
}

#[test]
fn a_loop_whose_extents_grow_obeys_the_limit_on_steps() {
    let bench = Bench::new();
    let text = "%0 = Input {name=x} : tensor<f32[2]>\n%1 = While (%0) {carried=1} {\n  args: %2\n\
        \x20 %3 = Sum (%2)\n  %4 = Compare (%3, %3) {direction=eq}\n  yield: %4\n} {\n  args: %5 : tensor<f32[?]>\n\
        \x20 %6 = Concat (%5, %5) {axis=0}\n  yield: %6\n}\noutputs: %1";
    let g = bench.read(text).expect("a valid module");
    let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
    let config = Config {
        max_steps: Some(10),
        ..Config::default()
    };
    let engine = Arc::new(Engine::new(&config).expect("an engine"));
    let stopped = in_parts(&engine, &g, &arrays).expect_err("it does not end");
    assert!(stopped.contains("10 steps"), "{stopped}");
}

#[test]
fn a_loop_that_does_not_end_is_a_status_of_c() {
    let (bench, folder) = (Bench::new(), Folder::new("endless"));
    let text = "%0 = Input {name=x} : tensor<i32[]>\n%1 = While (%0) {carried=1} {\n  args: %2\n\
        \x20 %3 = Compare (%2, %2) {direction=eq}\n  yield: %3\n} {\n  args: %4\n  yield: %4\n}\noutputs: %1";
    let g = bench.read(text).expect("a valid module");
    let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
    let c = c_text(&bench.session, g.clone(), "module", true).expect("it has kernels");
    let few = c.replace("UINT64_C(16777216)", "UINT64_C(1000)");
    let stopped = run_c(&few, &g, &arrays, &folder.0).expect_err("it does not end");
    assert!(
        !stopped.starts_with(BROKEN) && stopped.contains("16"),
        "{stopped}"
    );
}
