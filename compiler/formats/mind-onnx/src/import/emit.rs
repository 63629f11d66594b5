//! Emission of core ops for nodes, with extents that may be unknown.

use mind_convert::{EmitCore, Many, Refusal, RegionOp};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::control::Scan;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::ValueId;
use mind_ir::attr::Attr;
use mind_ir::builder::{Build, Builder};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::value::{Extent, Extents, Value};
use crate::tensor::Constant;

pub(crate) use mind_convert::One;

/// The constants of a block.
pub(crate) type Constants = mind_convert::Constants<Constant>;

/// Emits core ops to a block.
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

impl EmitCore for Emit<'_> {
    fn g(&self) -> &Graph {
        self.b.graph
    }
}

impl Emit<'_> {
    /// Emits a scan with these attributes and returns its results. `step` takes the arguments of the body and returns
    /// the values that it yields.
    pub fn scan(
        &mut self,
        attrs: &[Attr],
        operands: &[ValueId],
        results: usize,
        mut step: impl FnMut(&mut Emit<'_>, &[ValueId]) -> Many,
    ) -> Many {
        let op = RegionOp {
            def: Scan::DEF,
            attrs,
            operands,
            results,
        };
        op.create(&mut self.b, |_, b, arguments| {
            let mut constants = Constants::default();
            let mut e = Emit {
                b: b.reborrow(),
                constants: &mut constants,
            };
            step(&mut e, arguments)
        })
    }

    /// Returns a value of the module, emitted if it is known or a list of extents.
    pub fn value(&mut self, value: &Value) -> One {
        match value {
            Value::Op(value) => Ok(*value),
            Value::Known(constant) => {
                let b = &mut self.b;
                Ok(self.constants.value(constant, |own| own.emit(b)))
            }
            Value::Extents(extents) => self.extents(extents),
        }
    }

    /// Returns a value of the module that holds the extents.
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

    /// Returns the extent of a value along an axis. If it is not known, it is read from the value at run time.
    pub fn extent_at(&self, value: ValueId, axis: usize) -> Extent {
        match self.dims(value)[axis] {
            Dim::Fixed(extent) => Extent::Known(extent),
            dim => Extent::Of(value, axis, dim),
        }
    }

    /// Returns the extents of a value along all axes.
    pub fn extents_of(&self, value: ValueId) -> Vec<Extent> {
        let axes = 0..self.rank(value);
        axes.map(|axis| self.extent_at(value, axis)).collect()
    }

    /// Emits a function of two extents. If both are known, `known` computes the result, and overflow is an error.
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

    /// Returns the product of two extents.
    pub fn times(&mut self, lhs: Extent, rhs: Extent) -> Result<Extent, Refusal> {
        match (lhs, rhs) {
            (own, Extent::Known(1)) | (Extent::Known(1), own) => Ok(own),
            (lhs, rhs) => self.between(ScalarFn::Mul, lhs, rhs, i64::checked_mul),
        }
    }

    /// Returns the product of a list of extents.
    pub fn product(&mut self, extents: &[Extent]) -> Result<Extent, Refusal> {
        let mut product = Extent::Known(1);
        for &own in extents {
            product = self.times(product, own)?;
        }
        Ok(product)
    }

    /// Returns the quotient of two extents, rounded down.
    pub fn divided(&mut self, lhs: Extent, rhs: i64) -> Result<Extent, Refusal> {
        let rhs = Extent::Known(rhs);
        self.between(ScalarFn::Div, lhs, rhs, i64::checked_div)
    }

    /// Returns a run-time list of the extents if one of them has no name and is not known; `None` otherwise.
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

    /// Reshapes `x` to a shape with the same number of elements.
    pub fn reshape_extents(&mut self, x: ValueId, shape: &[Extent]) -> One {
        let dims: Vec<Dim> = shape.iter().map(|own| own.dim()).collect();
        match self.open_list(shape)? {
            Some(list) => Ok(DynamicReshape::with(&dims).build(self, x, list)?),
            None => self.reshape(x, &dims),
        }
    }

    /// Broadcasts `x` to a shape.
    pub fn broadcast_extents(&mut self, x: ValueId, shape: &[Extent]) -> One {
        let dims: Vec<Dim> = shape.iter().map(|own| own.dim()).collect();
        match self.open_list(shape)? {
            Some(list) => Ok(DynamicBroadcastTo::with(&dims).build(self, x, list)?),
            None => Ok(BroadcastTo::with(&dims).build(self, x)?),
        }
    }

    /// Emits an iota: 0, 1, … along `axis` of a shape.
    pub fn iota(&mut self, of: DType, shape: &[Extent], axis: usize) -> One {
        let dims: Vec<Dim> = shape.iter().map(|own| own.dim()).collect();
        let axis = axis as i64;
        match self.open_list(shape)? {
            Some(list) => Ok(DynamicIota::with(of, &dims).axis(axis).build(self, list)?),
            None => Ok(Iota::with(of, &dims).axis(axis).build(self)?),
        }
    }

    /// Reshapes a list of channels, so that it broadcasts with a tensor of rank `rank` whose channels are dimension 1.
    pub fn per_channel(&mut self, list: ValueId, rank: usize) -> One {
        let mut shape = self.dims(list);
        shape.resize(rank.saturating_sub(1).max(1), Dim::Fixed(1));
        self.reshape(list, &shape)
    }
}
