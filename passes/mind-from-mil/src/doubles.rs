//! Functions computed in `f64`, and choices between two of them.

use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};

use crate::comparison::step;
use crate::emit::{Emit, Imported};

/// A function of argument `x` in `f64`, rounded to `f32` and once more to the dtype.
pub(crate) fn in_doubles(
    op: OpId,
    e: &mut Emit<'_>,
    function: impl FnOnce(&mut Emit<'_>, ValueId) -> Imported,
) -> Imported {
    let x = e.argument(op, "x")?;
    let dtype = e.dtype(e.float(x)?);
    let wide = e.convert(x, DType::F64)?;
    let result = function(e, wide)?;
    let single = e.convert(result, DType::F32)?;
    e.convert(single, dtype)
}

/// `1 - x`.
pub(crate) fn complement(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let one = e.number(e.dtype(x), 1.0);
    e.sub(one, x)
}

/// `first` where `flag` is 1, `second` where it is 0.
pub(crate) fn chosen(e: &mut Emit<'_>, flag: ValueId, first: ValueId, second: ValueId) -> Imported {
    let other = complement(e, flag)?;
    let (first, second) = (e.mul(first, flag)?, e.mul(second, other)?);
    e.add(first, second)
}

/// 1 where the size of `x` is below `limit`, else 0, also for NaN.
pub(crate) fn below_in_size(e: &mut Emit<'_>, x: ValueId, limit: f64) -> Imported {
    let size = e.abs(x)?;
    let limit = e.number(e.dtype(x), limit);
    let room = e.sub(limit, size)?;
    step(e, room)
}
