//! Masks: constants that set weights of a softmax to 0.

use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::{Add, Sub};
use mind_core::ops::normalize::Softmax;
use mind_core::ops::reduce::Max;
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_mil::call::floats;

use crate::config::Layout;
use crate::emit::Emit;

/// The replacement for minus infinity in a mask. Its exponential is 0 in f16 and f32.
pub(crate) const MASKED: f64 = -1e4;

/// Maximum number of ops between a mask and its softmax.
const DEPTH: usize = 8;

/// Returns whether all uses of the constant `value` add it to scores that only feed softmaxes, and no row of `tensor`
/// is masked completely. Then replacing minus infinity by [`MASKED`] does not change a weight. A completely masked row
/// has NaN as its weights, which must be kept.
pub(crate) fn is_mask(e: &Emit<'_, '_>, value: ValueId, tensor: &Tensor) -> bool {
    let g = e.g();
    // The uses are checked first, because it is cheap and weights are large.
    let mut uses = g.uses(value);
    let adds = uses.all(|(user, _)| g.is::<Add>(user) || g.def(user).has_closed_body());
    adds && e.config.layout != Layout::Keep
        && tensor.dtype().is_float()
        && floats(tensor).into_iter().any(is_masked)
        && is_added(g, value, tensor)
}

/// Returns whether an element is minus infinity in halves, which cannot represent anything below their range.
pub(crate) fn is_masked(element: f64) -> bool {
    element < -f64::from(half::f16::MAX)
}

fn is_added(g: &Graph, value: ValueId, mask: &Tensor) -> bool {
    let mut uses = g.uses(value);
    uses.all(|(user, index)| {
        if let Some(sum) = g.view::<Add>(user) {
            return feeds_softmax(g, sum.result(g), mask, DEPTH);
        }
        // The body of a fused op reads the value as a block argument.
        let is_fused = g.def(user).has_closed_body() && g.def(user).arguments.is_none();
        let argument = || {
            let arguments = g.arguments(g.block(*g.regions(user).first()?));
            arguments.into_iter().nth(index)
        };
        is_fused && argument().is_some_and(|argument| is_added(g, argument, mask))
    })
}

/// Returns whether every use of `scores` is a softmax along rows in which `mask` leaves an element unmasked.
fn feeds_softmax(g: &Graph, scores: ValueId, mask: &Tensor, depth: usize) -> bool {
    let rank = g.ty(scores).rank();
    let mut uses = g.uses(scores).peekable();
    depth > 0
        && uses.peek().is_some()
        && uses.all(|(user, _)| {
            if let Some(softmax) = g.view::<Softmax>(user) {
                return leaves_elements(mask, rank, softmax.axis(g));
            }
            if let Some(sum) = g.view::<Add>(user) {
                return feeds_softmax(g, sum.result(g), mask, depth - 1);
            }
            if let Some(cast) = g.view::<Cast>(user) {
                let is_float = matches!(cast.dtype(g), DType::F16 | DType::F32 | DType::F64);
                return is_float && feeds_softmax(g, cast.result(g), mask, depth - 1);
            }
            // A softmax in separate ops subtracts the largest score.
            if let Some(max) = g.view::<Max>(user) {
                let axis = max.axes(g).first().copied();
                let is_row = max.axes(g).len() == 1 && max.keepdims(g);
                return is_row && axis.is_some_and(|axis| leaves_elements(mask, rank, axis));
            }
            let largest = g.view::<Sub>(user).map(|own| own.rhs(g));
            let largest = largest.and_then(|value| g.view::<Max>(g.defining_op(value)?));
            largest.is_some_and(|max| max.input(g) == scores)
        })
}

/// Returns whether each row of a mask along `axis` of scores of `rank` has an element that is not masked.
fn leaves_elements(mask: &Tensor, rank: usize, axis: i64) -> bool {
    let axis = axis.rem_euclid(rank.max(1) as i64);
    let shape = mask.shape();
    let own = axis - (rank as i64 - shape.len() as i64);
    let elements = floats(mask);
    let Some(&extent) = usize::try_from(own).ok().and_then(|own| shape.get(own)) else {
        return !elements.into_iter().any(is_masked);
    };
    let inner: usize = shape[own as usize + 1..].iter().product();
    let rows = elements.len() / extent.max(1);
    (0..rows).all(|row| {
        let first = row / inner.max(1) * extent * inner + row % inner.max(1);
        (0..extent).any(|at| !is_masked(elements[first + at * inner]))
    })
}
