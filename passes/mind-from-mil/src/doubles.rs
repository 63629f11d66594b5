//! Functions computed in `f64`.

use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};

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
