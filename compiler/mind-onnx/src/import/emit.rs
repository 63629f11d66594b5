//! Short forms for the ops that an import appends.

use std::rc::Rc;

use mind_convert::Refusal;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::control::Scan;
use mind_core::ops::convert::Cast;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::join::Concat;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::ValueId;
use mind_ir::attr::{Attr, Literal};
use mind_ir::builder::{Build, Builder};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::VerifyError;
use rustc_hash::FxHashMap;

use super::source::open_extent;
use super::value::{Extent, Extents, Value};
use crate::tensor::{Constant, converted};

/// The value that an op becomes.
pub(crate) type One = Result<ValueId, Refusal>;

/// The constants of a block, each held so that its address stays its own.
pub(crate) type Constants = FxHashMap<*const Constant, (Rc<Constant>, ValueId)>;

/// Appends ops of core to a block.
pub(crate) struct Emit<'g> {
    pub b: Builder<'g>,
    /// The constants of the block.
    pub constants: &'g mut Constants,
}

impl Build for Emit<'_> {
    fn builder(&mut self) -> Builder<'_> {
        self.b.reborrow()
    }
}

impl Emit<'_> {
    /// The results of a scan with these attributes, whose steps are what `step` makes of the arguments of its body.
    pub fn scan(
        &mut self,
        attrs: &[Attr],
        operands: &[ValueId],
        results: usize,
        step: impl FnOnce(&mut Emit<'_>, &[ValueId]) -> Result<Vec<ValueId>, Refusal>,
    ) -> Result<Vec<ValueId>, Refusal> {
        let op = self
            .b
            .create_with_body(Scan::DEF, operands, attrs, results, |b, arguments| {
                let mut constants = Constants::default();
                let mut e = Emit {
                    b: b.reborrow(),
                    constants: &mut constants,
                };
                let next = step(&mut e, arguments);
                next.map_err(|refused| {
                    Box::new(VerifyError::Structure {
                        problem: refused.to_string(),
                    })
                })
            })?;
        Ok(self.g().results(op).into_iter().collect())
    }

    pub fn g(&self) -> &Graph {
        self.b.graph
    }

    /// The value of the module with these elements.
    pub fn value(&mut self, value: &Value) -> One {
        match value {
            Value::Op(value) => Ok(*value),
            Value::Known(constant) => Ok(self.constant(constant)),
            Value::Extents(extents) => self.extents(extents),
        }
    }

    fn constant(&mut self, constant: &Rc<Constant>) -> ValueId {
        if let Some((_, value)) = self.constants.get(&Rc::as_ptr(constant)) {
            return *value;
        }
        let value = self.written(constant);
        let held = (Rc::clone(constant), value);
        self.constants.insert(Rc::as_ptr(constant), held);
        value
    }

    fn written(&mut self, constant: &Constant) -> ValueId {
        if constant.count() <= 1 {
            return self.tensor(&constant.tensor());
        }
        let shape = constant.shape.iter();
        let ty = TensorType::new(
            constant.dtype,
            shape.map(|&extent| Dim::Fixed(extent as i64)),
        );
        let literal = Literal {
            dtype: constant.dtype,
            count: Some(constant.count()),
            bytes: &constant.bytes,
        };
        let ty = self.b.graph.intern_type(ty.view());
        self.b.graph.share(constant.bytes.clone());
        mind_core::literal_constant(&mut self.b, &literal, ty)
    }

    /// Extents as a value of the module.
    pub fn extents(&mut self, extents: &Extents) -> One {
        let mut parts = Vec::with_capacity(extents.elements.len());
        for &extent in &extents.elements {
            let own = match extent {
                Extent::Known(own) => self.tensor(&Tensor::scalar(own)),
                Extent::Of(value, axis, _) => ExtentOf::with(axis as i64).build(self, value)?,
                Extent::Computed(value) | Extent::Given(value) => value,
            };
            parts.push(self.reshape(own, &[Dim::Fixed(1)])?);
        }
        let list = self.concat(&parts, 0)?;
        let shape = extents.shape.iter();
        let shape: Vec<Dim> = shape.map(|&own| Dim::Fixed(own as i64)).collect();
        let list = self.reshape(list, &shape)?;
        self.convert(list, extents.dtype)
    }

    /// A constant.
    pub fn tensor(&mut self, tensor: &Tensor) -> ValueId {
        mind_core::constant(&mut self.b, tensor)
    }

    /// A number of rank 0, rounded to `dtype`.
    pub fn number(&mut self, dtype: DType, number: f64) -> ValueId {
        let tensor = converted(&Tensor::scalar(number), dtype);
        self.tensor(&tensor)
    }

    pub fn dtype(&self, value: ValueId) -> DType {
        self.g().ty(value).dtype
    }

    pub fn rank(&self, value: ValueId) -> usize {
        self.g().ty(value).rank()
    }

    pub fn dims(&self, value: ValueId) -> Vec<Dim> {
        self.g().ty(value).shape.to_vec()
    }

    /// The extents of a value.
    ///
    /// # Errors
    ///
    /// One that is not known.
    pub fn shape(&self, value: ValueId) -> Result<Vec<i64>, Refusal> {
        self.g().ty(value).static_shape().ok_or_else(|| {
            let (ty, why) = (self.g().type_text(value), open_extent(self.g(), value));
            Refusal::not_constant(format!("an extent of {ty}"), why)
        })
    }

    /// The extent of a value along an axis.
    ///
    /// # Errors
    ///
    /// One that is not known.
    pub fn extent(&self, value: ValueId, axis: usize) -> Result<i64, Refusal> {
        let dim = self.g().ty(value).shape.get(axis).copied();
        dim.and_then(Dim::fixed).ok_or_else(|| {
            let (ty, why) = (self.g().type_text(value), open_extent(self.g(), value));
            Refusal::not_constant(format!("dimension {axis} of {ty}"), why)
        })
    }

    /// The extent of a value along an axis, as a value of the module.
    pub fn extent_value(&mut self, value: ValueId, axis: usize) -> One {
        match self.dims(value)[axis] {
            Dim::Fixed(extent) => Ok(self.tensor(&Tensor::scalar(extent))),
            Dim::Symbol(_) | Dim::Dynamic => Ok(ExtentOf::with(axis as i64).build(self, value)?),
        }
    }

    /// The extent of a value along an axis, and where a run finds it.
    pub fn extent_at(&self, value: ValueId, axis: usize) -> Extent {
        match self.dims(value)[axis] {
            Dim::Fixed(extent) => Extent::Known(extent),
            dim => Extent::Of(value, axis, dim),
        }
    }

    /// All extents of a value.
    pub fn extents_of(&self, value: ValueId) -> Vec<Extent> {
        let axes = 0..self.rank(value);
        axes.map(|axis| self.extent_at(value, axis)).collect()
    }

    /// The result of a function of extents, `known` where both are numbers; overflow of these is an error.
    fn between(
        &mut self,
        function: ScalarFn,
        lhs: Extent,
        rhs: Extent,
        known: impl FnOnce(i64, i64) -> Option<i64>,
    ) -> Result<Extent, Refusal> {
        if let (Extent::Known(lhs), Extent::Known(rhs)) = (lhs, rhs) {
            let what = format!("an extent, {lhs} and {rhs} combined,");
            let overflow = || Refusal::too_large(what, "out of range", "2^63 - 1");
            return known(lhs, rhs).map(Extent::Known).ok_or_else(overflow);
        }
        let mut scalar = |own: Extent| match own {
            Extent::Known(own) => Ok(self.tensor(&Tensor::scalar(own))),
            Extent::Of(value, axis, _) => self.extent_value(value, axis),
            Extent::Computed(value) => Ok(value),
            Extent::Given(value) => self.reshape(value, &[]),
        };
        let operands = [scalar(lhs)?, scalar(rhs)?];
        Ok(Extent::Computed(self.apply(function, &operands)?))
    }

    /// The product of two extents.
    pub fn times(&mut self, lhs: Extent, rhs: Extent) -> Result<Extent, Refusal> {
        match (lhs, rhs) {
            (own, Extent::Known(1)) | (Extent::Known(1), own) => Ok(own),
            (lhs, rhs) => self.between(ScalarFn::Mul, lhs, rhs, i64::checked_mul),
        }
    }

    /// The product of extents.
    pub fn product(&mut self, extents: &[Extent]) -> Result<Extent, Refusal> {
        let mut product = Extent::Known(1);
        for &own in extents {
            product = self.times(product, own)?;
        }
        Ok(product)
    }

    /// The quotient of two extents, rounded down.
    pub fn divided(&mut self, lhs: Extent, rhs: i64) -> Result<Extent, Refusal> {
        let rhs = Extent::Known(rhs);
        self.between(ScalarFn::Div, lhs, rhs, i64::checked_div)
    }

    /// Extents as a list that a run computes, where one of them is open; else `None`.
    fn open_list(&mut self, shape: &[Extent]) -> Result<Option<ValueId>, Refusal> {
        if shape.iter().all(|own| own.dim() != Dim::Dynamic) {
            return Ok(None);
        }
        let list = Extents {
            dtype: DType::I64,
            shape: vec![shape.len()],
            elements: shape.to_vec(),
        };
        self.extents(&list).map(Some)
    }

    /// `x` with another shape of as many elements.
    pub fn reshape_extents(&mut self, x: ValueId, shape: &[Extent]) -> One {
        let dims: Vec<Dim> = shape.iter().map(|own| own.dim()).collect();
        match self.open_list(shape)? {
            Some(list) => Ok(DynamicReshape::with(&dims).build(self, x, list)?),
            None => self.reshape(x, &dims),
        }
    }

    /// `x` broadcast to a shape.
    pub fn broadcast_extents(&mut self, x: ValueId, shape: &[Extent]) -> One {
        let dims: Vec<Dim> = shape.iter().map(|own| own.dim()).collect();
        match self.open_list(shape)? {
            Some(list) => Ok(DynamicBroadcastTo::with(&dims).build(self, x, list)?),
            None => Ok(BroadcastTo::with(&dims).build(self, x)?),
        }
    }

    /// 0, 1, .. along `axis` of a shape.
    pub fn iota(&mut self, of: DType, shape: &[Extent], axis: usize) -> One {
        let dims: Vec<Dim> = shape.iter().map(|own| own.dim()).collect();
        let axis = axis as i64;
        match self.open_list(shape)? {
            Some(list) => Ok(DynamicIota::with(of, &dims).axis(axis).build(self, list)?),
            None => Ok(Iota::with(of, &dims).axis(axis).build(self)?),
        }
    }

    /// An axis, counted from the end if it is negative.
    ///
    /// # Errors
    ///
    /// An axis that the value does not have.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, Refusal> {
        let own = if axis < 0 { axis + rank as i64 } else { axis };
        match usize::try_from(own) {
            Ok(own) if own < rank => Ok(own),
            _ => Err(Refusal::axis(axis, rank)),
        }
    }

    /// A scalar function at every position.
    pub fn apply(&mut self, function: ScalarFn, operands: &[ValueId]) -> One {
        Ok(mind_core::apply(&mut self.b, function, operands)?)
    }

    /// A scalar function of `x` and a number in its dtype.
    pub fn apply_number(&mut self, function: ScalarFn, x: ValueId, number: f64) -> One {
        let number = self.number(self.dtype(x), number);
        self.apply(function, &[x, number])
    }

    /// `x` in the dtype `to`.
    pub fn convert(&mut self, x: ValueId, to: DType) -> One {
        if self.dtype(x) == to {
            return Ok(x);
        }
        Ok(Cast::with(to).build(self, x)?)
    }

    pub fn reshape(&mut self, x: ValueId, shape: &[Dim]) -> One {
        if self.g().ty(x).shape == shape && !shape.contains(&Dim::Dynamic) {
            return Ok(x);
        }
        Ok(Reshape::with(shape).build(self, x)?)
    }

    /// `x` with extents that are known.
    pub fn reshape_to(&mut self, x: ValueId, shape: &[i64]) -> One {
        let shape: Vec<Dim> = shape.iter().copied().map(Dim::Fixed).collect();
        self.reshape(x, &shape)
    }

    /// A list of channels beside a tensor of `rank` dimensions whose second are the channels.
    pub fn per_channel(&mut self, list: ValueId, rank: usize) -> One {
        let mut shape = self.dims(list);
        shape.resize(rank.saturating_sub(1).max(1), Dim::Fixed(1));
        self.reshape(list, &shape)
    }

    pub fn transpose(&mut self, x: ValueId, permutation: &[i64]) -> One {
        if permutation.iter().copied().eq(0..permutation.len() as i64) {
            return Ok(x);
        }
        Ok(Transpose::with().permutation(permutation).build(self, x)?)
    }

    pub fn concat(&mut self, inputs: &[ValueId], axis: usize) -> One {
        match inputs {
            [one] => Ok(*one),
            _ => Ok(Concat::with(axis as i64).build(self, inputs)?),
        }
    }
}
