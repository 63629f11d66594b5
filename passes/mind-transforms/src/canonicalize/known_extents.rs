//! Replaces ops with extents at run time by ops with a static shape if their extents are constants, and propagates the
//! shapes.

use mind_core::eval::bounds::indices;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::extents::Iota;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::shape::Reshape;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::types::Dim;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{OpId, Ty, ValueId};
use mind_rewrite::constant_value;

/// The maximum number of ops that are tried one by one if not all of them can be replaced together.
const MAX_SINGLE_TRIES: usize = 16;

/// The size limit in bytes of a list of extents.
const LIST: u64 = 1 << 10;

/// Replaces dynamic ops with constant extents by `Reshape`, `BroadcastTo` and `Iota`, and infers the types of all
/// values again. Returns the number of replaced ops. If `keeps_outputs`, the types of outputs are unchanged, which is
/// required for the values that a region yields.
///
/// Ops are kept if their extents do not fit, or if a loop requires an unknown extent because a carried value changes
/// its shape.
pub(super) fn narrow(g: &mut Graph, config: &VerifyConfig, keeps_outputs: bool) -> usize {
    let ops: Vec<OpId> = g.walk().filter(|&op| known(g, op).is_some()).collect();
    if ops.is_empty() {
        return 0;
    }
    if let Some(all) = narrowed(g, &ops, config, keeps_outputs) {
        *g = all;
        return ops.len();
    }
    if ops.len() == 1 {
        return 0;
    }
    let mut count = 0;
    for op in ops.into_iter().take(MAX_SINGLE_TRIES) {
        if let Some(one) = narrowed(g, &[op], config, keeps_outputs) {
            *g = one;
            count += 1;
        }
    }
    count
}

/// Returns the extents of a dynamic op if they are constants that its shape attribute allows.
fn known(g: &Graph, op: OpId) -> Option<Vec<Dim>> {
    let own = g.view::<DynamicReshape>(op);
    let refuses_ones = own.is_some_and(|own| own.refuse_ones(g));
    let reshape = own.map(|own| (own.extents(g), own.shape(g)));
    let broadcast = g.view::<DynamicBroadcastTo>(op);
    let broadcast = broadcast.map(|own| (own.extents(g), own.shape(g)));
    let iota = g.view::<DynamicIota>(op);
    let iota = iota.map(|own| (own.extents(g), own.shape(g)));
    let (extents, shape) = reshape.or(broadcast).or(iota)?;
    let extents = indices(&constant_value(g, extents, LIST)?);
    let admits = |(&dim, &extent): (&Dim, &i64)| match dim {
        Dim::Fixed(-1) | Dim::Dynamic => extent >= 0,
        Dim::Fixed(own) => own == extent,
        // Whether the dimension has this extent is checked at run time.
        Dim::Symbol(_) => false,
    };
    let fits = extents.len() == shape.len() && shape.iter().zip(&extents).all(admits);
    let fails = refuses_ones && extents.contains(&1);
    (fits && !fails).then(|| extents.into_iter().map(Dim::Fixed).collect())
}

/// Returns the module with `ops` replaced by ops with a static shape; `None` if it is invalid.
fn narrowed(g: &Graph, ops: &[OpId], config: &VerifyConfig, keeps_outputs: bool) -> Option<Graph> {
    let types = |g: &Graph| -> Vec<Option<Ty>> {
        g.outputs().iter().map(|&value| g.type_id(value)).collect()
    };
    let outputs = types(g);
    let mut g = g.clone();
    for &op in ops {
        let shape = known(&g, op)?;
        let new = fixed(&mut g, op, &shape)?;
        let old = g.result(op);
        g.set_label(new, g.label(old));
        g.replace_all_uses(old, new);
        g.erase(op);
    }
    let is_valid = !verify(&mut g, config).has_errors();
    (is_valid && (!keeps_outputs || types(&g) == outputs)).then_some(())?;
    let values: Vec<ValueId> = g.walk().flat_map(|op| g.results(op)).collect();
    for value in values {
        if let (Some(_), Some(ty)) = (g.declared(value), g.type_id(value)) {
            g.declare(value, ty);
        }
    }
    Some(g)
}

/// Creates the op with this static shape before a dynamic op.
fn fixed(g: &mut Graph, op: OpId, shape: &[Dim]) -> Option<ValueId> {
    let reshape = g.view::<DynamicReshape>(op).map(|own| own.input(g));
    let broadcast = g.view::<DynamicBroadcastTo>(op).map(|own| own.input(g));
    let iota = g.view::<DynamicIota>(op);
    let iota = iota.map(|own| (own.dtype(g), own.axis(g)));
    let mut b = Builder::before(g, op);
    let built = match (reshape, broadcast, iota) {
        (Some(input), _, _) => Reshape::with(shape).build(&mut b, input),
        (_, Some(input), _) => BroadcastTo::with(shape).build(&mut b, input),
        (_, _, Some((dtype, axis))) => Iota::with(dtype, shape).axis(axis).build(&mut b),
        (None, None, None) => return None,
    };
    built.ok()
}
