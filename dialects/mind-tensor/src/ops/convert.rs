//! Numbers in another float dtype.

use mind_ir::types::{DType, FloatFormat};

mind_core::convert_op!("tensor.convert");

/// Whether every number of `from` is one of `to`.
pub fn holds(from: DType, to: DType) -> bool {
    let formats = from.float_format().zip(to.float_format());
    let fits = |(from, to): (FloatFormat, FloatFormat)| {
        from.mantissa <= to.mantissa && from.exponent <= to.exponent
    };
    from == to || formats.is_some_and(fits)
}
