//! Finds the inputs that hold indices or divisors, so that generated integers are valid.

use mind_ir::attr::Attr;
use mind_ir::graph::ValueDef;
use mind_ir::opdef::{OpDef, OperandClass, Trait};
use mind_ir::scalar::ScalarFn;
use mind_ir::types::Dim;
use mind_ir::{Graph, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extents::Extents;

/// The integers that an input may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Range {
    /// Any integer.
    Any,
    /// Neither 0 nor -1, for divisors.
    Divisor,
    /// At least 0 and less than the bound, for indices.
    Index(u64),
}

/// The bound that represents divisors. It is above every extent, so that the ranges of indices take precedence.
const DIVISOR: u64 = u64::MAX;

/// Returns the ranges of the inputs that hold indices or divisors.
///
/// An input holds indices if its elements reach an operand named `indices` through ops that only move elements. They
/// must then be valid for that op's operand `data` along its attribute `axis`. If there are several such ops, the
/// smallest extent counts. An unknown extent counts as 1. An input holds divisors if its elements reach the right
/// operand of a division in the same way, or the base of a power, because a negative exponent divides by the base.
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
    // In ascending order, so that the first bound that reaches a value is the smallest, and values are visited once.
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

/// Returns the values whose elements `value` consists of, if the op that defines it only moves elements.
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
            // Operands without an argument, for example a predicate, come before those with one.
            let before = |op| g.operands(op).len().checked_sub(g.arguments(block).len());
            let operand = owner.and_then(|op| Some(g.operands(op)[before(op)? + index as usize]));
            operand.into_iter().collect()
        }
    }
}

/// Returns whether the op's results consist of elements of its operands. An op that accepts every dtype, including
/// `bool`, cannot compute.
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
        Some(&dim) => extents.random_extent(dim).map_or(1, |extent| extent as u64),
        None => 1,
    }
}
