//! Cholesky factorizations and triangular systems, row after row.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Element, FloatNum, Tensor};

use super::chain;

/// How a system with a triangular matrix `a` is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct System {
    /// Whether the lower triangle of `a` is read, else the upper one.
    pub is_lower: bool,
    /// Whether `a` is to the left of the solution.
    pub is_left: bool,
    /// Whether the diagonal counts as ones.
    pub is_unit: bool,
    /// Whether the transpose of `a` is meant.
    pub is_transposed: bool,
}

impl System {
    /// Whether the rows of the system `m * y = c` that is solved are the columns of `a`.
    ///
    /// `x * op(a) = b` is solved as `transpose(op(a)) * transpose(x) = transpose(b)`.
    pub fn reads_columns(self) -> bool {
        self.is_transposed == self.is_left
    }

    /// Whether the first row is solved first, because `m` is lower triangular.
    pub fn is_forward(self) -> bool {
        self.is_lower != self.reads_columns()
    }
}

/// Checks that the extents of a run are those of square matrices, and gives that of the rows.
fn order(op: &str, shape: &[usize]) -> Result<usize, EvalError> {
    match *shape {
        [.., rows, columns] if rows == columns => Ok(rows),
        _ => {
            let text = format!("the matrices of `{op}` must be square, found shape {shape:?}");
            Err(EvalError::Shape(text))
        }
    }
}

/// The elements of row `at` of a square matrix, or of that column.
fn line<T: Element>(matrix: &[T], order: usize, at: usize, is_column: bool) -> Vec<T> {
    let (start, step) = if is_column {
        (at, order)
    } else {
        (at * order, 1)
    };
    let own = matrix[start..].iter().step_by(step).take(order);
    own.copied().collect()
}

/// The triangular factors of symmetric matrices.
///
/// # Errors
///
/// E6004 too large; extents of a run that are not those of square matrices.
pub(crate) fn cholesky<T: FloatNum>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    is_lower: bool,
) -> Result<Tensor, EvalError> {
    let order = order("cholesky", input.shape())?;
    let count = cx.count(T::DTYPE, input.shape())?;
    cx.count(<T::Acc as Element>::DTYPE, &[order, order])?;
    let mut factors = Vec::with_capacity(count);
    for matrix in chunks(input.elements::<T>(), order * order) {
        let upper = upper_factor(matrix, order, is_lower);
        if is_lower {
            let rows = (0..order).flat_map(|at| line(&upper, order, at, true));
            factors.extend(rows);
        } else {
            factors.extend(upper);
        }
    }
    Ok(Tensor::of(input.shape().to_vec(), factors))
}

/// The matrices of a batch, none of which is empty.
fn chunks<T>(elements: &[T], count: usize) -> impl Iterator<Item = &[T]> {
    elements.chunks_exact(count.max(1))
}

/// The upper factor of a matrix, row after row; NaN everywhere if a pivot is not above 0.
fn upper_factor<T: FloatNum>(matrix: &[T], order: usize, reads_lower: bool) -> Vec<T> {
    let (zero, not_a_number) = (<T::Acc as Element>::ZERO, T::from_f64(f64::NAN));
    let mut factor = vec![T::ZERO; order * order];
    let mut wide = vec![zero; order * order];
    let mut sums = vec![zero; order];
    for row in 0..order {
        // Row `row` is still zero: its product turns a sum of -0 into +0.
        let known = (row + 1) * order;
        let column = wide[row..known].iter().step_by(order);
        let column: Vec<T::Acc> = column.copied().collect();
        sums.fill(zero);
        chain::extend(&column, &wide[..known], &mut sums);
        let values = line(matrix, order, row, reads_lower);
        let rest = values.iter().zip(&sums);
        let rest: Vec<T> = rest.map(|(&x, &sum)| x.sub(T::narrow(sum))).collect();
        let pivot = rest[row];
        let root = if pivot > T::ZERO {
            pivot.sqrt()
        } else {
            not_a_number
        };
        let own = &mut factor[row * order..][..order];
        own[row] = root;
        for (element, x) in own.iter_mut().zip(rest).skip(row + 1) {
            *element = quotient(x, root);
        }
        let own = own.iter().map(|x| x.widen());
        wide.splice(row * order..known, own);
    }
    match factor.last() {
        Some(last) if last.to_f64().is_nan() => vec![not_a_number; order * order],
        _ => factor,
    }
}

fn quotient<T: FloatNum>(x: T, divisor: T) -> T {
    x.div(divisor).expect("floats have a quotient")
}

/// The solutions of triangular systems.
///
/// # Errors
///
/// E6004 too large; extents of a run that are not those of a system.
pub(crate) fn triangular_solve<T: FloatNum>(
    cx: &EvalCx<'_>,
    a: &Tensor,
    b: &Tensor,
    system: System,
) -> Result<Tensor, EvalError> {
    let order = order("triangular_solve", a.shape())?;
    let (batch, sides) = b.shape().split_at(b.rank() - 2);
    let (rows, columns) = match system.is_left {
        true => (sides[0], sides[1]),
        false => (sides[1], sides[0]),
    };
    if rows != order || *batch != a.shape()[..a.rank() - 2] {
        let (a, b) = (a.shape(), b.shape());
        let text = format!("the operands of `triangular_solve` must agree: shapes {a:?} and {b:?}");
        return Err(EvalError::Shape(text));
    }
    let count = cx.count(T::DTYPE, b.shape())?;
    cx.count(<T::Acc as Element>::DTYPE, &[order, columns])?;
    let mut solutions = vec![T::ZERO; count];
    let matrices = chunks(a.elements::<T>(), order * order);
    let sides = chunks(b.elements::<T>(), order * columns);
    let solved = solutions.chunks_exact_mut((order * columns).max(1));
    for ((a, b), x) in matrices.zip(sides).zip(solved) {
        substitute(a, b, x, (order, columns), system);
    }
    Ok(Tensor::of(b.shape().to_vec(), solutions))
}

/// Solves one system of `order` rows, neither extent being 0.
fn substitute<T: FloatNum>(
    a: &[T],
    b: &[T],
    x: &mut [T],
    (order, columns): (usize, usize),
    system: System,
) {
    let zero = <T::Acc as Element>::ZERO;
    let mut known = vec![zero; order * columns];
    let mut sums = vec![zero; columns];
    let index = |row: usize, column: usize| match system.is_left {
        true => row * columns + column,
        false => column * order + row,
    };
    for step in 0..order {
        let row = match system.is_forward() {
            true => step,
            false => order - 1 - step,
        };
        let factors = line(a, order, row, system.reads_columns());
        // The row itself is still zero: its product turns a sum of -0 into +0.
        let range = match system.is_forward() {
            true => 0..row + 1,
            false => row..order,
        };
        let terms = range.clone().map(|at| match at == row {
            true => zero,
            false => factors[at].widen(),
        });
        let terms: Vec<T::Acc> = terms.collect();
        sums.fill(zero);
        let rows = &known[range.start * columns..range.end * columns];
        chain::extend(&terms, rows, &mut sums);
        for (column, &sum) in sums.iter().enumerate() {
            let mut own = b[index(row, column)].sub(T::narrow(sum));
            if !system.is_unit {
                own = quotient(own, factors[row]);
            }
            x[index(row, column)] = own;
            known[row * columns + column] = own.widen();
        }
    }
}
