//! Folds ops of constants at import.

use mind_convert::{EmitCore, Refusal};
use mind_ir::{OpId, ValueId};
use mind_mil::constant::constant;

use crate::emit::Emit;

/// Maximum size in bytes of a folded constant.
const LIMIT: u64 = 1 << 28;

/// Folds an op whose operands are all constants and returns its results. Returns `None` for other ops, and for ops
/// without an evaluation.
///
/// # Errors
///
/// If the evaluation fails.
pub(crate) fn folded(op: OpId, e: &mut Emit<'_>) -> Result<Option<Vec<ValueId>>, Refusal> {
    let Some(results) = mind_mil::fold::folded(e.g(), op, LIMIT) else {
        return Ok(None);
    };
    let constants = results?
        .into_iter()
        .map(|result| constant(&mut e.b, &result));
    Ok(Some(constants.collect()))
}
