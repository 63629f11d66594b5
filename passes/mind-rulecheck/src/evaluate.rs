//! Evaluation of both sides of a rule.

use std::borrow::Cow;

use mind_diag::Span;
use mind_ir::builtin::Yield;
use mind_ir::eval::{DimEnv, EvalCx, EvalError, eval_block};
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::{OpId, ValueId};

use crate::instance::Instance;
use crate::values::{Mode, draw};
use mind_ir::random::Rng;

/// The maximum number of bytes of the values that are live at once.
const MEMORY: u64 = 64 << 20;

/// The outcome of an evaluation.
pub(crate) enum Ran {
    /// The outputs, in order.
    Done(Vec<Tensor>),
    /// The left side cannot be evaluated on these values.
    LeftFails,
    /// The left side has a result, but the right side fails with this error.
    RightFails(String),
}

/// A module with both sides, ready for evaluation.
pub(crate) struct Sides {
    pub(crate) graph: Graph,
    inputs: Vec<OpId>,
    dims: DimEnv,
    /// Ops from this id on belong to the right side.
    right: usize,
    end: OpId,
}

impl Sides {
    /// Returns the module of `instance` with these outputs, after a rule was applied to it. Ops from the id `right` on
    /// belong to right sides.
    pub(crate) fn new(instance: &Instance, outputs: &[ValueId], right: usize) -> Sides {
        let mut graph = instance.graph.clone();
        let end = finish(&mut graph, outputs);
        let mut dims = DimEnv::default();
        if let Some(extent) = instance.draw.symbol {
            // The first binding cannot contradict another one.
            let _ = dims.bind(instance.symbol, extent as usize);
        }
        Sides {
            graph,
            inputs: instance.inputs.iter().map(|&(op, _)| op).collect(),
            dims,
            right,
            end,
        }
    }

    /// Returns a module with the left side only.
    pub(crate) fn left(instance: &Instance) -> Sides {
        let mut sides = Sides::new(instance, &[instance.left], 0);
        prune(&mut sides.graph);
        sides
    }

    /// Evaluates the module on these values, one per input.
    pub(crate) fn run(&self, values: &[Tensor]) -> Ran {
        let g = &self.graph;
        let cx = EvalCx {
            tensor_limit: MEMORY,
            ..EvalCx::run(g, &self.dims)
        };
        let mut leaf = |op: OpId| match self.inputs.iter().position(|own| *own == op) {
            Some(at) => Ok(Cow::Borrowed(&values[at])),
            None => Err(EvalError::NotEvaluable(g.def(op).name)),
        };
        match eval_block(&cx, g.body(), &[], &mut leaf) {
            Ok(outputs) => Ran::Done(outputs),
            Err((op, _)) if op.index() < self.right => Ran::LeftFails,
            Err((_, error)) => Ran::RightFails(error.to_string()),
        }
    }

    /// Returns the values of all ops on these inputs; `None` if one fails.
    pub(crate) fn everything(&self, values: &[Tensor]) -> Option<Vec<Tensor>> {
        let mut graph = self.graph.clone();
        let all: Vec<ValueId> = graph
            .ops(graph.body())
            .flat_map(|op| graph.results(op))
            .collect();
        graph.set_operands(self.end, &all);
        let sides = Sides {
            graph,
            inputs: self.inputs.clone(),
            dims: self.dims.clone(),
            ..*self
        };
        match sides.run(values) {
            Ran::Done(all) => Some(all),
            Ran::LeftFails | Ran::RightFails(_) => None,
        }
    }
}

/// Ends the body of the module with these outputs and returns the terminator.
pub(crate) fn finish(graph: &mut Graph, outputs: &[ValueId]) -> OpId {
    let end = NewOp {
        def: Yield::DEF,
        operands: outputs,
        attrs: &[],
        results: 0,
        span: Span::FILE,
    };
    graph.insert(InsertPoint::End(graph.body()), end)
}

/// Returns random values for every input of `instance`.
pub(crate) fn values(instance: &Instance, rng: &mut Rng, mode: Mode) -> Vec<Tensor> {
    let tensor = |&(_, leaf): &(OpId, usize)| {
        let row = &instance.draw.leaves[leaf];
        let shape = row.shape.iter().map(|&extent| extent as usize).collect();
        let buffer = draw(rng, row.dtype, row.count(), mode, instance.below[leaf]);
        Tensor::new(shape, buffer)
    };
    instance.inputs.iter().map(tensor).collect()
}

/// Removes dead ops from the body.
pub(crate) fn prune(graph: &mut Graph) {
    let ops: Vec<OpId> = graph.ops(graph.body()).collect();
    for op in ops.into_iter().rev() {
        let unread = graph
            .results(op)
            .iter()
            .all(|value| graph.uses(value).is_empty());
        if unread && !graph.def(op).has(Trait::Terminator) {
            graph.erase(op);
        }
    }
}
