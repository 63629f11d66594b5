//! Short forms for the ops that an import appends.

use std::rc::Rc;

use mind_convert::Refusal;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::convert::Cast;
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::join::Concat;
use mind_core::ops::runtime_shape::DynamicReshape;
use mind_core::ops::shape::{Reshape, Transpose};
use mind_diag::Span;
use mind_ir::builder::{Build, Builder};
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::{BlockId, Sym, ValueId};
use rustc_hash::FxHashMap;

use super::value::{Extent, Extents, Value};
use crate::constant::{Constant, converted};

/// The value that an op becomes.
pub(crate) type One = Result<ValueId, Refusal>;

/// The constants and extents of a block.
#[derive(Default)]
pub(crate) struct Cache {
    /// The constants, each held so that its address stays its own.
    constants: FxHashMap<*const Constant, (Rc<Constant>, ValueId)>,
    /// Where the extents of named dimensions are found: values that have them, and along which axis.
    pub sources: FxHashMap<Sym, (ValueId, usize)>,
    extents: FxHashMap<Sym, ValueId>,
}

/// Appends ops of core to a block.
pub(crate) struct Emit<'g> {
    pub b: Builder<'g>,
    pub cache: &'g mut Cache,
}

impl Build for Emit<'_> {
    fn builder(&mut self) -> Builder<'_> {
        self.b.reborrow()
    }
}

impl Emit<'_> {
    /// The same block, for ops that stand at `span`. A block that is not known is the one of the builder.
    pub fn at(&mut self, block: Option<BlockId>, span: Span) -> Emit<'_> {
        let b = match block {
            Some(block) => Builder::new(self.b.graph, InsertPoint::End(block), span),
            None => self.b.reborrow(),
        };
        Emit {
            b,
            cache: self.cache,
        }
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
            Value::Compared(own) => {
                let (lhs, rhs) = (self.value(&own.lhs)?, self.value(&own.rhs)?);
                self.compare(own.direction, lhs, rhs)
            }
        }
    }

    fn constant(&mut self, constant: &Rc<Constant>) -> ValueId {
        if let Some((_, value)) = self.cache.constants.get(&Rc::as_ptr(constant)) {
            return *value;
        }
        let value = match constant.is_splat() && !constant.shape.is_empty() {
            true => mind_core::splat(&mut self.b, constant.ty().view(), &constant.elements),
            false => mind_core::constant(&mut self.b, &constant.elements),
        };
        let held = (Rc::clone(constant), value);
        self.cache.constants.insert(Rc::as_ptr(constant), held);
        value
    }

    /// Extents as a value of the module.
    fn extents(&mut self, extents: &Extents) -> One {
        let mut parts = Vec::with_capacity(extents.elements.len());
        let mut elements = &extents.elements[..];
        while let Some(&first) = elements.first() {
            let numbers = elements.iter().map_while(|own| own.dim().fixed());
            let numbers: Vec<i64> = numbers.collect();
            let length = numbers.len().max(1);
            parts.push(match numbers.is_empty() {
                false => {
                    let list = Tensor::of(vec![length], numbers);
                    self.tensor(&converted(&list, extents.dtype))
                }
                true => self.extent(first, extents.dtype)?,
            });
            elements = &elements[length..];
        }
        if extents.is_scalar {
            return self.reshape(parts[0], &[]);
        }
        self.concat(&parts, 0)
    }

    /// An extent as a list of one number.
    fn extent(&mut self, extent: Extent, dtype: DType) -> One {
        let own = match extent {
            Extent::Known(own) => self.tensor(&Tensor::of(vec![1], vec![own])),
            Extent::Named(name) => self.named_extent(name)?,
            Extent::Computed(own) => own,
        };
        self.convert(own, dtype)
    }

    /// The extent of the dimensions called `name`.
    fn named_extent(&mut self, name: Sym) -> One {
        if let Some(&value) = self.cache.extents.get(&name) {
            return Ok(value);
        }
        let (of, axis) = match self.cache.sources.get(&name) {
            Some(&source) => source,
            // In a region none of the values need have that dimension.
            None => {
                let zero = self.tensor(&Tensor::scalar(false));
                let line = BroadcastTo::with(&[Dim::Symbol(name)]).build(self, zero)?;
                (line, 0)
            }
        };
        let extent = ExtentOf::with(axis as i64).build(self, of)?;
        let extent = self.reshape(extent, &[Dim::Fixed(1)])?;
        self.cache.extents.insert(name, extent);
        Ok(extent)
    }

    /// A dimension of a value as an extent.
    pub fn extent_of(&mut self, value: ValueId, axis: usize) -> Result<Extent, Refusal> {
        Ok(match self.dims(value)[axis] {
            Dim::Fixed(extent) => Extent::Known(extent),
            Dim::Symbol(name) => Extent::Named(name),
            Dim::Dynamic => {
                let own = ExtentOf::with(axis as i64).build(self, value)?;
                Extent::Computed(self.reshape(own, &[Dim::Fixed(1)])?)
            }
        })
    }

    /// Some of the dimensions of a value as extents.
    pub fn extents_of(
        &mut self,
        value: ValueId,
        axes: std::ops::Range<usize>,
    ) -> Result<Vec<Extent>, Refusal> {
        axes.map(|axis| self.extent_of(value, axis)).collect()
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

    /// A scalar function at every position.
    pub fn apply(&mut self, function: ScalarFn, operands: &[ValueId]) -> One {
        Ok(mind_core::apply(&mut self.b, function, operands)?)
    }

    /// A scalar function of `x` and a number in its dtype.
    pub fn apply_number(&mut self, function: ScalarFn, x: ValueId, number: f64) -> One {
        let number = self.number(self.dtype(x), number);
        self.apply(function, &[x, number])
    }

    pub fn compare(&mut self, direction: Direction, lhs: ValueId, rhs: ValueId) -> One {
        Ok(Compare::with(direction).build(self, lhs, rhs)?)
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

    /// `x` with these extents, each of which may be one that only a run knows.
    pub fn reshape_to(&mut self, x: ValueId, extents: &[Extent]) -> One {
        let dims: Vec<Dim> = extents.iter().map(|own| own.dim()).collect();
        if !dims.contains(&Dim::Dynamic)
            && let Ok(value) = self.reshape(x, &dims)
        {
            return Ok(value);
        }
        let list = self.extent_list(extents)?;
        Ok(DynamicReshape::with(&dims).build(self, x, list)?)
    }

    /// Extents as a list of `i64`.
    pub fn extent_list(&mut self, extents: &[Extent]) -> One {
        if extents.is_empty() {
            return Ok(self.tensor(&Tensor::of(vec![0], Vec::<i64>::new())));
        }
        self.extents(&Extents {
            dtype: DType::I64,
            is_scalar: false,
            elements: extents.to_vec(),
        })
    }

    pub fn transpose(&mut self, x: ValueId, permutation: &[usize]) -> One {
        if permutation.iter().copied().eq(0..permutation.len()) {
            return Ok(x);
        }
        let permutation: Vec<i64> = permutation.iter().map(|&axis| axis as i64).collect();
        Ok(Transpose::with().permutation(&permutation).build(self, x)?)
    }

    pub fn concat(&mut self, inputs: &[ValueId], axis: usize) -> One {
        match inputs {
            [] => Err(Refusal::operands(0, "1 or more")),
            [one] => Ok(*one),
            _ => Ok(Concat::with(axis as i64).build(self, inputs)?),
        }
    }

    /// Whether an op made `value` out of a truth value by a cast; that value.
    pub fn cast_truth(&self, value: ValueId) -> Option<ValueId> {
        let g = self.g();
        let cast = g.view::<Cast>(g.defining_op(value)?)?;
        let of = cast.input(g);
        (g.ty(of).dtype == DType::Bool).then_some(of)
    }
}
