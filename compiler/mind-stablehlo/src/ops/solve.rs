//! Factors of matrices and equations with triangular ones, a column or a row in each step of a scan.

use mind_convert::{EmitCore, Refusal, RegionOp};
use mind_core::ops::compare::Direction;
use mind_core::ops::contract::MatMul;
use mind_core::ops::control::Scan;
use mind_core::ops::extents::Iota;
use mind_core::ops::reduce::Sum;
use mind_ir::ValueId;
use mind_ir::opdef::Op as _;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, DTypeClass, Dim};

use super::{Many, Row};
use crate::import::emit::{Cache, Emit, One};
use crate::import::node::Node;
use crate::text::Attr;

pub(super) const ROWS: &[Row] = &[
    Row::one("stablehlo.cholesky", |n| {
        let is_lower = flag(n, "lower")?;
        let x = n.only()?;
        let x = checked(n, 0, x)?;
        cholesky(&mut n.e, x, is_lower)
    }),
    Row::one("stablehlo.triangular_solve", |n| {
        n.count(2)?;
        let system = System {
            is_left: flag(n, "left_side")?,
            is_lower: flag(n, "lower")?,
            is_unit: flag(n, "unit_diagonal")?,
            is_transposed: is_transposed(n)?,
        };
        let (a, b) = (n.input(0)?, n.input(1)?);
        let a = checked(n, 0, a)?;
        system.solved(n, a, b)
    }),
];

/// The row of a call of LAPACK as JAX writes it for processors.
pub(super) fn lapack(name: &str) -> Option<fn(&mut Node<'_, '_, '_>) -> Many> {
    match name {
        "lapack_spotrf_ffi" | "lapack_dpotrf_ffi" => Some(lapack_factors),
        "lapack_strsm_ffi" | "lapack_dtrsm_ffi" => Some(lapack_solution),
        _ => None,
    }
}

/// Whether field `name` of a call is the letter `letter`.
fn is_letter(n: &Node<'_, '_, '_>, name: &'static str, letter: u8) -> Result<bool, Refusal> {
    let found = n.fields(&["mhlo.backend_config"])?.int(name)?;
    Ok(found == i64::from(letter))
}

/// The factor, and 0 for each matrix: one that is not positive definite has a factor of NaNs.
fn lapack_factors(n: &mut Node<'_, '_, '_>) -> Many {
    let is_lower = is_letter(n, "uplo", b'L')?;
    let x = n.only()?;
    let x = checked(n, 0, x)?;
    let own = cholesky(&mut n.e, x, is_lower)?;
    let rank = n.e.rank(x);
    let outer = n.e.extents_of(x, 0..rank - 2)?;
    let zero = n.e.number(DType::I32, 0.0);
    let status = super::shape::stretched(&mut n.e, zero, &[], &outer)?;
    Ok(vec![own, status])
}

fn lapack_solution(n: &mut Node<'_, '_, '_>) -> Many {
    n.count(2)?;
    let system = System {
        is_left: is_letter(n, "side", b'L')?,
        is_lower: is_letter(n, "uplo", b'L')?,
        is_unit: is_letter(n, "diag", b'U')?,
        is_transposed: !is_letter(n, "trans_x", b'N')?,
    };
    let (a, b) = (n.input(0)?, n.input(1)?);
    let a = checked(n, 0, a)?;
    Ok(vec![system.solved(n, a, b)?])
}

/// An attribute that is a truth value, false if it is left out.
fn flag(n: &Node<'_, '_, '_>, name: &'static str) -> Result<bool, Refusal> {
    match n.attr(&[name]) {
        None => Ok(false),
        Some(Attr::Bool(own)) => Ok(*own),
        Some(Attr::Word(word @ ("true" | "false"))) => Ok(*word == "true"),
        Some(other) => Err(Refusal::value(name, other.describe(), "true or false")),
    }
}

fn is_transposed(n: &Node<'_, '_, '_>) -> Result<bool, Refusal> {
    let words = ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];
    let found = match n.attr(&["transpose_a"]) {
        None => return Ok(false),
        Some(Attr::Raw(text)) => words.iter().rev().find(|word| {
            let mut parts = text.split(|own: char| !own.is_alphanumeric() && own != '_');
            parts.any(|part| part == **word)
        }),
        Some(other) => words.iter().find(|word| other.text() == Some(**word)),
    };
    match found {
        // Of real numbers the adjoint is the transpose.
        Some(word) => Ok(*word != "NO_TRANSPOSE"),
        None => Err(Refusal::value(
            "transpose_a",
            "another word",
            words.join(", "),
        )),
    }
}

/// A square matrix, or a batch of them, of floats.
fn checked(n: &Node<'_, '_, '_>, at: usize, x: ValueId) -> One {
    let ty = n.e.g().type_text(x);
    if n.e.dtype(x).class() != DTypeClass::Float {
        return Err(Refusal::dtype(n.operand(at), n.e.dtype(x), "floats"));
    }
    match n.e.dims(x)[..] {
        [.., Dim::Fixed(rows), Dim::Fixed(columns)] if rows == columns => Ok(x),
        [.., _, _] => Err(Refusal::extent(
            format_args!("the type of {}", n.operand(at)),
            ty,
            "square matrices of fixed size",
        )),
        _ => Err(Refusal::rank(n.operand(at), ty, "2 or more")),
    }
}

/// Matrices with rows and columns exchanged.
fn turned(e: &mut Emit<'_>, x: ValueId) -> One {
    let rank = e.rank(x);
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(rank - 2, rank - 1);
    e.permute(x, &order)
}

/// The numbers of `count` steps, from 0 on.
fn steps(e: &mut Emit<'_>, count: i64) -> One {
    Ok(Iota::with(DType::I64, &[Dim::Fixed(count)]).build(e)?)
}

/// Whether the place along `axis` of a value of that rank compares to a step.
fn place(
    e: &mut Emit<'_>,
    direction: Direction,
    (count, axis, rank): (i64, usize, usize),
    step: ValueId,
) -> One {
    let mut shape = vec![Dim::Fixed(1); rank];
    shape[axis] = Dim::Fixed(count);
    let all = Iota::with(DType::I64, &shape).axis(axis as i64).build(e)?;
    e.compare(direction, all, step)
}

/// A scan of the numbers from 0 on.
fn scan(
    e: &mut Emit<'_>,
    (count, is_reversed): (i64, bool),
    (carried, fixed): (ValueId, &[ValueId]),
    mut step: impl FnMut(&mut Emit<'_>, ValueId, ValueId, &[ValueId]) -> One,
) -> One {
    let steps = steps(e, count)?;
    let reversed = [i64::from(is_reversed)];
    let attrs = Scan::attrs(1, 1, &[], &[], &reversed, &[]);
    let operands = [&[carried, steps], fixed].concat();
    let op = RegionOp {
        def: Scan::DEF,
        attrs: &attrs,
        operands: &operands,
        results: 1,
    };
    let results = op.create(&mut e.b, |_, b, arguments| {
        let mut cache = Cache::default();
        let mut e = Emit {
            b: b.reborrow(),
            cache: &mut cache,
        };
        let next = step(&mut e, arguments[0], arguments[1], &arguments[2..])?;
        Ok(vec![next])
    })?;
    Ok(results[0])
}

/// The lower factor, column after column: each step divides a column by the root of its pivot and takes its outer product
/// off the later columns. An upper factor is the transpose of that of the transpose.
fn cholesky(e: &mut Emit<'_>, x: ValueId, is_lower: bool) -> One {
    let x = if is_lower { x } else { turned(e, x)? };
    let rank = e.rank(x);
    let Dim::Fixed(count) = e.dims(x)[rank - 1] else {
        return Err(Refusal::not_constant(
            "the size of the matrix".to_owned(),
            "is open",
        ));
    };
    let of = e.dtype(x);
    let (rows, columns) = ((count, rank - 2, rank), (count, rank - 1, rank));
    let factor = scan(e, (count, false), (x, &[]), |e, matrix, step, _| {
        let zero = e.number(of, 0.0);
        let is_column = place(e, Direction::Eq, columns, step)?;
        let picked = e.apply(ScalarFn::Select, &[is_column, matrix, zero])?;
        let column = Sum::with().axes(&[-1]).keepdims(true).build(e, picked)?;
        let is_row = place(e, Direction::Eq, rows, step)?;
        let pivot = e.apply(ScalarFn::Select, &[is_row, column, zero])?;
        let pivot = Sum::with().axes(&[-2]).keepdims(true).build(e, pivot)?;
        let root = e.apply(ScalarFn::Sqrt, &[pivot])?;
        let column = e.apply(ScalarFn::Div, &[column, root])?;
        let column = e.apply(ScalarFn::Select, &[is_row, root, column])?;
        let is_above = place(e, Direction::Lt, rows, step)?;
        let column = e.apply(ScalarFn::Select, &[is_above, zero, column])?;
        let row = turned(e, column)?;
        let outer = e.apply(ScalarFn::Mul, &[column, row])?;
        let rest = e.apply(ScalarFn::Sub, &[matrix, outer])?;
        let is_behind = place(e, Direction::Gt, columns, step)?;
        let rest = e.apply(ScalarFn::Select, &[is_behind, rest, matrix])?;
        e.apply(ScalarFn::Select, &[is_column, column, rest])
    })?;
    if is_lower {
        Ok(factor)
    } else {
        turned(e, factor)
    }
}

/// Equations with a triangular matrix `a`: `op(a) x = b`, or `x op(a) = b` where the matrix is on the right.
struct System {
    is_left: bool,
    is_lower: bool,
    is_unit: bool,
    is_transposed: bool,
}

impl System {
    fn solved(&self, n: &mut Node<'_, '_, '_>, a: ValueId, b: ValueId) -> One {
        let rank = n.e.rank(a);
        if n.e.rank(b) != rank {
            let ty = n.e.g().type_text(b);
            return Err(Refusal::rank(n.operand(1), ty, rank));
        }
        let e = &mut n.e;
        // `x op(a) = b` is `op(a)' x' = b'`.
        let b = if self.is_left { b } else { turned(e, b)? };
        let is_turned = self.is_transposed == self.is_left;
        let a = if is_turned { turned(e, a)? } else { a };
        let is_lower = self.is_lower != is_turned;
        let solution = substituted(e, a, b, is_lower, self.is_unit)?;
        if self.is_left {
            Ok(solution)
        } else {
            turned(e, solution)
        }
    }
}

/// `x` of `a x = b`, row after row: each step takes the products with the rows that are known off one of `b`, and divides it by
/// the element of the diagonal. Rows that are not known yet are 0.
fn substituted(e: &mut Emit<'_>, a: ValueId, b: ValueId, is_lower: bool, is_unit: bool) -> One {
    let rank = e.rank(a);
    let Dim::Fixed(count) = e.dims(a)[rank - 1] else {
        return Err(Refusal::not_constant(
            "the size of the matrix".to_owned(),
            "is open",
        ));
    };
    let of = e.dtype(a);
    let (rows, columns) = ((count, rank - 2, rank), (count, rank - 1, rank));
    let zero = e.number(of, 0.0);
    let extents = e.extents_of(b, 0..rank)?;
    let none = super::shape::stretched(e, zero, &[], &extents)?;
    let direction = if is_lower {
        Direction::Lt
    } else {
        Direction::Gt
    };
    scan(
        e,
        (count, !is_lower),
        (none, &[a, b]),
        |e, known, step, fixed| {
            let zero = e.number(of, 0.0);
            let is_row = place(e, Direction::Eq, rows, step)?;
            let pick = |e: &mut Emit<'_>, x: ValueId| -> One {
                let own = e.apply(ScalarFn::Select, &[is_row, x, zero])?;
                Ok(Sum::with().axes(&[-2]).keepdims(true).build(e, own)?)
            };
            let (row, right) = (pick(e, fixed[0])?, pick(e, fixed[1])?);
            let is_known = place(e, direction, columns, step)?;
            let factors = e.apply(ScalarFn::Select, &[is_known, row, zero])?;
            let sum = MatMul::build(e, factors, known)?;
            let mut own = e.apply(ScalarFn::Sub, &[right, sum])?;
            if !is_unit {
                let is_diagonal = place(e, Direction::Eq, columns, step)?;
                let pivot = e.apply(ScalarFn::Select, &[is_diagonal, row, zero])?;
                let pivot = Sum::with().axes(&[-1]).keepdims(true).build(e, pivot)?;
                own = e.apply(ScalarFn::Div, &[own, pivot])?;
            }
            e.apply(ScalarFn::Select, &[is_row, own, known])
        },
    )
}
