//! Ops of the core dialect, appended one after the other.

use mind_core::ops::constant::{ConstF32, ConstTensor};
use mind_core::ops::contract::MatMul;
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::Add;
use mind_core::ops::index::Slice;
use mind_core::ops::input::Input;
use mind_core::ops::shape::Transpose;
use mind_core::ops::sort::TopK;
use mind_diag::Span;
use mind_ir::attr::{Literal, OPEN_END};
use mind_ir::builder::{Build, Builder};
use mind_ir::builtin::Yield;
use mind_ir::graph::{InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim, QuantFormat, TensorType};
use mind_ir::verify::VerifyError;
use mind_ir::{Graph, ValueId};

/// Why a model has no ops.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Extents that the ops of a model refuse.
    #[error("the model has extents that its ops refuse: {0}")]
    Extents(#[from] Box<VerifyError>),
    /// A step of a plan that reads what it cannot compute with.
    #[error("step `{op}` of the plan cannot be built: {reason}")]
    Step {
        /// The op of the step.
        op: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// What appending ops returns.
pub(crate) type Built<T> = Result<T, BuildError>;

/// The dimension of a known extent.
pub(crate) fn fixed(extent: usize) -> Dim {
    Dim::Fixed(i64::try_from(extent).unwrap_or(i64::MAX))
}

/// A module while it grows.
pub(crate) struct Emitter {
    graph: Graph,
}

impl Build for Emitter {
    fn builder(&mut self) -> Builder<'_> {
        Builder::at_end(&mut self.graph)
    }
}

impl Emitter {
    pub(crate) fn new() -> Emitter {
        Emitter {
            graph: Graph::new(),
        }
    }

    /// An extent that every run gives.
    pub(crate) fn symbol(&mut self, name: &str) -> Dim {
        Dim::Symbol(self.graph.intern(name))
    }

    /// The module with these outputs.
    pub(crate) fn finish(mut self, outputs: &[ValueId]) -> Graph {
        let end = InsertPoint::End(self.graph.body());
        self.graph.insert(
            end,
            NewOp {
                def: Yield::DEF,
                operands: outputs,
                attrs: &[],
                results: 0,
                span: Span::FILE,
            },
        );
        self.graph
    }

    /// The extents of a value.
    pub(crate) fn shape(&self, value: ValueId) -> Vec<Dim> {
        self.graph.ty(value).shape.to_vec()
    }

    /// An extent that is known.
    pub(crate) fn extent(&self, value: ValueId, axis: usize) -> usize {
        let extent = self.graph.ty(value).shape.get(axis);
        let extent = extent.and_then(|extent| extent.fixed());
        extent.map_or(0, |extent| extent as usize)
    }

    /// An array that changes from run to run.
    pub(crate) fn input(&mut self, name: &str, dtype: DType, shape: &[Dim]) -> ValueId {
        self.declared(name, dtype, shape, false, None)
    }

    /// A weight, as `f32` whatever its elements are stored as.
    pub(crate) fn weight(
        &mut self,
        name: &str,
        (dtype, format): (DType, Option<QuantFormat>),
        shape: &[usize],
    ) -> Built<ValueId> {
        let shape: Vec<Dim> = shape.iter().map(|&extent| fixed(extent)).collect();
        let stored = self.declared(name, dtype, &shape, true, format);
        if dtype == DType::F32 {
            return Ok(stored);
        }
        Ok(Cast::with(DType::F32).build(self, stored)?)
    }

    /// An input.
    fn declared(
        &mut self,
        name: &str,
        dtype: DType,
        shape: &[Dim],
        is_weight: bool,
        stored: Option<QuantFormat>,
    ) -> ValueId {
        let name = self.graph.intern(name);
        let ty = TensorType::new(dtype, shape.iter().copied());
        let ty = self.graph.intern_type(ty.view());
        let attrs = Input::attrs(name, is_weight, stored);
        let op = self.builder().create_typed(Input::DEF, &[], &attrs, &[ty]);
        self.graph.result(op)
    }

    /// A number, of rank 0, rounded to `f32`.
    pub(crate) fn number(&mut self, value: f64) -> Built<ValueId> {
        let value = f64::from(value as f32);
        Ok(ConstF32::with(value).build(self)?)
    }

    /// Numbers that are the same in every run.
    pub(crate) fn numbers(&mut self, values: &[f32], shape: &[usize]) -> ValueId {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let literal = Literal {
            dtype: DType::F32,
            count: Some(values.len()),
            bytes: &bytes,
        };
        let shape = shape.iter().map(|&extent| fixed(extent));
        let ty = TensorType::new(DType::F32, shape);
        let ty = self.graph.intern_type(ty.view());
        let attrs = ConstTensor::attrs(&literal);
        let op = self
            .builder()
            .create_typed(ConstTensor::DEF, &[], &attrs, &[ty]);
        self.graph.result(op)
    }

    /// The elements `from..to` along an axis.
    pub(crate) fn sliced(
        &mut self,
        x: ValueId,
        axis: usize,
        (from, to): (usize, usize),
    ) -> Built<ValueId> {
        let shape = self.graph.ty(x).shape;
        if from == 0 && shape[axis] == fixed(to) {
            return Ok(x);
        }
        let rank = shape.len();
        let (mut starts, mut ends) = (vec![0; rank], vec![OPEN_END; rank]);
        (starts[axis], ends[axis]) = (from as i64, to as i64);
        let steps = vec![1; rank];
        Ok(Slice::with(&starts, &ends, &steps).build(self, x)?)
    }

    /// The `count` largest elements along the last axis, and where they are; of equal ones the first come first.
    pub(crate) fn largest(&mut self, x: ValueId, count: usize) -> Built<(ValueId, ValueId)> {
        let attrs = TopK::attrs(count as i64, -1, true);
        let op = self.builder().create(TopK::DEF, &[x], &attrs)?;
        let mut results = self.graph.results(op).into_iter();
        match (results.next(), results.next()) {
            (Some(values), Some(places)) => Ok((values, places)),
            _ => Err(BuildError::Step {
                op: "router",
                reason: "the largest elements have no places".to_owned(),
            }),
        }
    }

    /// `x Wᵀ + b` with `x` of `[rows, in]`, `W` of `[out, in]` and `b` of `[out]`.
    pub(crate) fn linear(
        &mut self,
        x: ValueId,
        weight: ValueId,
        bias: Option<ValueId>,
    ) -> Built<ValueId> {
        let weight = Transpose::with().permutation(&[1, 0]).build(self, weight)?;
        let product = MatMul::build(self, x, weight)?;
        match bias {
            Some(bias) => Ok(Add::build(self, product, bias)?),
            None => Ok(product),
        }
    }
}
