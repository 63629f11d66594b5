//! Ops of constants alone, computed when importing.

use mind_convert::{EmitCore, Refusal};
use mind_ir::{OpId, ValueId};
use mind_mil::constant::constant;

use crate::emit::Emit;

/// The most bytes that one constant may take when computed.
const LIMIT: u64 = 1 << 28;

/// What an op of constants alone computes, as constants of MIL; `None` for an op that reads anything else, or
/// that has no evaluation.
///
/// # Errors
///
/// An evaluation that fails.
pub(crate) fn folded(op: OpId, e: &mut Emit<'_>) -> Result<Option<Vec<ValueId>>, Refusal> {
    let Some(results) = mind_mil::fold::folded(e.g(), op, LIMIT) else {
        return Ok(None);
    };
    let constants = results?
        .into_iter()
        .map(|result| constant(&mut e.b, &result));
    Ok(Some(constants.collect()))
}
