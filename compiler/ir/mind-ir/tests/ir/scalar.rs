//! Compares the table of scalar functions with their evaluation.

use mind_ir::Graph;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

/// Returns whether `function` fails for some operands of `dtype`, which are taken from a list of extreme values.
fn fails(function: ScalarFn, dtype: DType) -> bool {
    let (g, dims) = (Graph::new(), DimEnv::default());
    let cx = EvalCx::run(&g, &dims);
    let numbers = match dtype {
        DType::I32 => [0, 1, -1, i32::MIN, i32::MAX].map(Tensor::scalar),
        _ => [0.0, -0.0, -1.0, f32::INFINITY, f32::NAN].map(Tensor::scalar),
    };
    let which = Tensor::scalar(true);
    numbers.iter().any(|x| match function.arity() {
        1 => function.eval(&cx, &[x]).is_err(),
        2 => numbers.iter().any(|y| function.eval(&cx, &[x, y]).is_err()),
        _ => numbers.iter().any(|y| {
            let first = match function {
                ScalarFn::Select => &which,
                _ => y,
            };
            function.eval(&cx, &[first, x, y]).is_err()
        }),
    })
}

#[test]
fn a_total_function_has_a_result_for_all_operands() {
    for &function in ScalarFn::ALL {
        if function.domain().admits(DType::F32) {
            assert!(!fails(function, DType::F32), "{function:?} of floats");
        }
        if function.domain().admits(DType::I32) {
            assert_eq!(
                fails(function, DType::I32),
                !function.is_total(),
                "{function:?} of integers"
            );
        }
    }
}
