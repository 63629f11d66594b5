//! Every function of one and of two floats on the grid of special values: the interpreter against references to 256 bits,
//! compiled code and C against the interpreter.

use mind_core::ops::compare::{Compare, Direction};
use mind_interp::{Arrays, Extents, RunConfig, bind, run};
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{FloatNum, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_float;
use mind_testgen::exact::Exact;
use mind_testgen::special::{reference, values};

use super::{Bench, Folder, check_as_c};

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// Returns the functions of `arity` floats, each with the op that applies it to `operands`.
fn functions(arity: usize, operands: &str) -> Vec<(ScalarFn, String)> {
    let of_op = |def: &&'static OpDef| {
        let function = def.scalar?;
        let has_float = function.domain().admits(DType::F32) && function.arity() == arity;
        let is_plain = def.has(Trait::Elementwise) && !std::ptr::eq(*def, Compare::DEF);
        let name = def.names.core.filter(|_| has_float && is_plain)?;
        Some((function, format!("{name} ({operands})")))
    };
    let ops = mind_core::ops::OPS.iter().filter_map(of_op);
    let compared = Direction::ALL.iter().map(|direction| {
        let op = format!("Compare ({operands}) {{direction={}}}", direction.name());
        (direction.function(), op)
    });
    let compared = compared.filter(|_| arity == 2);
    ops.chain(compared).collect()
}

/// Returns the special values of a dtype in this shape.
fn special(dtype: DType, shape: &[usize]) -> Tensor {
    with_float!(dtype, T => {
        let values = values(dtype).into_iter().map(<T as FloatNum>::from_f64);
        Tensor::of(shape.to_vec(), values.collect::<Vec<T>>())
    }, else unreachable!("a float dtype"))
}

/// Returns the elements of a tensor as `f64`, a truth value as 0 or 1.
fn numbers(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DType::Bool => {
            let elements = tensor.elements::<bool>().iter();
            elements.map(|&own| f64::from(u8::from(own))).collect()
        }
        dtype => with_float!(dtype, T => {
            tensor.elements::<T>().iter().map(|own| own.to_f64()).collect()
        }, else unreachable!("a float or a truth value")),
    }
}

/// Returns a module that computes every function of `arity` floats, with its inputs.
fn grid(dtype: DType, functions: &[(ScalarFn, String)], arity: usize) -> (String, Arrays) {
    let count = values(dtype).len();
    let mut arrays = Arrays::new();
    let mut text = String::new();
    for (at, shape) in [[count, 1], [1, count]].iter().enumerate().take(arity) {
        text += &format!("%{at} = Input {{name=x{at}}} : tensor<{dtype}{shape:?}>\n");
        arrays.insert(format!("x{at}"), special(dtype, shape));
    }
    let results = arity..arity + functions.len();
    for ((_, op), at) in functions.iter().zip(results.clone()) {
        text += &format!("%{at} = {op}\n");
    }
    let outputs: Vec<String> = results.map(|at| format!("%{at}")).collect();
    (text + "outputs: " + &outputs.join(", "), arrays)
}

#[test]
fn special_values_of_every_function() {
    let (bench, folder) = (Bench::new(), Folder::new("special-values"));
    let (mut exact, mut checked, mut wrong) = (Exact::default(), 0, Vec::new());
    for dtype in FLOATS {
        let values = values(dtype);
        for (arity, operands) in [(1, "%0"), (2, "%0, %1")] {
            let functions = functions(arity, operands);
            let (text, arrays) = grid(dtype, &functions, arity);
            let g = bench
                .read(&text)
                .unwrap_or_else(|| panic!("not valid: {text}"));
            let bound = bind(&g, &arrays, Extents::default()).expect("inputs that fit");
            let results =
                run(&g, &bound, &RunConfig::default()).expect("functions of floats are total");
            for ((function, _), result) in functions.iter().zip(&results) {
                for (at, found) in numbers(result).into_iter().enumerate() {
                    let (x, y) = match arity {
                        1 => (values[at], 0.0),
                        _ => (values[at / values.len()], values[at % values.len()]),
                    };
                    let expected = reference(&mut exact, *function, [x, y], dtype);
                    let expected =
                        expected.unwrap_or_else(|| panic!("{function:?} has no reference"));
                    checked += 1;
                    if !expected.admits(found, dtype) {
                        wrong.push(format!(
                            "{dtype} {function:?} of {x:e}, {y:e}: {found:e}, not {expected:?}"
                        ));
                    }
                }
            }
            if let Err(why) = bench.check(&g, &arrays) {
                panic!("{dtype}, {arity} operands: {why}");
            }
            if let Err(why) = check_as_c(&bench, &g, &arrays, &folder.0) {
                panic!("{dtype}, {arity} operands, as C: {why}");
            }
        }
    }
    println!("{checked} results on special values");
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}
