//! Evaluation of control flow.

use mind_ir::OpId;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult, eval_inner};
use mind_ir::opdef::Op;
use mind_ir::tensor::{Buffer, Element, Tensor};
use mind_ir::types::Dim;
use mind_ir::verify::VerifyConfig;
use mind_ir::with_buffer;
use smallvec::SmallVec;

use super::strided;
use crate::ops::control::{If, Scan, While, block, yields};
use crate::ops::input::Input;
use crate::region::outline;
use crate::specialize::{Known, specialize};

/// Runs a region and returns the values that it yields.
fn run(
    op: OpId,
    cx: &EvalCx<'_>,
    region: usize,
    arguments: &[&Tensor],
) -> Result<Vec<Tensor>, EvalError> {
    let results = eval_inner(cx, block(cx.graph, op, region), arguments, &[]);
    results.map_err(EvalError::inside)
}

fn is_true(tensor: &Tensor) -> bool {
    tensor.elements::<bool>() == [true]
}

/// Evaluates the region that the predicate selects.
pub(crate) fn eval_if(op: If, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let region = usize::from(!is_true(operands[0]));
    let results = run(op.id(), cx, region, &operands[1..])?;
    Ok(results.into_iter().collect())
}

/// Runs the loop; returns the carried values when the condition yields false.
pub(crate) fn eval_while(op: While, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let id = op.id();
    let (first, fixed) = operands.split_at(op.carried(cx.graph) as usize);
    let mut carried: Vec<Tensor> = Vec::new();
    for step in 0.. {
        let now: Vec<&Tensor> = match step {
            0 => operands.to_vec(),
            _ => carried.iter().chain(fixed.iter().copied()).collect(),
        };
        let goes_on = run(id, cx, 0, &now)?;
        if !is_true(&goes_on[0]) {
            break;
        }
        if step == cx.max_steps {
            return Err(EvalError::Steps(cx.max_steps));
        }
        let next = run(id, cx, 1, &now)?;
        check_carried(id, cx, 1, &next)?;
        carried = next;
    }
    if carried.is_empty() {
        carried = copies(cx, first)?;
    }
    Ok(carried.into_iter().collect())
}

/// Copies operands that become results.
fn copies(cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let copies = operands.iter().map(|&operand| {
        cx.count(operand.dtype(), operand.shape())?;
        Ok(operand.clone())
    });
    copies.collect()
}

/// Checks that carried values have the extents that the types of their arguments declare.
fn check_carried(
    op: OpId,
    cx: &EvalCx<'_>,
    step: usize,
    carried: &[Tensor],
) -> Result<(), EvalError> {
    let g = cx.graph;
    for (argument, tensor) in g.arguments(block(g, op, step)).into_iter().zip(carried) {
        for (&dim, &extent) in g.ty(argument).shape.iter().zip(tensor.shape()) {
            if let Some(promised) = cx.extent(dim)?
                && promised != extent as i64
            {
                let ty = g.ty(argument).text(g.symbols());
                let found = tensor.shape();
                return Err(EvalError::Shape(format!(
                    "a carried value has shape {found:?}, expected {ty} as its argument declares"
                )));
            }
        }
    }
    Ok(())
}

/// Runs the body once for each slice of the scanned operands.
pub(crate) fn eval_scan(op: Scan, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (id, g) = (op.id(), cx.graph);
    let (first, others) = operands.split_at(op.carried(g) as usize);
    let (scanned, fixed) = others.split_at(op.scanned(g) as usize);
    let axes = op.input_axes(g);
    let steps = scanned[0].shape()[axes[0]];
    for (tensor, &axis) in scanned.iter().zip(&axes) {
        if tensor.shape()[axis] != steps {
            let found = tensor.shape()[axis];
            let problem = format!("a scanned operand has {found} slices, expected {steps}");
            return Err(EvalError::Shape(problem));
        }
    }
    let mut carried = copies(cx, first)?;
    let mut stacks = Stacks::new(op, cx, steps)?;
    if steps == 0 {
        stacks.begin_without_steps(op, cx, operands)?;
    }
    for step in 0..steps {
        let place = |reversed: bool| if reversed { steps - 1 - step } else { step };
        let slices = (scanned.iter().zip(&axes).enumerate())
            .map(|(at, (tensor, &axis))| {
                slice(cx, tensor, axis, place(op.is_input_reversed(g, at)))
            })
            .collect::<Result<Vec<Tensor>, _>>()?;
        let arguments: Vec<&Tensor> = (carried.iter().chain(&slices))
            .chain(fixed.iter().copied())
            .collect();
        let mut next = run(id, cx, 0, &arguments)?;
        let outputs = next.split_off(carried.len());
        check_carried(id, cx, 0, &next)?;
        carried = next;
        for (at, output) in outputs.iter().enumerate() {
            stacks.put(cx, at, place(op.is_output_reversed(g, at)), output)?;
        }
    }
    Ok(carried.into_iter().chain(stacks.finish()).collect())
}

/// Infers the extents of the outputs of a step from those of the operands, for a scan without steps. Extents that
/// depend on data are 0.
fn inferred_outputs(op: Scan, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Vec<Vec<usize>> {
    let (g, count) = (cx.graph, op.carried(cx.graph) as usize);
    let body = block(g, op.id(), 0);
    let axes = op.input_axes(g);
    let shapes = operands.iter().enumerate().map(|(at, tensor)| {
        let mut shape: Vec<usize> = tensor.shape().to_vec();
        if let Some(&axis) = at.checked_sub(count).and_then(|at| axes.get(at)) {
            shape.remove(axis);
        }
        shape
    });
    let shapes: Vec<Vec<usize>> = shapes.collect();
    // A carried value keeps its extents unless the body changes them. Each iteration clears the values that turn out to
    // change, until a fixed point.
    let mut keeps = vec![true; shapes.len()];
    loop {
        let mut module = outline(g, body, |_| false);
        let inputs: Vec<OpId> = module
            .ops(module.body())
            .filter(|&op| module.is::<Input>(op))
            .collect();
        let known = Known {
            symbol: &|sym| cx.dims.get(sym).map(|extent| extent as i64),
            input: &|op, axis| {
                let at = inputs.iter().position(|own| *own == op)?;
                keeps[at].then(|| shapes[at][axis] as i64)
            },
        };
        let is_valid = specialize(&mut module, &known, &VerifyConfig::default()).is_ok();
        let next = module.outputs()[..count].iter().zip(&inputs).enumerate();
        let changes = next.map(|(at, (&next, &input))| {
            let before = module.result(input);
            let is_kept = module.ty(next).shape == module.ty(before).shape;
            keeps[at] && !is_kept && is_valid
        });
        let changes: Vec<bool> = changes.collect();
        if !changes.contains(&true) {
            let outputs = module.outputs()[count..].iter();
            let extents = |dim: &Dim| dim.fixed().filter(|_| is_valid).unwrap_or(0) as usize;
            return outputs
                .map(|&value| module.ty(value).shape.iter().map(extents).collect())
                .collect();
        }
        for (keeps, changes) in keeps.iter_mut().zip(changes) {
            *keeps &= !changes;
        }
    }
}

/// Returns the slice at one index of an axis.
fn slice(cx: &EvalCx<'_>, tensor: &Tensor, axis: usize, place: usize) -> Result<Tensor, EvalError> {
    let strides = strided::strides_of(tensor);
    let mut axes: Vec<strided::Axis> = tensor
        .shape()
        .iter()
        .copied()
        .zip(strides.iter().copied())
        .collect();
    let (_, stride) = axes.remove(axis);
    strided::copy(cx, tensor, place * stride, &axes)
}

/// The stacked outputs of a scan.
struct Stacks {
    stacks: SmallVec<[Stack; 2]>,
}

/// One output, stacked over all steps.
struct Stack {
    axis: usize,
    /// The shape of the output of one step, once it is known.
    shape: Option<Vec<usize>>,
    steps: usize,
    buffer: Buffer,
}

impl Stacks {
    /// Creates the stacks. Buffers are allocated at once where the type of an output has known extents, and otherwise
    /// at the first step.
    fn new(op: Scan, cx: &EvalCx<'_>, steps: usize) -> Result<Stacks, EvalError> {
        let g = cx.graph;
        let id = op.id();
        let outputs = yields(g, id, 0)[op.carried(g) as usize..].iter();
        let stacks = outputs.zip(op.output_axes(g)).map(|(&value, axis)| {
            let ty = g.ty(value);
            let mut stack = Stack {
                axis,
                shape: None,
                steps,
                buffer: Buffer::zeros(ty.dtype, 0),
            };
            let extents: Result<Option<Vec<usize>>, EvalError> = (ty.shape.iter())
                .map(|&dim| Ok(cx.extent(dim)?.map(|extent| extent as usize)))
                .collect();
            if let Some(shape) = extents? {
                stack.begin(cx, shape)?;
            }
            Ok(stack)
        });
        Ok(Stacks {
            stacks: stacks.collect::<Result<_, EvalError>>()?,
        })
    }

    /// Allocates the stacks of a scan without steps. The extents are inferred from those of the operands (for example
    /// if a step outputs its slice) and are otherwise 0, so that the result does not depend on how many extents the
    /// module declares.
    fn begin_without_steps(
        &mut self,
        op: Scan,
        cx: &EvalCx<'_>,
        operands: &[&Tensor],
    ) -> Result<(), EvalError> {
        if self.stacks.iter().all(|stack| stack.shape.is_some()) {
            return Ok(());
        }
        let outputs = inferred_outputs(op, cx, operands);
        for (stack, inferred) in self.stacks.iter_mut().zip(outputs) {
            if stack.shape.is_none() {
                stack.begin(cx, inferred)?;
            }
        }
        Ok(())
    }

    /// Stores output `at` of a step at index `place` of its stack.
    fn put(
        &mut self,
        cx: &EvalCx<'_>,
        at: usize,
        place: usize,
        output: &Tensor,
    ) -> Result<(), EvalError> {
        let stack = &mut self.stacks[at];
        match &stack.shape {
            None => stack.begin(cx, output.shape().to_vec())?,
            Some(shape) if shape != output.shape() => {
                return Err(EvalError::Shape(format!(
                    "an output has shape {:?}, expected {shape:?} as in the first step",
                    output.shape()
                )));
            }
            Some(_) => {}
        }
        stack.put(place, output);
        Ok(())
    }

    fn finish(self) -> impl Iterator<Item = Tensor> {
        self.stacks.into_iter().map(|stack| {
            let shape = stack.whole();
            Tensor::new(shape, stack.buffer)
        })
    }
}

impl Stack {
    fn whole(&self) -> Vec<usize> {
        let mut shape = self.shape.clone().unwrap_or_default();
        shape.insert(self.axis, self.steps);
        shape
    }

    fn begin(&mut self, cx: &EvalCx<'_>, shape: Vec<usize>) -> Result<(), EvalError> {
        self.shape = Some(shape);
        let dtype = self.buffer.dtype();
        let count = cx.count(dtype, &self.whole())?;
        self.buffer = Buffer::zeros(dtype, count);
        Ok(())
    }

    fn put(&mut self, place: usize, output: &Tensor) {
        let inner: usize = output.shape()[self.axis..].iter().product();
        if output.count() == 0 {
            return;
        }
        let steps = self.steps;
        with_buffer!(&mut self.buffer, |stacked| {
            let parts = elements_like(stacked, output).chunks(inner);
            for (outer, part) in parts.enumerate() {
                let from = (outer * steps + place) * inner;
                stacked[from..from + inner].copy_from_slice(part);
            }
        });
    }
}

/// Returns the elements of `tensor` with the element type of the first argument, which only serves type inference.
fn elements_like<'t, T: Element>(_: &[T], tensor: &'t Tensor) -> &'t [T] {
    tensor.elements::<T>()
}
