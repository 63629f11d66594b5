//! Conversions of weights that are folded into the products that read them.
//!
//! Widening a narrow float is exact, for example from `f16` to `f32`, so panels of a widened weight can store its
//! elements in the narrow format: products widen them in registers, and less memory is read.

use mind_core::ops::convert::Cast;
use mind_core::ops::input::Input;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::memory::buffer;
use mind_loops::ops::movement::Pack;
use mind_loops::ops::nest::Nest;
use mind_loops::ops::view::View;
use rustc_hash::FxHashMap;

/// Nests that only widen a weight for packing: their results, each with the narrow weight.
///
/// These nests are not executed.
#[derive(Debug, Default)]
pub(in crate::program) struct FoldedConverts(FxHashMap<ValueId, ValueId>);

impl FoldedConverts {
    /// Finds the folded conversions of a module at loops level.
    pub(in crate::program) fn of(g: &Graph) -> FoldedConverts {
        let nests = g.ops(g.body()).filter_map(|op| g.view::<Nest>(op));
        FoldedConverts(nests.filter_map(|nest| folded(g, nest)).collect())
    }

    /// Returns the narrow weight of `value`, or of the value that it is a view of.
    pub(in crate::program) fn source(&self, g: &Graph, value: ValueId) -> Option<ValueId> {
        self.0.get(&buffer(g, value)).copied()
    }

    /// Returns whether `op` is a folded nest.
    pub(in crate::program) fn absorbs(&self, g: &Graph, op: OpId) -> bool {
        g.is::<Nest>(op)
            && g.results(op)
                .into_iter()
                .any(|value| self.0.contains_key(&value))
    }
}

/// Returns the result of `nest` and the weight that it widens, if it does nothing else and the result is only packed.
fn folded(g: &Graph, nest: Nest) -> Option<(ValueId, ValueId)> {
    let (&[input], mut results) = (nest.inputs(g), g.results(nest.id()).into_iter()) else {
        return None;
    };
    let (Some(result), None) = (results.next(), results.next()) else {
        return None;
    };
    let weight = buffer(g, input);
    let is_weight = g.view::<Input>(g.defining_op(weight)?)?.param(g);
    let is_whole = weight == input || g.view::<View>(g.defining_op(input)?)?.is_whole(g);
    let (from, to) = (g.ty(weight).dtype, g.ty(result).dtype);
    let widens = matches!(from, DType::F16 | DType::BF16) && to == DType::F32;
    let count = |value: ValueId| known(g, value).iter().product::<usize>();
    if !is_weight || !is_whole || !widens || count(weight) != count(result) {
        return None;
    }
    if nest.dims(g).iter().product::<i64>() != count(result) as i64 {
        return None;
    }
    let body = nest.body(g);
    let argument = g.arguments(body).into_iter().next()?;
    let mut ops = g.ops(body);
    let convert = g.view::<Cast>(ops.next()?)?;
    let end = ops.next()?;
    let converts = convert.input(g) == argument
        && g.def(end).has(Trait::Terminator)
        && g.operands(end) == [convert.result(g)];
    (converts && packed_alone(g, result)).then_some((result, weight))
}

/// Returns whether `value` and its views are only packed.
fn packed_alone(g: &Graph, value: ValueId) -> bool {
    g.uses(value).all(|(op, _)| {
        let is_view = || g.is::<View>(op) && packed_alone(g, g.result(op));
        g.is::<Pack>(op) || is_view()
    })
}
