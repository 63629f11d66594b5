//! Runs a module that is split at ops with data-dependent shapes.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use mind_diag::Diagnostics;
use mind_ir::eval::{DimEnv, EvalCx, EvalError, can_allocate};
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::{OpId, ValueId};
use mind_jit::program::RunError;
use rustc_hash::FxHashMap;

use super::{Executable, ExecutionError, Model, View};
use crate::cut::{self, Subgraph};
use crate::engine::Engine;
use crate::segments::{Cut, Reason, Segments};

/// The caller's arrays, by their values in the module.
pub(super) type Views<'v> = FxHashMap<ValueId, View<'v>>;

/// A module whose inputs have known extents, split into parts.
pub(super) struct SplitModule {
    graph: Graph,
    first: Option<Segment>,
    evaluated: Vec<OpId>,
    rest: Option<Segment>,
    /// Limit on the steps of a loop with a data-dependent trip count.
    max_steps: u64,
}

/// A compiled part of the module.
struct Segment {
    executable: Executable,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
}

/// A split module with bound weights.
pub(super) struct BoundSplit<'m> {
    split: Arc<SplitModule>,
    first: Option<Model<'m>>,
    rest: Option<Model<'m>>,
}

impl SplitModule {
    /// Compiles the parts of `graph`, which `cut` was made from.
    ///
    /// # Errors
    ///
    /// Errors if an op cannot be compiled.
    pub(super) fn new(
        engine: &Arc<Engine>,
        graph: Graph,
        cut: cut::Cut,
    ) -> Result<SplitModule, Diagnostics> {
        let segment = |part: Subgraph| -> Result<Segment, Diagnostics> {
            Ok(Segment {
                executable: Executable::new(engine.clone(), part.graph)?,
                inputs: part.inputs,
                outputs: part.outputs,
            })
        };
        Ok(SplitModule {
            first: cut.first.map(segment).transpose()?,
            evaluated: cut.evaluated,
            rest: cut.rest.map(segment).transpose()?,
            graph,
            max_steps: engine.max_steps(),
        })
    }

    /// Returns the cut points.
    pub(super) fn segments(&self) -> Segments {
        let of = |segment: &Option<Segment>| {
            let segment = segment.as_ref();
            segment.map_or_else(Segments::default, |own| own.executable.segments())
        };
        let mut all = of(&self.first);
        let evaluated = self.evaluated.iter();
        let cuts = evaluated.map(|&op| Cut::at(&self.graph, op, Reason::Extents));
        all.cuts.extend(cuts);
        all.extend(of(&self.rest));
        all
    }

    /// Returns the name of the first op with a data-dependent shape.
    pub(super) fn evaluated(&self) -> &'static str {
        self.evaluated
            .first()
            .map_or("", |&op| self.graph.def(op).name)
    }

    /// Binds weights.
    ///
    /// # Errors
    ///
    /// Errors if there is not enough memory.
    pub(super) fn bind<'m>(
        self: &Arc<Self>,
        params: &Views<'m>,
    ) -> Result<BoundSplit<'m>, ExecutionError> {
        let bind = |segment: &Option<Segment>| {
            let bound = segment.as_ref().map(|segment| segment.bind(params));
            bound.transpose()
        };
        Ok(BoundSplit {
            first: bind(&self.first)?,
            rest: bind(&self.rest)?,
            split: self.clone(),
        })
    }

    /// Evaluates `op` in the interpreter and adds its results to `values`.
    fn evaluate(
        &self,
        op: OpId,
        views: &Views<'_>,
        values: &mut FxHashMap<ValueId, Tensor>,
    ) -> Result<(), RunError> {
        let g = &self.graph;
        let def = g.def(op);
        let refused = |error: EvalError| {
            let (op, error) = error.innermost(op);
            RunError::Evaluation {
                op: g.def(op).name,
                error: error.clone(),
            }
        };
        for &operand in g.operands(op) {
            if let Entry::Vacant(entry) = values.entry(operand) {
                entry.insert(self.leaf(operand, views)?);
            }
        }
        let operands: Vec<&Tensor> = g
            .operands(op)
            .iter()
            .map(|operand| &values[operand])
            .collect();
        let dims = DimEnv::default();
        let cx = EvalCx {
            max_steps: self.max_steps,
            ..EvalCx::run(g, &dims)
        };
        let eval = def
            .eval
            .ok_or_else(|| refused(EvalError::NotEvaluable(def.name)))?;
        let results = eval(op, &cx, &operands).map_err(refused)?;
        values.extend(g.results(op).into_iter().zip(results));
        Ok(())
    }

    /// Returns a copy of an input, or evaluates a constant.
    fn leaf(&self, value: ValueId, views: &Views<'_>) -> Result<Tensor, RunError> {
        let g = &self.graph;
        if let Some(view) = views.get(&value) {
            let bytes = view.bytes.len();
            if !can_allocate(bytes as u64) {
                return Err(RunError::OutOfMemory { bytes });
            }
            let elements = Buffer::from_bytes(view.dtype, view.bytes);
            return Ok(Tensor::new(view.shape.to_vec(), elements));
        }
        let op = g
            .defining_op(value)
            .filter(|&op| g.def(op).has(Trait::Constant));
        let op = op.expect("a value other than a constant was computed or passed");
        let mut values = FxHashMap::default();
        self.evaluate(op, views, &mut values)?;
        Ok(values.remove(&value).expect("a constant has one result"))
    }
}

impl Segment {
    fn bind<'m>(&self, params: &Views<'m>) -> Result<Model<'m>, ExecutionError> {
        let specs = self.executable.graph_inputs();
        let weights = specs.iter().zip(&self.inputs);
        let weights = weights.filter(|(spec, _)| spec.param);
        let weights: Vec<View<'m>> = weights.map(|(_, value)| params[value]).collect();
        self.executable.bind(&weights)
    }

    fn run(
        &self,
        model: &Model<'_>,
        views: &Views<'_>,
        values: &mut FxHashMap<ValueId, Tensor>,
    ) -> Result<(), ExecutionError> {
        let specs = self.executable.graph_inputs();
        let inputs = specs.iter().zip(&self.inputs);
        let inputs = inputs.filter(|(spec, _)| !spec.param);
        let inputs: Vec<View<'_>> = inputs
            .map(|(_, value)| match values.get(value) {
                Some(tensor) => View::of(tensor),
                None => views[value],
            })
            .collect();
        let results = model.run_new(&inputs)?;
        values.extend(self.outputs.iter().copied().zip(results));
        Ok(())
    }
}

impl BoundSplit<'_> {
    /// Returns the name of the first op with a data-dependent shape.
    pub(super) fn evaluated(&self) -> &'static str {
        self.split.evaluated()
    }

    /// Runs the parts in order; `views` are the inputs and the weights.
    ///
    /// # Errors
    ///
    /// Errors if a part or an evaluated op fails, or if a part cannot be compiled for its extents.
    pub(super) fn run(&self, views: &Views<'_>) -> Result<Vec<Tensor>, ExecutionError> {
        let split = &self.split;
        let mut values = FxHashMap::default();
        if let (Some(segment), Some(model)) = (&split.first, &self.first) {
            segment.run(model, views, &mut values)?;
        }
        for &op in &split.evaluated {
            split.evaluate(op, views, &mut values)?;
        }
        if let (Some(segment), Some(model)) = (&split.rest, &self.rest) {
            segment.run(model, views, &mut values)?;
        }
        let outputs = split
            .graph
            .outputs()
            .iter()
            .map(|value| match values.get(value) {
                Some(tensor) => Ok(tensor.clone()),
                None => Ok(split.leaf(*value, views)?),
            });
        outputs.collect()
    }
}
