//! Ops with data-dependent shapes, checked against the interpreter.

use crate::control::same;

/// Ops that compute the data-dependent extents `[3, 2]`, because three elements of a tensor are nonzero.
const EXTENTS: &str = "%0 = ConstTensor {data=[0.0, 1.0, 3.0, -0.0, 2.0, 0.0], dtype=f32, shape=[6]}\n\
     %90 = Input {name=x} : tensor<f32[6]>\n%91 = Abs (%90)\n%92 = Relu (%91)\n%93 = Sub (%92, %92)\n\
     %94 = Add (%0, %93)\n%1 = NonZero (%94)\n%2 = Dim (%1) {axis=1}\n%3 = ExpandDims (%2) {axes=[0]}\n\
     %4 = ConstTensor {data=[2], dtype=i64, shape=[1]}\n%5 = Concat (%3, %4) {axis=0}\n";

/// Returns the program of a module that starts with [`EXTENTS`].
#[track_caller]
fn program(rest: &str) -> String {
    same(&format!("{EXTENTS}{rest}"))
}

#[test]
fn elements_take_a_shape_of_the_run() {
    let program = program("%6 = DynamicReshape (%90, %5) {shape=[-1, 2]}\noutputs: %6\n");
    assert!(program.contains("= reshape(shape = "), "{program}");
}

#[test]
fn elements_stretch_to_a_shape_of_the_run() {
    for (x, reps) in [
        ("f32[1, 1]", 0),
        ("f32[1]", 0),
        ("f32[1, 2]", 1),
        ("f32[2]", 1),
        ("f32[]", 0),
    ] {
        let program = program(&format!(
            "%6 = Input {{name=y}} : tensor<{x}>\n%7 = DynamicBroadcastTo (%6, %5) {{shape=[-1, 2]}}\noutputs: %7\n"
        ));
        assert!(program.contains("= tile(reps = "), "{program}");
        assert_eq!(program.matches("= select(").count(), reps, "{program}");
    }
}

#[test]
fn indices_have_a_shape_of_the_run() {
    for (axis, dtype) in [(0, "f32"), (1, "f32"), (0, "i32"), (1, "i32")] {
        let program = program(&format!(
            "%6 = DynamicIota (%5) {{axis={axis}, dtype={dtype}, shape=[-1, 2]}}\noutputs: %6\n"
        ));
        assert!(program.contains("= range_1d(end = "), "{program}");
    }
    let program = program("%6 = DynamicIota (%3) {dtype=f16, shape=[-1]}\noutputs: %6\n");
    assert!(!program.contains("= tile("), "{program}");
}

#[test]
fn parts_of_what_a_run_sizes_are_slices() {
    let program = program(
        "%6 = DynamicReshape (%90, %5) {shape=[-1, 2]}\n%7 = Slice (%6) {starts=[1, 0], ends=[3, 2], steps=[1, 1]}\n\
         outputs: %7\n",
    );
    assert!(program.contains("slice_by_index(begin = "), "{program}");
}

#[test]
fn an_extent_of_the_run_is_read() {
    let program = program(
        "%6 = DynamicReshape (%90, %5) {shape=[-1, 2]}\n%7 = Dim (%6) {axis=0}\n%8 = Cast (%7) {dtype=f32}\n\
         %9 = Mul (%8, %90)\noutputs: %9\n",
    );
    assert!(program.contains("= shape(x = "), "{program}");
}
