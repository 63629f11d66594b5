//! Imports products and convolutions as one core op.

use mind_convert::EmitCore;
use mind_core::ops::contract::MatMul;
use mind_core::ops::convolution::{Conv, Layout};
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::ValueId;

use super::pool::Geometry;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

/// Returns a matrix product. A vector is a row on the left and a column on the right.
pub(super) fn product(e: &mut Emit<'_>, lhs: ValueId, rhs: ValueId) -> One {
    let (left, right) = (e.rank(lhs), e.rank(rhs));
    let row = if left == 1 {
        ExpandDims::with(&[0]).build(e, lhs)?
    } else {
        lhs
    };
    let column = if right == 1 {
        ExpandDims::with(&[1]).build(e, rhs)?
    } else {
        rhs
    };
    let product = MatMul::build(e, row, column)?;
    let rank = e.rank(product) as i64;
    let mut units = Vec::new();
    units.extend((left == 1).then_some(rank - 2));
    units.extend((right == 1).then_some(rank - 1));
    if units.is_empty() {
        return Ok(product);
    }
    // If one side is a vector, the product has an additional unit dimension, which is removed.
    units.retain(|axis| *axis >= 0);
    Ok(Squeeze::with(&units).build(e, product)?)
}

/// Returns a convolution of `x` with the attributes of the node.
pub(super) fn conv(n: &mut Node<'_, '_, '_>, x: ValueId, filter: ValueId) -> One {
    let taps = n.e.shape(filter)?[2..].to_vec();
    let geometry = Geometry::of(n, x, &taps)?;
    let groups = n.int("group")?.unwrap_or(1);
    let conv = Conv::with()
        .layout(Layout::Nchw)
        .strides(&geometry.strides)
        .dilations(&geometry.dilations)
        .groups(groups);
    let pads = geometry.pads();
    Ok(conv.pads(&pads).build(&mut n.e, x, filter)?)
}
