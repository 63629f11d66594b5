//! Which inputs hold indices or divisors, so that made-up integers can be valid ones.

use mind_ir::attr::Attr;
use mind_ir::graph::ValueDef;
use mind_ir::opdef::{OpDef, OperandClass, Trait};
use mind_ir::scalar::ScalarFn;
use mind_ir::types::Dim;
use mind_ir::{Graph, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extents::Extents;

/// Which integers an input may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Range {
    /// Any.
    Any,
    /// Neither 0 nor -1: something is divided by it.
    Divisor,
    /// From 0 to below the bound: something is indexed by it.
    Index(u64),
}

/// The bound that marks divisors: above every extent, so that indices come first.
const DIVISOR: u64 = u64::MAX;

/// The ranges of the inputs that hold indices or divisors.
///
/// An input holds indices when its elements reach an operand named `indices` through ops that only
/// move elements; they are then valid for that op's operand `data` along its attribute `axis`. With
/// several such ops the smallest extent counts. An extent that is not known before running counts
/// as 1. In the same way an input holds divisors when its elements reach the right of a division, or the
/// base of a power, which is divided by where the exponent is negative.
pub(crate) fn ranges(g: &Graph, extents: &Extents) -> FxHashMap<OpId, Range> {
    let mut seeds: Vec<(u64, ValueId)> = Vec::new();
    for op in g.walk() {
        let (def, operands) = (g.def(op), g.operands(op));
        let named = |wanted| {
            def.operands
                .iter()
                .position(|operand| operand.name == wanted)
        };
        if let (Some(indices), Some(data)) = (named("indices"), named("data")) {
            seeds.push((
                indexed_extent(g, op, operands[data], extents),
                operands[indices],
            ));
        }
        let divides = [ScalarFn::Div, ScalarFn::Mod, ScalarFn::Remainder];
        if def.scalar.is_some_and(|own| divides.contains(&own)) && g.ty(operands[1]).dtype.is_int()
        {
            seeds.push((DIVISOR, operands[1]));
        }
        if def.scalar == Some(ScalarFn::Pow) && g.ty(operands[0]).dtype.is_int() {
            seeds.push((DIVISOR, operands[0]));
        }
    }
    // Ascending, so that the first bound to reach a value is its smallest and none is visited twice.
    seeds.sort_unstable_by_key(|&(bound, _)| bound);
    let (mut reached, mut ranges) = (FxHashSet::default(), FxHashMap::default());
    for (bound, value) in seeds {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !reached.insert(value) {
                continue;
            }
            match g.value_def(value) {
                ValueDef::Result(op, _) if g.def(op).has(Trait::Interface) => {
                    let range = if bound == DIVISOR {
                        Range::Divisor
                    } else {
                        Range::Index(bound)
                    };
                    ranges.insert(op, range);
                }
                _ => pending.extend(sources(g, value)),
            }
        }
    }
    ranges
}

/// The values whose elements `value` consists of, where the op that defines it computes nothing.
fn sources(g: &Graph, value: ValueId) -> Vec<ValueId> {
    let over_operands = |op: &OpId| g.def(*op).has_closed_body();
    match g.value_def(value) {
        ValueDef::Result(op, index) if over_operands(&op) => {
            let ends = g
                .regions(op)
                .iter()
                .filter_map(|&region| g.terminator(g.block(region)));
            ends.filter_map(|end| g.operands(end).get(index as usize).copied())
                .collect()
        }
        ValueDef::Result(op, _) if only_moves(g.def(op)) => {
            let moved = |index| {
                g.def(op)
                    .operand(index)
                    .is_some_and(|row| row.name != "indices")
            };
            let operands = g.operands(op).iter().enumerate();
            operands
                .filter(|&(index, _)| moved(index))
                .map(|(_, &value)| value)
                .collect()
        }
        ValueDef::Result(..) => Vec::new(),
        ValueDef::Argument(block, index) => {
            let owner = g.block_owner(block).filter(over_operands);
            // A predicate stands before what the arguments are.
            let before = |op| g.operands(op).len().checked_sub(g.arguments(block).len());
            let operand = owner.and_then(|op| Some(g.operands(op)[before(op)? + index as usize]));
            operand.into_iter().collect()
        }
    }
}

/// Whether the op's results consist of elements of its operands: what takes every dtype, truth values
/// too, cannot compute.
fn only_moves(def: &OpDef) -> bool {
    let mut operands = def.all_operands();
    def.regions == 0
        && def.scalar.is_none()
        && operands.all(|(operand, _)| operand.class == OperandClass::Any)
}

fn indexed_extent(g: &Graph, op: OpId, data: ValueId, extents: &Extents) -> u64 {
    let shape = g.ty(data).shape;
    let axis = match g.def(op).attr_index("axis").map(|index| g.attr(op, index)) {
        Some(Attr::Int(axis)) if axis < 0 => axis + shape.len() as i64,
        Some(Attr::Int(axis)) => axis,
        _ => 0,
    };
    let dim = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
    let is_input = g
        .defining_op(data)
        .is_some_and(|op| g.def(op).has(Trait::Interface));
    match dim {
        Some(Dim::Dynamic) if !is_input => 1,
        Some(&dim) => extents.made_up(dim).map_or(1, |extent| extent as u64),
        None => 1,
    }
}
