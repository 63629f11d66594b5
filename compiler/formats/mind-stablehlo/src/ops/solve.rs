//! Cholesky factorisation and triangular solve.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::Direction;
use mind_core::ops::reduce::Max;
use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_ir::ValueId;
use mind_ir::types::DType;

use super::{Many, Row};
use crate::import::emit::One;
use crate::import::node::Node;
use crate::text::Attr;

pub(super) const ROWS: &[Row] = &[
    Row::one("stablehlo.cholesky", |n| {
        let is_lower = flag(n, "lower")?;
        let x = n.only()?;
        Ok(Cholesky::with(is_lower).build(&mut n.e, x)?)
    }),
    Row::one("stablehlo.triangular_solve", |n| {
        n.count(2)?;
        let system = TriangularSolve::with(flag(n, "lower")?)
            .left_side(flag(n, "left_side")?)
            .unit_diagonal(flag(n, "unit_diagonal")?)
            .transpose_a(is_transposed(n)?);
        let (a, b) = (n.input(0)?, n.input(1)?);
        Ok(system.build(&mut n.e, a, b)?)
    }),
];

/// Returns the import of a LAPACK call, as JAX emits it for CPUs.
pub(super) fn lapack(name: &str) -> Option<fn(&mut Node<'_, '_, '_>) -> Many> {
    match name {
        "lapack_spotrf_ffi" | "lapack_dpotrf_ffi" => Some(lapack_factors),
        "lapack_strsm_ffi" | "lapack_dtrsm_ffi" => Some(lapack_solution),
        _ => None,
    }
}

/// Returns whether field `name` of a call is the letter `letter`.
fn is_letter(n: &Node<'_, '_, '_>, name: &'static str, letter: u8) -> Result<bool, Refusal> {
    let found = n.fields(&["mhlo.backend_config"])?.int(name)?;
    Ok(found == i64::from(letter))
}

/// Returns the factors, and a status for each matrix, which is nonzero without a factor. LAPACK returns which minor is
/// not positive definite, but JAX only checks whether one is.
fn lapack_factors(n: &mut Node<'_, '_, '_>) -> Many {
    let is_lower = is_letter(n, "uplo", b'L')?;
    let x = n.only()?;
    let factor = Cholesky::with(is_lower).build(&mut n.e, x)?;
    let status = is_indefinite(n, factor)?;
    Ok(vec![factor, status])
}

/// Returns 1 for each factor with NaN elements, else 0.
fn is_indefinite(n: &mut Node<'_, '_, '_>, factor: ValueId) -> One {
    let largest = Max::with().axes(&[-2, -1]).build(&mut n.e, factor)?;
    let is_nan = n.e.compare(Direction::Ne, largest, largest)?;
    n.e.convert(is_nan, DType::I32)
}

fn lapack_solution(n: &mut Node<'_, '_, '_>) -> Many {
    n.count(2)?;
    let system = TriangularSolve::with(is_letter(n, "uplo", b'L')?)
        .left_side(is_letter(n, "side", b'L')?)
        .unit_diagonal(is_letter(n, "diag", b'U')?)
        .transpose_a(!is_letter(n, "trans_x", b'N')?);
    let (a, b) = (n.input(0)?, n.input(1)?);
    Ok(vec![system.build(&mut n.e, a, b)?])
}

/// Returns a boolean attribute, false if it is missing.
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
        // The adjoint of a real matrix is its transpose.
        Some(word) => Ok(*word != "NO_TRANSPOSE"),
        None => Err(Refusal::value(
            "transpose_a",
            "another word",
            words.join(", "),
        )),
    }
}
