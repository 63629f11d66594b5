//! What the names of a graph stand for.

use std::rc::Rc;

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim};

use crate::tensor::Constant;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value of the module.
    Op(ValueId),
    /// Elements that are known.
    Known(Rc<Constant>),
    /// Integers, for example extents of values, some of which only a run knows.
    Extents(Rc<Extents>),
}

impl Value {
    /// Its type as messages show it.
    pub fn type_text(&self, g: &Graph) -> String {
        match self {
            Value::Op(value) => g.type_text(*value),
            Value::Known(known) => format!("{}{:?}", known.dtype, known.shape),
            Value::Extents(own) => format!("{}{:?}", own.dtype, own.shape),
        }
    }
}

/// A tensor of integers, each of which is known, an extent, or given by the run.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub elements: Vec<Extent>,
}

/// An extent, and where a run finds it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Extent {
    /// A number.
    Known(i64),
    /// The extent of a value along an axis.
    Of(ValueId, usize, Dim),
    /// A run-time extent: an `i64` of rank 0.
    Computed(ValueId),
    /// Any number that a run gives, which as an entry of a shape may also be 0 or -1: an `i64` of one element.
    Given(ValueId),
}

impl Extent {
    /// Returns the dimension with that extent.
    pub fn dim(self) -> Dim {
        match self {
            Extent::Known(extent) => Dim::Fixed(extent),
            Extent::Of(_, _, dim) => dim,
            Extent::Computed(_) | Extent::Given(_) => Dim::Dynamic,
        }
    }
}
