//! Routines: ops without a kernel, which a program runs through their `eval`.

use mind_diag::Span;
use mind_ir::eval::{DimEnv, EvalCx, EvalError, can_allocate};
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::{BlockId, OpId, ValueId};
use mind_loops::extents::known;
use smallvec::SmallVec;

use super::error::RunError;
use super::in_place::InPlace;
use crate::pool::Pool;

/// The type of an operand or a result of a routine.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Array {
    dtype: DType,
    shape: Vec<usize>,
}

/// A `loops.evaluate` in a module of its own.
#[derive(Clone)]
pub(super) struct Routine {
    graph: Graph,
    op: OpId,
    operands: Vec<Array>,
    results: Vec<Array>,
    /// The in-place computation, if it does not need copies of its operands.
    in_place: Option<InPlace>,
    /// The op without a kernel, for messages.
    pub(super) name: &'static str,
    /// Its source location.
    pub(super) span: Span,
}

impl std::fmt::Debug for Routine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routine")
            .field("name", &self.name)
            .field("operands", &self.operands)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

/// Returns the only op of a body, if it reads all arguments in order and its results are yielded.
pub(super) fn sole(g: &Graph, body: BlockId) -> Option<OpId> {
    let mut ops = g.ops(body);
    let (inner, end) = (ops.next()?, ops.next()?);
    let arguments = g.arguments(body).into_iter();
    let is_handed = arguments.eq(g.operands(inner).iter().copied());
    let is_yielded = (g.results(inner).into_iter()).eq(g.operands(end).iter().copied());
    (is_handed && is_yielded && ops.next().is_none()).then_some(inner)
}

impl Routine {
    /// Returns the routine of `op`, whose extents are known.
    pub(super) fn new(g: &Graph, op: OpId) -> Routine {
        let array = |value: ValueId| Array {
            dtype: g.ty(value).dtype,
            shape: known(g, value),
        };
        let body = g.block(g.regions(op)[0]);
        let inner = g.ops(body).next().expect("a verified body has an op");
        let mut graph = g.empty_like();
        let end = InsertPoint::End(graph.body());
        let operands = g.operands(op).iter();
        let types = operands.clone().map(|&value| g.type_id(value));
        let arguments = graph.add_arguments(graph.body(), types.len());
        for (argument, ty) in arguments.into_iter().zip(types) {
            graph.set_type(argument, ty.expect("a verified operand has a type"));
        }
        let arguments: Vec<ValueId> = arguments.into_iter().collect();
        let copy = graph.copy_from(g, end, op, &arguments);
        let operands: Vec<Array> = operands.copied().map(array).collect();
        let in_place = {
            let arrays = operands.iter().map(|own| (own.dtype, &own.shape[..]));
            let arrays: SmallVec<[(DType, &[usize]); 4]> = arrays.collect();
            sole(g, body).and_then(|inner| InPlace::of(g, inner, &arrays))
        };
        Routine {
            operands,
            in_place,
            results: g.results(op).into_iter().map(array).collect(),
            name: g.def(inner).name,
            span: g.span(inner),
            graph,
            op: copy,
        }
    }

    /// Computes the results of the op from `operands` in place. `results` must not overlap with `operands`. Returns
    /// `false` if the op must be evaluated instead.
    pub(super) fn write(&self, pool: &Pool, operands: &[&[u8]], results: &mut [&mut [u8]]) -> bool {
        let own = self.in_place.as_ref();
        own.is_some_and(|own| own.run(pool, operands, results))
    }

    /// Returns the results of the op for `operands`, which are row-major elements.
    ///
    /// # Errors
    ///
    /// The op rejects its operands; out of memory.
    pub(super) fn call(&self, operands: &[&[u8]]) -> Result<SmallVec<[Tensor; 1]>, RunError> {
        let refused = |error: EvalError| {
            let (op, error) = error.innermost(self.op);
            let op = match op == self.op {
                true => self.name,
                false => self.graph.def(op).name,
            };
            RunError::Evaluation {
                op,
                error: error.clone(),
            }
        };
        let bytes = operands.iter().map(|bytes| bytes.len());
        let bytes = bytes.fold(0, usize::saturating_add);
        if !can_allocate(bytes as u64) {
            return Err(RunError::OutOfMemory { bytes });
        }
        let tensors: Vec<Tensor> = (self.operands.iter().zip(operands))
            .map(|(array, bytes)| {
                Tensor::new(array.shape.clone(), Buffer::from_bytes(array.dtype, bytes))
            })
            .collect();
        let operands: SmallVec<[&Tensor; 4]> = tensors.iter().collect();
        let dims = DimEnv::default();
        let cx = EvalCx::run(&self.graph, &dims);
        let eval = self
            .graph
            .def(self.op)
            .eval
            .expect("`loops.evaluate` has a meaning");
        let results = eval(self.op, &cx, &operands).map_err(refused)?;
        let fits = |(result, array): (&Tensor, &Array)| {
            result.dtype() == array.dtype && result.shape() == array.shape
        };
        assert!(
            results.len() == self.results.len() && results.iter().zip(&self.results).all(fits),
            "{} returned results that do not match its shape rule",
            self.name
        );
        Ok(results)
    }
}
