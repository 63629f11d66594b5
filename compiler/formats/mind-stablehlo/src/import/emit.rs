//! Emission of core ops for operations, with extents that may be unknown.

use mind_convert::{Constants, EmitCore, Refusal, converted};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::convert::Cast;
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::runtime_shape::DynamicReshape;
use mind_diag::Span;
use mind_ir::builder::{Build, Builder};
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::{BlockId, Sym, ValueId};
use rustc_hash::FxHashMap;

use super::value::{Extent, Extents, Value};
use crate::constant::Constant;

pub(crate) use mind_convert::{Many, One};

/// The constants and extents of a block.
#[derive(Default)]
pub(crate) struct Cache {
    constants: Constants<Constant>,
    /// A value with each named dimension, and the axis of the dimension.
    sources: FxHashMap<Sym, (ValueId, usize)>,
    extents: FxHashMap<Sym, ValueId>,
}

impl Cache {
    /// Records the named dimensions of `value`, which is available in the whole block.
    pub fn add_source(&mut self, g: &Graph, value: ValueId) {
        for (axis, &dim) in g.ty(value).shape.iter().enumerate() {
            if let Dim::Symbol(name) = dim {
                self.sources.entry(name).or_insert((value, axis));
            }
        }
    }
}

/// Emits core ops to a block.
pub(crate) struct Emit<'g> {
    pub b: Builder<'g>,
    pub cache: &'g mut Cache,
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
    /// Returns an emitter for ops at `span` at the end of `block`. If `block` is `None`, it inserts where this one
    /// does.
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

    /// Returns a value of the module, emitted if it is known or computed from extents.
    pub fn value(&mut self, value: &Value) -> One {
        match value {
            Value::Op(value) => Ok(*value),
            Value::Known(constant) => {
                let b = &mut self.b;
                let constants = &mut self.cache.constants;
                Ok(constants.value(constant, |own| own.emit(b)))
            }
            Value::Extents(extents) => self.extents(extents),
            Value::Compared(own) => {
                let (lhs, rhs) = (self.value(&own.lhs)?, self.value(&own.rhs)?);
                self.compare(own.direction, lhs, rhs)
            }
        }
    }

    /// Returns a value of the module that holds the extents.
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

    /// Returns an extent as a list with one element.
    fn extent(&mut self, extent: Extent, dtype: DType) -> One {
        let own = match extent {
            Extent::Known(own) => self.tensor(&Tensor::of(vec![1], vec![own])),
            Extent::Named(name) => self.named_extent(name)?,
            Extent::Computed(own) => own,
        };
        self.convert(own, dtype)
    }

    /// Returns the extent of the dimensions named `name`, as a list with one element.
    fn named_extent(&mut self, name: Sym) -> One {
        if let Some(&value) = self.cache.extents.get(&name) {
            return Ok(value);
        }
        let (of, axis) = match self.cache.sources.get(&name) {
            Some(&source) => source,
            // A region may use the name although none of its values has that dimension.
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

    /// Returns the extent of a value along an axis. Emits an op if it is not known and has no name.
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

    /// Returns the extents of a value along `axes`.
    pub fn extents_of(
        &mut self,
        value: ValueId,
        axes: std::ops::Range<usize>,
    ) -> Result<Vec<Extent>, Refusal> {
        axes.map(|axis| self.extent_of(value, axis)).collect()
    }

    /// Reshapes `x` to these extents, which may be known only at run time.
    pub fn reshape_extents(&mut self, x: ValueId, extents: &[Extent]) -> One {
        let dims: Vec<Dim> = extents.iter().map(|own| own.dim()).collect();
        if !dims.contains(&Dim::Dynamic)
            && let Ok(value) = self.reshape(x, &dims)
        {
            return Ok(value);
        }
        let list = self.extent_list(extents)?;
        Ok(DynamicReshape::with(&dims).build(self, x, list)?)
    }

    /// Returns the extents as a list of `i64`.
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

    /// Returns the boolean that `value` is a cast of; `None` if it is not a cast of a boolean.
    pub fn cast_truth(&self, value: ValueId) -> Option<ValueId> {
        let g = self.g();
        let cast = g.view::<Cast>(g.defining_op(value)?)?;
        let of = cast.input(g);
        (g.ty(of).dtype == DType::Bool).then_some(of)
    }
}
