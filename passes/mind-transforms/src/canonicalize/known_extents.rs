//! Ops that are given constant extents have these, and so has all that follows from them.

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

/// The most ops that are tried by themselves where not all of them can have their extents.
const MOST_ALONE: usize = 16;

/// The most bytes of a list of extents.
const LIST: u64 = 1 << 10;

/// Puts `Reshape`, `BroadcastTo` and `Iota` in the place of ops that are given constant extents, and finds the types of
/// all values again; how many. With `keeps_outputs` outputs keep their types, as what a region yields must.
///
/// Extents that do not fit, or that a loop opens for values which change theirs, stay as they are.
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
    for op in ops.into_iter().take(MOST_ALONE) {
        if let Some(one) = narrowed(g, &[op], config, keeps_outputs) {
            *g = one;
            count += 1;
        }
    }
    count
}

/// The extents that an op is given, where they are constants which its attribute admits.
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
        // Whether the dimension has this extent is for the run to say.
        Dim::Symbol(_) => false,
    };
    let fits = extents.len() == shape.len() && shape.iter().zip(&extents).all(admits);
    let fails = refuses_ones && extents.contains(&1);
    (fits && !fails).then(|| extents.into_iter().map(Dim::Fixed).collect())
}

/// The module with the ops that have a shape in the place of `ops`; `None` if it breaks a rule.
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

/// The op with this shape before one that is given it.
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
