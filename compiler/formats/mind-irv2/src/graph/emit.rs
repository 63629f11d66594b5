//! Appends ops of the core dialect to a module.

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

/// The reason why a model cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Extents that an op rejects.
    #[error("the model has extents that its ops refuse: {0}")]
    Extents(#[from] Box<VerifyError>),
    /// A step of a plan whose arguments are unsuitable.
    #[error("step `{op}` of the plan cannot be built: {reason}")]
    Step {
        /// The op of the step.
        op: &'static str,
        /// The reason.
        reason: String,
    },
}

/// The result of appending ops.
pub(crate) type Built<T> = Result<T, BuildError>;

/// Returns the dimension of a known extent.
pub(crate) fn fixed(extent: usize) -> Dim {
    Dim::Fixed(i64::try_from(extent).unwrap_or(i64::MAX))
}

/// A module under construction.
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

    /// Returns a symbolic dimension.
    pub(crate) fn symbol(&mut self, name: &str) -> Dim {
        Dim::Symbol(self.graph.intern(name))
    }

    /// Returns the module with these outputs.
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

    /// Returns the extents of a value.
    pub(crate) fn shape(&self, value: ValueId) -> Vec<Dim> {
        self.graph.ty(value).shape.to_vec()
    }

    /// Returns an extent that is known; 0 if it is not.
    pub(crate) fn extent(&self, value: ValueId, axis: usize) -> usize {
        let extent = self.graph.ty(value).shape.get(axis);
        let extent = extent.and_then(|extent| extent.fixed());
        extent.map_or(0, |extent| extent as usize)
    }

    /// Declares an input that differs from run to run.
    pub(crate) fn input(&mut self, name: &str, dtype: DType, shape: &[Dim]) -> ValueId {
        self.declared(name, dtype, shape, false, None)
    }

    /// Declares a weight; returns it as `f32`, whatever its storage type is.
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

    /// Declares an input or a weight.
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

    /// Returns a constant of rank 0, rounded to `f32`.
    pub(crate) fn number(&mut self, value: f64) -> Built<ValueId> {
        let value = f64::from(value as f32);
        Ok(ConstF32::with(value).build(self)?)
    }

    /// Returns a constant tensor.
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

    /// Returns the elements `from..to` along an axis.
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

    /// Returns the `count` largest elements along the last axis and their indices, the first of equal ones first.
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

    /// Returns `x Wᵀ + b` for `x` of `[rows, in]`, `W` of `[out, in]` and `b` of `[out]`.
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
