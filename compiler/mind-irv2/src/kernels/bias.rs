//! What the distance between two positions adds to their score.

use mind_core::ops::index::Gather;
use mind_core::ops::shape::Transpose;

use super::{Call, ambient};
use crate::graph::emit::Built;

/// For each head, query and key the number that the table has for the class of their distance.
pub(super) fn position_bias(call: &mut Call<'_>) -> Built<()> {
    let (table, classes) = (call.get("table", 2)?, call.ambient(ambient::CLASSES)?);
    let rows = Gather::build(call.e, table, classes)?;
    let by_head = Transpose::with()
        .permutation(&[2, 0, 1])
        .build(call.e, rows)?;
    call.set("bias", vec![by_head]);
    Ok(())
}
