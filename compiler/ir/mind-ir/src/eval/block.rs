//! Evaluation of a block: its ops are evaluated in order, and each value is dropped after its last use.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{EvalCx, EvalError};
use crate::entity::{BlockId, OpId, ValueId};
use crate::graph::Graph;
use crate::opdef::Trait;
use crate::tensor::Tensor;

/// Evaluates `block` and returns the tensors that it yields. `arguments` has one tensor per block argument, and `leaf`
/// returns the tensors of inputs.
///
/// Ops whose results are not needed are skipped if they are pure, so that erasing dead ops never changes whether a run
/// fails. Arguments and borrowed inputs are read in place, and copied only if the block yields them. Results are
/// dropped after their last use. Live results and the copies that the block yields share the context's `tensor_limit`.
///
/// An op whose blocks read values from outside receives these after its operands, in the order of [`Graph::captures`].
///
/// # Errors
///
/// The first op that fails, with its error.
pub fn eval_block<'t>(
    cx: &EvalCx<'_>,
    block: BlockId,
    arguments: &[&'t Tensor],
    leaf: &mut dyn FnMut(OpId) -> Result<Cow<'t, Tensor>, EvalError>,
) -> Result<Vec<Tensor>, (OpId, EvalError)> {
    evaluated(cx, block, arguments, &[], leaf)
}

/// Evaluates a block inside an op, as [`eval_block`] does, and returns the tensors that it yields. `captured` has the
/// values that the block reads from outside.
///
/// # Errors
///
/// The first op that fails, with its error; the terminator if a yielded tensor differs in rank from its type.
pub fn eval_inner<'t>(
    cx: &EvalCx<'_>,
    block: BlockId,
    arguments: &[&'t Tensor],
    captured: &[(ValueId, &'t Tensor)],
) -> Result<Vec<Tensor>, (OpId, EvalError)> {
    let mut leaf = |op| Err(EvalError::NotEvaluable(cx.graph.def(op).name));
    let results = evaluated(cx, block, arguments, captured, &mut leaf)?;
    let Some(last) = cx.graph.ops(block).last() else {
        return Ok(results);
    };
    for (&value, tensor) in cx.graph.operands(last).iter().zip(&results) {
        check_rank(cx, value, tensor).map_err(|error| (last, error))?;
    }
    Ok(results)
}

fn check_rank(cx: &EvalCx<'_>, value: ValueId, tensor: &Tensor) -> Result<(), EvalError> {
    let Some(ty) = cx.graph.type_id(value) else {
        return Ok(());
    };
    let (found, ty) = (tensor.rank(), cx.graph.types().get(ty));
    if ty.rank() == found {
        return Ok(());
    }
    let ty = ty.text(cx.graph.symbols());
    let message = format!("a result has rank {found}, expected {ty}");
    Err(EvalError::Shape(message))
}

fn evaluated<'t>(
    cx: &EvalCx<'_>,
    block: BlockId,
    arguments: &[&'t Tensor],
    captured: &[(ValueId, &'t Tensor)],
    leaf: &mut dyn FnMut(OpId) -> Result<Cow<'t, Tensor>, EvalError>,
) -> Result<Vec<Tensor>, (OpId, EvalError)> {
    let g = cx.graph;
    let mut live = Live::new(g, block);
    let arguments = g
        .arguments(block)
        .into_iter()
        .zip(arguments.iter().copied());
    for (value, tensor) in arguments.chain(captured.iter().copied()) {
        live.define(value, Cow::Borrowed(tensor));
    }
    for op in g.ops(block) {
        let def = g.def(op);
        if def.has(Trait::Terminator) {
            let yielded = g.operands(op).iter().map(|&value| live.take(cx, value));
            return yielded
                .collect::<Result<_, _>>()
                .map_err(|error| (op, error));
        }
        if !live.needs(g, op) {
            continue;
        }
        let cx = EvalCx {
            tensor_limit: cx.tensor_limit.saturating_sub(live.bytes),
            ..*cx
        };
        let results: Result<SmallVec<[Cow<'t, Tensor>; 1]>, EvalError> = match def.eval {
            _ if def.has(Trait::Interface) => leaf(op).map(|tensor| smallvec![tensor]),
            Some(eval) => {
                let operands = read_by(g, op).map(|value| live.get(value));
                let operands: SmallVec<[&Tensor; 4]> = operands.collect();
                eval(op, &cx, &operands).map(|all| all.into_iter().map(Cow::Owned).collect())
            }
            None => Err(EvalError::NotEvaluable(def.name)),
        };
        let results = results.map_err(|error| (op, error))?;
        for value in read_by(g, op) {
            live.release(value);
        }
        for (value, tensor) in g.results(op).into_iter().zip(results) {
            check_extents(&cx, value, &tensor).map_err(|error| (op, error))?;
            live.define(value, tensor);
        }
    }
    Ok(Vec::new())
}

/// Returns the values that an op reads: its operands, then its captured values.
fn read_by(g: &Graph, op: OpId) -> impl Iterator<Item = ValueId> {
    g.operands(op).iter().copied().chain(g.captures(op))
}

/// Checks that a result has the extents of its type, because a declared type may be more definite than the inferred
/// one.
fn check_extents(cx: &EvalCx<'_>, value: ValueId, tensor: &Tensor) -> Result<(), EvalError> {
    let Some(ty) = cx.graph.type_id(value) else {
        return Ok(());
    };
    let ty = cx.graph.types().get(ty);
    for (dimension, (&dim, &extent)) in ty.shape.iter().zip(tensor.shape()).enumerate() {
        if let Some(promised) = cx.extent(dim)?
            && promised != extent as i64
        {
            let ty = ty.text(cx.graph.symbols());
            let problem = format!(
                "a result has extent {extent} at dimension {dimension}, expected {promised} ({ty})"
            );
            return Err(EvalError::Shape(problem));
        }
    }
    Ok(())
}

/// The values of a block that have reads left.
struct Live<'t> {
    values: FxHashMap<ValueId, Slot<'t>>,
    /// The total size of owned tensors.
    bytes: u64,
}

#[derive(Default)]
struct Slot<'t> {
    /// The number of reads left.
    reads: usize,
    tensor: Option<Cow<'t, Tensor>>,
}

impl<'t> Live<'t> {
    /// Counts the reads of every value by the ops of `block` that are needed.
    fn new(g: &Graph, block: BlockId) -> Live<'t> {
        let mut live = Live {
            values: FxHashMap::default(),
            bytes: 0,
        };
        for op in g.ops(block).rev() {
            if live.needs(g, op) {
                for value in read_by(g, op) {
                    live.values.entry(value).or_default().reads += 1;
                }
            }
        }
        live
    }

    /// Whether `op` has a side effect or a result that is read.
    fn needs(&self, g: &Graph, op: OpId) -> bool {
        let mut results = g.results(op).into_iter();
        !g.def(op).has(Trait::Pure) || results.any(|value| self.values.contains_key(&value))
    }

    /// Stores a tensor if it will be read.
    fn define(&mut self, value: ValueId, tensor: Cow<'t, Tensor>) {
        if let Some(slot) = self.values.get_mut(&value) {
            self.bytes += owned_bytes(&tensor);
            slot.tensor = Some(tensor);
        }
    }

    fn get(&self, value: ValueId) -> &Tensor {
        let slot = &self.values[&value];
        slot.tensor
            .as_ref()
            .expect("a verified value is defined before it is read")
    }

    /// Counts a read and drops the tensor after the last one.
    fn release(&mut self, value: ValueId) {
        let slot = self.values.get_mut(&value).expect("every read was counted");
        slot.reads -= 1;
        if slot.reads == 0
            && let Some(tensor) = slot.tensor.take()
        {
            self.bytes -= owned_bytes(&tensor);
        }
    }

    /// Counts a read that yields the tensor. Returns the tensor without a copy if it is owned and this is the last
    /// read.
    ///
    /// # Errors
    ///
    /// [`EvalError::TooLarge`] if the copy does not fit in the rest of the limit, [`EvalError::OutOfMemory`] if it
    /// cannot be allocated.
    fn take(&mut self, cx: &EvalCx<'_>, value: ValueId) -> Result<Tensor, EvalError> {
        let slot = self.values.get_mut(&value).expect("every read was counted");
        slot.reads -= 1;
        let tensor = slot.tensor.take();
        match tensor.expect("a verified value is defined before it is read") {
            Cow::Owned(tensor) if slot.reads == 0 => Ok(tensor),
            tensor => {
                let cx = EvalCx {
                    tensor_limit: cx.tensor_limit.saturating_sub(self.bytes),
                    ..*cx
                };
                cx.count(tensor.dtype(), tensor.shape())?;
                let copy: Tensor = tensor.as_ref().clone();
                self.bytes += bytes(&copy);
                slot.tensor = Some(tensor);
                Ok(copy)
            }
        }
    }
}

#[expect(clippy::ptr_arg, reason = "what is asked is who owns the tensor")]
fn owned_bytes(tensor: &Cow<'_, Tensor>) -> u64 {
    match tensor {
        Cow::Borrowed(_) => 0,
        Cow::Owned(tensor) => bytes(tensor),
    }
}

fn bytes(tensor: &Tensor) -> u64 {
    (tensor.count() * tensor.dtype().size()) as u64
}
