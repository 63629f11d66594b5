//! Lists of axes.

use mind_ir::verify::VerifyError;

/// Returns the listed axes; negative axes are not allowed in this dialect.
///
/// # Errors
///
/// E3004 outside of `0..rank`, E3005 named twice.
pub(crate) fn listed(
    op: &'static str,
    axes: &[i64],
    rank: usize,
) -> Result<Vec<usize>, VerifyError> {
    let mut named = vec![false; rank];
    let mut listed = Vec::with_capacity(axes.len());
    for &axis in axes {
        let known = usize::try_from(axis).ok().filter(|&axis| axis < rank);
        let Some(at) = known else {
            return Err(VerifyError::AxisRange { op, axis, rank });
        };
        if std::mem::replace(&mut named[at], true) {
            let axes = axes.to_vec();
            return Err(VerifyError::AxisTwice { op, axes, axis });
        }
        listed.push(at);
    }
    Ok(listed)
}

/// Returns the axis of each entry of a list; `None` for -1. For example `[1, -1, 0]` maps entry 0 to axis 1 and entry 1
/// to no axis.
///
/// # Errors
///
/// E4006 unless there is one entry for each of `entries`, E3004 neither -1 nor in `0..rank`, E3005 named twice.
pub(crate) fn mapped(
    op: &'static str,
    axes: &[i64],
    entries: usize,
    rank: usize,
) -> Result<Vec<Option<usize>>, VerifyError> {
    if axes.len() != entries {
        let found = axes.len();
        return Err(VerifyError::IndexCount {
            op,
            rank: entries,
            found,
        });
    }
    let named: Vec<i64> = axes.iter().copied().filter(|&axis| axis != -1).collect();
    listed(op, &named, rank)?;
    Ok(axes
        .iter()
        .map(|&axis| usize::try_from(axis).ok())
        .collect())
}
