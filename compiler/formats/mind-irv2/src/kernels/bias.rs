//! Kernels for biases of attention scores that depend on distance.

use mind_core::ops::elementwise::{Mul, Sub};
use mind_core::ops::index::Gather;
use mind_core::ops::shape::{Reshape, Transpose};

use super::{Call, ambient};
use crate::graph::distance::slopes_of;
use crate::graph::emit::{Built, fixed};

/// Looks up the bias of each head, query and key by the bucket of their distance.
pub(super) fn position_bias(call: &mut Call<'_>) -> Built<()> {
    let (table, classes) = (call.get("table", 2)?, call.ambient(ambient::CLASSES)?);
    let rows = Gather::build(call.e, table, classes)?;
    let by_head = Transpose::with()
        .permutation(&[2, 0, 1])
        .build(call.e, rows)?;
    call.set("bias", vec![by_head]);
    Ok(())
}

/// Computes the ALiBi bias of each head, query and key: the slope times (key position - query position).
pub(super) fn alibi(call: &mut Call<'_>) -> Built<()> {
    let places = call.ambient(ambient::PLACES)?;
    let tokens = call.e.shape(places)[0];
    let rows = Reshape::with(&[tokens, fixed(1)]).build(call.e, places)?;
    let columns = Reshape::with(&[fixed(1), tokens]).build(call.e, places)?;
    let ahead = Sub::build(call.e, columns, rows)?;
    let slopes = slopes_of(call.config.num_attention_heads);
    let slopes = call.e.numbers(&slopes, &[slopes.len(), 1, 1]);
    let bias = Mul::build(call.e, ahead, slopes)?;
    call.set("bias", vec![bias]);
    Ok(())
}
