//! Broadcasts, which MIL's arithmetic applies implicitly.

use mind_ir::ValueId;
use mind_mil::ops::movement::EXPAND_DIMS;
use mind_mil::ops::tensor::TILE;

use crate::emit::Argument::{Ints, Value};
use crate::emit::{Emit, Lowered};

/// Broadcasts `x` to `shape`, with dimension `i` of `x` as dimension `dims[i]`.
pub(crate) fn to_shape(e: &mut Emit<'_, '_>, x: ValueId, dims: &[i64], shape: &[i64]) -> Lowered {
    let own = e.shape(x)?;
    let mut thin = vec![1i64; shape.len()];
    for (&extent, &at) in own.iter().zip(dims) {
        thin[at as usize] = extent;
    }
    let new: Vec<i64> = (0..shape.len() as i64)
        .filter(|at| !dims.contains(at))
        .collect();
    let x = if new.is_empty() {
        x
    } else {
        e.op(&EXPAND_DIMS, &[("x", Value(x)), ("axes", Ints(&new))])?
    };
    let reps: Vec<i64> = thin
        .iter()
        .zip(shape)
        .map(|(&thin, &wanted)| if thin == wanted { 1 } else { wanted })
        .collect();
    if reps.iter().all(|&times| times == 1) {
        Ok(x)
    } else {
        e.op(&TILE, &[("x", Value(x)), ("reps", Ints(&reps))])
    }
}
