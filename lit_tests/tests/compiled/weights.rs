//! Preprocessing of weights.

use mind_interp::{Extents, bind, random_inputs};
use mind_jit::program::BoundProgram;

use super::Bench;

/// Five intermediate values are computed from two weights, up to one that is read at run time. Two are live at the same
/// time, one is read twice, and one that others are computed from is also read at run time.
const TEXT: &str = "\
%0 = Input {name=x} : tensor<f32[3, 64]>
%1 = Input {name=a, role=param} : tensor<f32[64, 64]>
%2 = Input {name=b, role=param} : tensor<f32[64, 64]>
%3 = Cumulative (%1) {axis=0}
%4 = Cumulative (%2) {axis=1}
%5 = Cumulative (%3) {axis=1}
%6 = MatMul (%4, %5)
%7 = Cumulative (%6) {axis=0}
%8 = Mul (%7, %4)
%9 = Cumulative (%8) {axis=0}
%10 = MatMul (%0, %9)
%11 = MatMul (%10, %5)
outputs: %11";

/// The weight is transposed, and read as 4-byte words before it is packed.
const BYTES: &str = "\
%0 = Input {name=x} : tensor<u8[5, 128]>
%1 = Input {name=w, role=param} : tensor<i8[128, 96]>
%2 = DotGeneral (%0, %1) {lhs_contract=[1], rhs_contract=[0], dtype=i32}
outputs: %2";

/// Returns the number of bytes that the program of each engine keeps for the weights of a module, after checking its
/// results.
fn kept(text: &str) -> Vec<usize> {
    let bench = Bench::new();
    let g = bench.read(text).expect("a module");
    let arrays = random_inputs(&g, 1, Extents::default()).expect("small arrays");
    bench.check(&g, &arrays).expect("the same results");
    let bound = bind(&g, &arrays, Extents::default()).expect("arrays of these shapes");
    let kept = bench.engines.iter().map(|engine| {
        let program = engine.compile_for(&g, &bound).expect("a program");
        let params = program.params().iter();
        let params = params.map(|port| arrays[&port.name].buffer().as_bytes());
        let params: Vec<&[u8]> = params.collect();
        let made = BoundProgram::new(program, &params).expect("memory");
        made.made().len()
    });
    kept.collect()
}

#[test]
fn values_on_the_way_to_what_runs_read_are_not_kept() {
    const MATRIX: usize = 64 * 64 * 4;
    for bytes in kept(TEXT) {
        assert_eq!(bytes, 2 * MATRIX);
    }
    // Without an instruction for byte products, panels have words of two elements.
    for bytes in kept(BYTES) {
        assert!([128 * 96, 2 * 128 * 96].contains(&bytes), "{bytes}");
    }
}
