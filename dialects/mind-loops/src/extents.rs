//! Extents as numbers, because all of them are known at this level.

use mind_core::eval::strided::{self, strides_of};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Tensor, row_major};
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;
use mind_ir::{ValueId, eval};

/// Returns the extents of `value`.
///
/// # Errors
///
/// E3003 an extent that is not known.
pub fn extents(g: &Graph, op: &'static str, value: ValueId) -> Result<Vec<i64>, VerifyError> {
    let shape = g.ty(value).shape.iter().enumerate();
    let known = shape.map(|(at, &dim)| match dim {
        Dim::Fixed(extent) => Ok(extent),
        _ => Err(VerifyError::Extent {
            op,
            dimension: format!("the extent at dimension {at}"),
            expected: "a number".to_owned(),
            found: dim.display(g.symbols()).to_string(),
            help: "all extents are known at this level: fix symbols with the pass `specialize`",
        }),
    });
    known.collect()
}

/// Returns the extents of a value of a verified module at this level.
///
/// # Panics
///
/// If an extent is not known.
pub fn known(g: &Graph, value: ValueId) -> Vec<usize> {
    let shape = g.ty(value).shape.iter();
    let known = shape.map(|dim| dim.fixed().expect("extents are known at this level") as usize);
    known.collect()
}

/// Converts extents to dimensions of a type.
pub fn dims(extents: &[i64]) -> impl Iterator<Item = Dim> + '_ {
    extents.iter().map(|&extent| Dim::Fixed(extent))
}

/// Returns the strides of a contiguous row-major tensor, in elements.
pub fn dense(extents: &[usize]) -> Vec<i64> {
    if extents.contains(&0) {
        return vec![0; extents.len()];
    }
    row_major(extents)
        .iter()
        .map(|&stride| stride as i64)
        .collect()
}

/// Checks that an operand has `expected` extents.
///
/// # Errors
///
/// E3002 another rank, E3003 another extent.
pub(crate) fn same_extents(
    op: &'static str,
    operand: &'static str,
    expected: &[i64],
    found: &[i64],
) -> Result<(), VerifyError> {
    if expected.len() != found.len() {
        return Err(VerifyError::Rank {
            op,
            operand,
            expected: expected.len().to_string(),
            found: found.len(),
        });
    }
    match expected.iter().zip(found).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(VerifyError::Extent {
            op,
            dimension: format!("the extent of {operand} at dimension {at}"),
            expected: expected[at].to_string(),
            found: found[at].to_string(),
            help: "make both extents equal",
        }),
    }
}

/// Broadcasts `tensor` to `shape` along dimensions of extent 1; a tensor of rank 0 broadcasts to any shape.
pub(crate) fn filled(
    cx: &eval::EvalCx<'_>,
    tensor: &Tensor,
    shape: &[usize],
) -> Result<Tensor, eval::EvalError> {
    if tensor.shape() == shape {
        return Ok(tensor.clone());
    }
    let strides = strides_of(tensor);
    let axes: Vec<strided::Axis> = match tensor.rank() {
        0 => shape.iter().map(|&extent| (extent, 0)).collect(),
        _ => {
            let own = tensor.shape().iter().zip(&strides);
            let axes = shape.iter().zip(own);
            axes.map(|(&extent, (&own, &stride))| (extent, if own == 1 { 0 } else { stride }))
                .collect()
        }
    };
    strided::copy(cx, tensor, 0, &axes)
}
