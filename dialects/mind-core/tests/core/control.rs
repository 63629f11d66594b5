//! Control flow.

use mind_core::constant;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::elementwise::{Add, Mul, Neg, Relu};
use mind_core::ops::index::Slice;
use mind_ir::attr::{Attr, OPEN_END};
use mind_ir::builder::Builder;
use mind_ir::eval::{DimEnv, EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};

use crate::module::{build, empty, input, ty};

type Filled = Result<Vec<ValueId>, Box<VerifyError>>;

/// Creates an op over inputs of these types; `fill` builds its regions.
fn op(
    def: &'static OpDef,
    types: &[&str],
    attrs: &[Attr<'_>],
    results: usize,
    fill: impl FnMut(usize, &mut Builder<'_>, &[ValueId]) -> Filled,
) -> Result<(Graph, OpId), Box<VerifyError>> {
    let mut g = empty();
    let mut operands = Vec::new();
    for text in types {
        let ty = ty(&mut g, text);
        operands.push(input(&mut g, ty));
    }
    let op = build(&mut g).create_with_bodies(def, &operands, attrs, results, fill)?;
    Ok((g, op))
}

fn eval(g: &Graph, op: OpId, operands: &[&Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let dims = DimEnv::default();
    let cx = EvalCx {
        max_steps: 100,
        ..EvalCx::run(g, &dims)
    };
    let eval = g.def(op).eval.expect("the op has a meaning");
    eval(op, &cx, operands).map(|results| results.into_iter().collect())
}

fn types(g: &Graph, op: OpId) -> String {
    let types = g.results(op).into_iter().map(|value| g.type_text(value));
    types.collect::<Vec<_>>().join("; ")
}

/// Returns the code of the error.
#[track_caller]
fn code<T>(result: Result<T, Box<VerifyError>>) -> String {
    let error = result.err().expect("the op is wrong");
    error
        .code()
        .map_or(error.to_string(), |code| code.to_string())
}

fn f32s(shape: &[usize], elements: &[f32]) -> Tensor {
    Tensor::of(shape.to_vec(), elements.to_vec())
}

#[test]
fn one_region_runs() {
    let (g, op) = op(If::DEF, &["bool[]", "f32[2]"], &[], 1, |region, b, x| {
        let result = match region {
            0 => Relu::build(b, x[0])?,
            _ => Neg::build(b, x[0])?,
        };
        Ok(vec![result])
    })
    .unwrap();
    assert_eq!(types(&g, op), "f32[2]");
    let x = f32s(&[2], &[-1.0, 2.0]);
    for (predicate, expected) in [(true, [0.0f32, 2.0]), (false, [1.0, -2.0])] {
        let results = eval(&g, op, &[&Tensor::scalar(predicate), &x]).unwrap();
        assert_eq!(results[0].elements::<f32>(), expected);
    }
}

#[test]
fn extents_that_differ_between_regions_are_open() {
    let rows = |count: i64| {
        move |b: &mut Builder<'_>, x: ValueId| {
            Slice::with(&[0, 0], &[count, OPEN_END], &[1, 1]).build(b, x)
        }
    };
    let (g, op) = op(If::DEF, &["bool[]", "f32[4, 3]"], &[], 1, |region, b, x| {
        Ok(vec![rows(region as i64 + 1)(b, x[0])?])
    })
    .unwrap();
    assert_eq!(types(&g, op), "f32[?, 3]");
}

#[test]
fn what_an_if_cannot_be() {
    let branch = |types: &[&str], second: bool| {
        code(op(If::DEF, types, &[], 1, |region, _, x| {
            Ok(if region == 1 && second {
                vec![]
            } else {
                vec![x[region % x.len()]]
            })
        }))
    };
    assert_eq!(branch(&["f32[]", "f32[2]"], false), "E2001");
    assert_eq!(branch(&["bool[1]", "f32[2]"], false), "E2001");
    assert_eq!(branch(&["bool[]", "f32[2]", "i32[2]"], false), "E2001");
    assert_eq!(branch(&["bool[]", "f32[2]", "f32[]"], false), "E2001");
    assert_eq!(branch(&["bool[]", "f32[2]"], true), "E4023");
}

/// Builds a loop that doubles `x` while the counter is below the second carried value.
fn doubling() -> (Graph, OpId) {
    let types = ["i64[]", "f32[2]", "i64[]"];
    op(While::DEF, &types, &While::attrs(2), 2, |region, b, x| {
        if region == 0 {
            return Ok(vec![Compare::with(Direction::Lt).build(b, x[0], x[2])?]);
        }
        let one = constant(b, &Tensor::scalar(1i64));
        Ok(vec![Add::build(b, x[0], one)?, Add::build(b, x[1], x[1])?])
    })
    .unwrap()
}

#[test]
fn a_loop_runs_while_its_condition_holds() {
    let (g, op) = doubling();
    assert_eq!(types(&g, op), "i64[]; f32[2]");
    let x = f32s(&[2], &[1.0, -3.0]);
    let run = |steps: i64| {
        let (start, end) = (Tensor::scalar(0i64), Tensor::scalar(steps));
        eval(&g, op, &[&start, &x, &end])
    };
    assert_eq!(run(0).unwrap()[1].elements::<f32>(), [1.0, -3.0]);
    assert_eq!(run(3).unwrap()[1].elements::<f32>(), [8.0, -24.0]);
    assert_eq!(run(100).unwrap()[0].elements::<i64>(), [100]);
    assert_eq!(run(101).err(), Some(EvalError::Steps(100)));
    assert_eq!(EvalError::Steps(100).code().map(|code| code.0), Some(6007));
}

#[test]
fn what_a_while_cannot_be() {
    let with = |carried: i64, yields: [usize; 2]| {
        let types = ["bool[]", "f32[2]", "i32[2]"];
        let attrs = While::attrs(carried);
        code(op(While::DEF, &types, &attrs, 2, |region, _, x| {
            Ok(x[..yields[region]].to_vec())
        }))
    };
    assert_eq!(with(0, [1, 0]), "E4023");
    assert_eq!(with(4, [1, 4]), "E4023");
    assert_eq!(with(2, [2, 2]), "E4023");
    assert_eq!(with(2, [1, 1]), "E4023");
    let swapped = op(
        While::DEF,
        &["bool[]", "f32[2]", "i32[2]"],
        &While::attrs(3),
        3,
        |region, _, x| {
            Ok(if region == 0 {
                vec![x[0]]
            } else {
                vec![x[0], x[2], x[1]]
            })
        },
    );
    assert_eq!(code(swapped), "E2001");
    let condition = op(While::DEF, &["f32[2]"], &While::attrs(1), 1, |_, _, x| {
        Ok(vec![x[0]])
    });
    assert_eq!(code(condition), "E2001");
}

/// Builds a scan that sums `w` times the slices and stacks the sums.
fn sums(
    types: &[&str],
    in_axes: &[i64],
    out_axes: &[i64],
    reverse: [&[i64]; 2],
) -> Result<(Graph, OpId), Box<VerifyError>> {
    let attrs = Scan::attrs(1, 1, in_axes, out_axes, reverse[0], reverse[1]);
    op(Scan::DEF, types, &attrs, 2, |_, b, x| {
        let product = Mul::build(b, x[1], x[2])?;
        let sum = Add::build(b, x[0], product)?;
        Ok(vec![sum, sum])
    })
}

#[test]
fn a_scan_takes_and_stacks_slices() {
    let types_of = ["f32[2]", "f32[3, 2]", "f32[2]"];
    let initial = f32s(&[2], &[100.0, 200.0]);
    let w = f32s(&[2], &[1.0, -1.0]);
    let scanned = f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let forward = [101.0, 198.0, 104.0, 194.0, 109.0, 188.0];
    let backward = [105.0, 194.0, 108.0, 190.0, 109.0, 188.0];
    for (reverse, expected) in [
        ([&[][..], &[][..]], forward),
        ([&[0][..], &[0][..]], forward),
        ([&[1][..], &[][..]], backward),
        (
            [&[][..], &[1][..]],
            [109.0, 188.0, 104.0, 194.0, 101.0, 198.0],
        ),
    ] {
        let (g, op) = sums(&types_of, &[], &[], reverse).unwrap();
        assert_eq!(types(&g, op), "f32[2]; f32[3, 2]");
        let results = eval(&g, op, &[&initial, &scanned, &w]).unwrap();
        assert_eq!(results[0].elements::<f32>(), [109.0, 188.0]);
        assert_eq!(results[1].elements::<f32>(), expected, "{reverse:?}");
    }
    let turned = f32s(&[2, 3], &[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    let (g, op) = sums(&["f32[2]", "f32[2, 3]", "f32[2]"], &[-1], &[1], [&[], &[]]).unwrap();
    assert_eq!(types(&g, op), "f32[2]; f32[2, 3]");
    let results = eval(&g, op, &[&initial, &turned, &w]).unwrap();
    assert_eq!(
        results[1].elements::<f32>(),
        [101.0, 104.0, 109.0, 198.0, 194.0, 188.0]
    );
}

#[test]
fn a_scan_of_no_step_gives_what_it_got() {
    let (g, op) = sums(&["f32[2]", "f32[0, 2]", "f32[2]"], &[], &[], [&[], &[]]).unwrap();
    let x = f32s(&[2], &[1.0, 2.0]);
    let results = eval(&g, op, &[&x, &f32s(&[0, 2], &[]), &x]).unwrap();
    assert_eq!(results[0].elements::<f32>(), [1.0, 2.0]);
    assert_eq!(results[1].shape(), [0, 2]);
}

#[test]
fn what_a_scan_cannot_be() {
    let types = ["f32[2]", "f32[3, 2]", "f32[2]"];
    let wrong = |types: &[&str], in_axes: &[i64], out_axes: &[i64], reverse: [&[i64]; 2]| {
        code(sums(types, in_axes, out_axes, reverse))
    };
    assert_eq!(wrong(&types, &[2], &[], [&[], &[]]), "E3004");
    assert_eq!(wrong(&types, &[], &[-3], [&[], &[]]), "E3004");
    assert_eq!(wrong(&types, &[0, 0], &[], [&[], &[]]), "E4023");
    assert_eq!(wrong(&types, &[], &[0, 0], [&[], &[]]), "E4023");
    assert_eq!(wrong(&types, &[], &[], [&[2], &[]]), "E4023");
    assert_eq!(wrong(&types, &[], &[], [&[], &[0, 0]]), "E4023");
    assert_eq!(
        wrong(&["f32[1]", "f32[3, 2]", "f32[2]"], &[], &[], [&[], &[]]),
        "E2001"
    );
    let counts = |carried, scanned, yields: usize| {
        let attrs = Scan::attrs(carried, scanned, &[], &[], &[], &[]);
        let types = ["f32[2]", "f32[3, 2]", "f32[4, 2]"];
        code(op(Scan::DEF, &types, &attrs, 1, |_, _, x| {
            Ok(x[..yields].to_vec())
        }))
    };
    assert_eq!(counts(-1, 1, 1), "E4023");
    assert_eq!(counts(1, 0, 1), "E4023");
    assert_eq!(counts(1, 3, 1), "E4023");
    assert_eq!(counts(1, 1, 0), "E4023");
    assert_eq!(counts(1, 2, 1), "E3003");
}
