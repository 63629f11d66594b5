//! Numbers in another float dtype.

mind_core::convert_op!("loops.convert");
