//! Compositions of core ops that become one MIL op, and similar ones that must not.

use mind_ir::types::DType;
use mind_mil::check::Interface;
use mind_to_mil::{Config, Layout};

use crate::module::{lowered, read, text};

/// Returns the f32 program of a module with input `%0` and output `%9`.
#[track_caller]
fn program(statements: &str) -> String {
    let module = format!(
        "%0 = Input {{name=x}} : tensor<f32[2, 3]>\n%1 = Input {{name=z}} : tensor<f32[2, 3]>\n\
         {statements}\noutputs: %9\n"
    );
    let config = Config {
        float: DType::F32,
        interface: Interface::Any,
        layout: Layout::Keep,
        ..Config::default()
    };
    let g = read(&module).unwrap_or_else(|why| panic!("{why}"));
    text(&lowered(&g, &config).unwrap_or_else(|why| panic!("{why:?}")))
}

#[test]
fn operands_may_stand_in_the_other_order() {
    for (statements, op) in [
        ("%2 = Sigmoid (%0)\n%9 = Mul (%2, %0)", "silu(x = x)"),
        (
            "%2 = ConstF32 {value=0.0}\n%3 = ConstF32 {value=0.25}\n%4 = Compare (%2, %0) {direction=le}\n\
             %5 = Mul (%3, %0)\n%9 = Select (%4, %0, %5)",
            "leaky_relu(alpha = ",
        ),
        (
            "%2 = ConstF32 {value=0.0}\n%3 = ConstF32 {value=6.0}\n%4 = Maximum (%2, %0)\n%9 = Minimum (%3, %4)",
            "relu6(x = x)",
        ),
    ] {
        let found = program(statements);
        assert!(found.contains(op), "{op}\n{found}");
    }
}

#[test]
fn what_is_only_near_to_an_op_stays() {
    for (statements, op) in [
        ("%2 = Sigmoid (%1)\n%9 = Mul (%2, %0)", "silu"),
        (
            "%2 = ConstF32 {value=0.0}\n%3 = ConstF32 {value=0.25}\n%4 = Compare (%0, %2) {direction=gt}\n\
             %5 = Mul (%0, %3)\n%9 = Select (%4, %0, %5)",
            "leaky_relu",
        ),
        (
            "%2 = ConstF32 {value=0.0}\n%3 = ConstF32 {value=0.25}\n%4 = Compare (%0, %2) {direction=le}\n\
             %5 = Mul (%0, %3)\n%9 = Select (%4, %0, %5)",
            "leaky_relu",
        ),
        (
            "%2 = ConstF32 {value=2.0}\n%3 = ConstF32 {value=1.0}\n%4 = Maximum (%0, %2)\n%9 = Minimum (%4, %3)",
            "clip",
        ),
        (
            "%2 = ConstF32 {value=-1.0}\n%4 = Add (%0, %2)\n%9 = Log (%4)",
            "epsilon = fp32(-",
        ),
        (
            "%2 = Abs (%0)\n%3 = ConstF32 {value=2.0}\n%4 = Add (%2, %3)\n%9 = Div (%0, %4)",
            "softsign",
        ),
        (
            "%2 = Max (%0) {axes=[1], keepdims=true}\n%3 = Sub (%0, %2)\n%4 = Exp (%3)\n\
             %5 = Sum (%4) {axes=[0], keepdims=true}\n%6 = Log (%5)\n%9 = Add (%6, %2)",
            "reduce_log_sum_exp",
        ),
    ] {
        let found = program(statements);
        assert!(!found.contains(op), "{op}\n{found}");
    }
}

#[test]
fn pieces_that_leave_something_out_are_slices() {
    let piece = |id: usize, from: usize, to: usize| {
        format!("%{id} = Slice (%0) {{starts=[0, {from}], ends=[2, {to}], steps=[1, 1]}}\n")
    };
    let joined = "%9 = Concat (%3, %2) {axis=1}";
    let whole = program(&(piece(2, 0, 1) + &piece(3, 1, 3) + joined));
    assert!(whole.contains(" split("), "{whole}");
    for (from, to) in [(1, 2), (2, 3), (0, 3)] {
        let found = program(&(piece(2, 0, 1) + &piece(3, from, to) + joined));
        assert!(!found.contains(" split("), "{found}");
    }
}

#[test]
fn numbers_that_an_op_adds_have_its_dtype_in_every_opset() {
    for opset in [mind_mil::Opset::Ios15, mind_mil::Opset::Ios16] {
        let config = Config {
            opset,
            ..Config::default()
        };
        for op in ["Log (%1)", "Log1p (%1)", "Rsqrt (%1)"] {
            let module = format!(
                "%0 = Input {{name=x}} : tensor<f16[3]>\n%1 = Abs (%0)\n%2 = {op}\noutputs: %2\n"
            );
            let g = read(&module).unwrap_or_else(|why| panic!("{why}"));
            let found = lowered(&g, &config);
            assert!(found.is_ok(), "{op}: {:?}", found.err());
        }
    }
}

#[test]
fn a_scan_that_is_no_layer_says_so() {
    let module = "%0 = Input {name=x} : tensor<f32[3]>\n%1 = Input {name=z} : tensor<f32[4, 3]>\n\
                  %2, %3 = Scan (%0, %1) {carried=1, scanned=1} {\nargs: %10, %11\n%12 = Add (%10, %11)\n\
                  yield: %12, %12\n}\noutputs: %2, %3\n";
    let g = read(module).unwrap_or_else(|why| panic!("{why}"));
    let why = lowered(&g, &Config::default()).err().expect("a refusal");
    assert_eq!(
        why,
        [
            "`core.scan` cannot be lowered to MIL: it is not a recurrent layer of MIL, and MIL loops do not stack slices"
        ]
    );
}
