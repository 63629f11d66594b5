//! Factors and solutions, multiplied back, and the cases that have none.

use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::with_float;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{OPEN, RUN};

const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// The difference that rounding explains.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::BF16 => 0.5,
        DType::F16 => 0.05,
        DType::F32 => 1e-4,
        _ => 1e-12,
    }
}

/// A batch of symmetric matrices with a dominant diagonal; the triangle that is not read is NaN, and so is the diagonal
/// unless it is read.
fn definite<T: FloatNum>(shape: [usize; 2], is_lower: bool, has_diagonal: bool) -> Tensor {
    let [batch, order] = shape;
    let element = |place: &[usize]| {
        let [matrix, row, column] = [place[0], place[1], place[2]];
        let (low, high) = (row.min(column), row.max(column));
        if row == column {
            let own = 2.0 + order as f64 + matrix as f64;
            if has_diagonal { own } else { f64::NAN }
        } else if (row > column) == is_lower {
            ((low * 3 + high * 5 + matrix) % 7) as f64 / 4.0 - 0.75
        } else {
            f64::NAN
        }
    };
    let shape = [batch, order, order];
    let elements = indices(&shape).map(|place| T::from_f64(element(&place)));
    Tensor::of(shape.to_vec(), elements.collect::<Vec<T>>())
}

fn check_factor<T: FloatNum>([batch, order]: [usize; 2], is_lower: bool) {
    let input = definite::<T>([batch, order], is_lower, true);
    let attrs = Cholesky::attrs(is_lower);
    let found = RUN.get(Cholesky::DEF, &attrs, &[&input]);
    let what = format!("{} {batch} {order} {is_lower}", T::DTYPE);
    assert_same(&OPEN.get(Cholesky::DEF, &attrs, &[&input]), &found, &what);
    let element = |x: &Tensor, [matrix, row, column]: [usize; 3]| {
        let place = match is_lower {
            true => [matrix, row, column],
            false => [matrix, column, row],
        };
        at::<T>(x, &place).to_f64()
    };
    for place in indices(&[batch, order, order]) {
        let [matrix, row, column] = [place[0], place[1], place[2]];
        let own = |row, column| element(&found, [matrix, row, column]);
        if column > row {
            assert_eq!(own(row, column).to_bits(), 0, "{what}");
            continue;
        }
        let product: f64 = (0..order).map(|k| own(row, k) * own(column, k)).sum();
        let difference = product - element(&input, [matrix, row, column]);
        let most = tolerance(T::DTYPE);
        assert!(difference.abs() < most, "{what}: {difference}");
    }
}

#[test]
fn factors_multiply_to_the_matrix() {
    for dtype in FLOATS {
        for shape in [[1, 1], [1, 2], [2, 3], [3, 7], [0, 3], [2, 0]] {
            for is_lower in [true, false] {
                with_float!(dtype, T => check_factor::<T>(shape, is_lower), else {
                    unreachable!("all are floats")
                });
            }
        }
    }
}

#[test]
fn indefinite_matrices_have_no_factor() {
    let nan = f32::NAN;
    for (matrix, is_definite) in [
        ([4.0, nan, 2.0, 2.0], true),
        ([4.0, nan, 2.0, 1.0], false),
        ([4.0, nan, 3.0, 1.0], false),
        ([0.0, nan, 1.0, 5.0], false),
        ([-1.0, nan, 0.0, 1.0], false),
        ([nan, nan, 0.0, 1.0], false),
        ([1.0, nan, nan, 1.0], false),
    ] {
        let second = [9.0, 0.0, 3.0, 2.0];
        let input = of(&[2, 2, 2], &[matrix, second].concat());
        let first = match is_definite {
            true => [2.0, 0.0, 1.0, 1.0],
            false => [nan; 4],
        };
        let expected = of(&[2, 2, 2], &[first, [3.0, 0.0, 1.0, 1.0]].concat());
        let found = RUN.get(Cholesky::DEF, &Cholesky::attrs(true), &[&input]);
        assert_same(&found, &expected, &format!("{matrix:?}"));
    }
}

/// Whether the system is lower, left, unit and transposed.
type Flags = [bool; 4];

fn check_solution<T: FloatNum>([batch, order, columns]: [usize; 3], flags: Flags) {
    let [is_lower, is_left, is_unit, is_transposed] = flags;
    let a = definite::<T>([batch, order], is_lower, !is_unit);
    let shape = match is_left {
        true => [batch, order, columns],
        false => [batch, columns, order],
    };
    let b = sample::<T>(&shape, 5);
    let attrs = TriangularSolve::attrs(is_lower, is_left, is_unit, is_transposed);
    let x = RUN.get(TriangularSolve::DEF, &attrs, &[&a, &b]);
    let what = format!("{} {shape:?} {flags:?}", T::DTYPE);
    let open = OPEN.get(TriangularSolve::DEF, &attrs, &[&a, &b]);
    assert_same(&open, &x, &what);
    let factor = |matrix: usize, row: usize, column: usize| {
        let (row, column) = match is_transposed {
            true => (column, row),
            false => (row, column),
        };
        match row == column {
            true if is_unit => 1.0,
            false if (row > column) != is_lower => 0.0,
            _ => at::<T>(&a, &[matrix, row, column]).to_f64(),
        }
    };
    for place in indices(&shape) {
        let [matrix, row, column] = [place[0], place[1], place[2]];
        let own = |row, column| at::<T>(&x, &[matrix, row, column]).to_f64();
        let terms = (0..order).map(|k| match is_left {
            true => factor(matrix, row, k) * own(k, column),
            false => own(row, k) * factor(matrix, k, column),
        });
        let terms: Vec<f64> = terms.collect();
        let scale = terms.iter().fold(1.0, |most: f64, own| most.max(own.abs()));
        let difference = terms.iter().sum::<f64>() - at::<T>(&b, &place).to_f64();
        let most = tolerance(T::DTYPE) * scale;
        assert!(difference.abs() < most, "{what}: {difference}");
    }
}

#[test]
fn solutions_multiply_to_the_right_side() {
    let shapes = [
        [1, 1, 1],
        [1, 3, 2],
        [2, 4, 3],
        [1, 7, 1],
        [2, 0, 3],
        [2, 3, 0],
        [0, 2, 2],
    ];
    for dtype in FLOATS {
        for shape in shapes {
            for bits in 0..16 {
                let flags = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                with_float!(dtype, T => check_solution::<T>(shape, flags), else {
                    unreachable!("all are floats")
                });
            }
        }
    }
}

#[test]
fn a_zero_on_the_diagonal_divides() {
    let a = of(&[2, 2], &[0.0f32, 0.0, 0.0, 2.0]);
    let b = of(&[2, 2], &[1.0f32, 0.0, 4.0, 6.0]);
    let attrs = TriangularSolve::attrs(true, true, false, false);
    let found = RUN.get(TriangularSolve::DEF, &attrs, &[&a, &b]);
    let nan = f32::NAN;
    let expected = of(&[2, 2], &[f32::INFINITY, nan, nan, nan]);
    assert_same(&found, &expected, "0 * infinity");
}

#[test]
fn extents_of_a_run_are_checked() {
    let rejected = |found: Result<Tensor, EvalError>| match found {
        Err(EvalError::Shape(text)) => text,
        other => panic!("{other:?}"),
    };
    let oblong = of(&[2, 3], &[1.0f32; 6]);
    let square = of(&[2, 2], &[1.0f32, 0.0, 0.0, 1.0]);
    let found = rejected(OPEN.eval(Cholesky::DEF, &Cholesky::attrs(true), &[&oblong]));
    let expected = "the matrices of `cholesky` must be square, found shape [2, 3]";
    assert_eq!(found, expected);
    let attrs = TriangularSolve::attrs(true, false, false, false);
    let found = rejected(OPEN.eval(TriangularSolve::DEF, &attrs, &[&square, &oblong]));
    let expected = "the operands of `triangular_solve` must agree: shapes [2, 2] and [2, 3]";
    assert_eq!(found, expected);
}
