//! Evaluation of a block: its ops in order, each value dropped after its last use.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{EvalCx, EvalError};
use crate::entity::{BlockId, OpId, ValueId};
use crate::opdef::Trait;
use crate::tensor::Tensor;

/// The tensors that `block` yields, given one per argument; `leaf` gives the value of the ops that
/// have no meaning of their own: the inputs.
///
/// Errors: the first op that fails, with its error.
pub fn eval_block(
    cx: &EvalCx<'_>,
    block: BlockId,
    arguments: &[&Tensor],
    leaf: &mut dyn FnMut(OpId) -> Result<Tensor, EvalError>,
) -> Result<Vec<Tensor>, (OpId, EvalError)> {
    let g = cx.graph;
    let mut remaining: FxHashMap<ValueId, usize> = FxHashMap::default();
    let reads = g.ops(block).flat_map(|op| g.operands(op));
    reads.for_each(|&value| *remaining.entry(value).or_default() += 1);
    let mut values: FxHashMap<ValueId, Tensor> = FxHashMap::default();
    let given = g.arguments(block).into_iter().zip(arguments);
    values.extend(given.map(|(value, tensor)| (value, Tensor::clone(tensor))));
    for op in g.ops(block) {
        let def = g.def(op);
        if def.has(Trait::Terminator) {
            let yielded = g.operands(op).iter().map(|value| values[value].clone());
            return Ok(yielded.collect());
        }
        let operands: SmallVec<[&Tensor; 4]> = g.operands(op).iter().map(|v| &values[v]).collect();
        let results = match def.eval {
            _ if def.has(Trait::Interface) => leaf(op).map(|tensor| smallvec![tensor]),
            Some(eval) => eval(op, cx, &operands),
            None => Err(EvalError::NotEvaluable(def.name)),
        };
        drop(operands);
        let results = results.map_err(|error| (op, error))?;
        for value in g.operands(op) {
            let left = remaining.get_mut(value).expect("every read was counted");
            *left -= 1;
            if *left == 0 {
                values.remove(value);
            }
        }
        let read = g.results(op).into_iter().zip(results);
        values.extend(read.filter(|(value, _)| remaining.contains_key(value)));
    }
    Ok(Vec::new())
}
