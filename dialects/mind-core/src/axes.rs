//! Axis lists and ranks.

use mind_ir::types::MAX_RANK;
use mind_ir::verify::VerifyError;

/// Checks the rank of a result that has more dimensions than its operands.
///
/// # Errors
///
/// E3002 above [`MAX_RANK`].
pub fn check_rank(op: &'static str, found: usize) -> Result<(), VerifyError> {
    if found <= MAX_RANK {
        return Ok(());
    }
    let expected = format!("at most {MAX_RANK}");
    Err(VerifyError::Rank {
        op,
        operand: "a result",
        expected,
        found,
    })
}

/// Returns `axis` counted from the front; negative axes count from the end.
///
/// # Errors
///
/// E3004 `axis` is outside `-rank..rank`.
pub fn resolve(op: &'static str, axis: i64, rank: usize) -> Result<usize, VerifyError> {
    let signed = rank as i64;
    match axis {
        axis if (0..signed).contains(&axis) => Ok(axis as usize),
        axis if (-signed..0).contains(&axis) => Ok((axis + signed) as usize),
        axis => Err(VerifyError::AxisRange { op, axis, rank }),
    }
}

/// Returns for each dimension whether `axes` lists it; an empty list means all dimensions.
///
/// # Errors
///
/// E3004 outside the rank, E3005 named twice, also when once from the front and once from the end: for example `1` and
/// `-1` at rank 2.
pub(crate) fn reduced(
    op: &'static str,
    axes: &[i64],
    rank: usize,
) -> Result<Vec<bool>, VerifyError> {
    if axes.is_empty() {
        return Ok(vec![true; rank]);
    }
    named(op, axes, rank)
}

/// Returns for each dimension whether `axes` lists it; an empty list means none.
///
/// # Errors
///
/// E3004 outside the rank, E3005 named twice.
pub(crate) fn named(op: &'static str, axes: &[i64], rank: usize) -> Result<Vec<bool>, VerifyError> {
    let mut named = vec![false; rank];
    for axis in listed(op, axes, rank)? {
        named[axis] = true;
    }
    Ok(named)
}

/// Returns the listed axes, counted from the front.
///
/// # Errors
///
/// E3004 outside the rank, E3005 named twice.
pub(crate) fn listed(
    op: &'static str,
    axes: &[i64],
    rank: usize,
) -> Result<Vec<usize>, VerifyError> {
    let resolved: Result<Vec<usize>, _> =
        axes.iter().map(|&axis| resolve(op, axis, rank)).collect();
    let resolved = resolved?;
    for (at, &axis) in axes.iter().enumerate() {
        if resolved[..at].contains(&resolved[at]) {
            let axes = axes.to_vec();
            return Err(VerifyError::AxisTwice { op, axes, axis });
        }
    }
    Ok(resolved)
}
