//! Values of the names in a graph.

use std::rc::Rc;

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim};

use crate::tensor::Constant;

/// The value of a name.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value of the module.
    Op(ValueId),
    /// A tensor with known elements.
    Known(Rc<Constant>),
    /// Integers, for example extents, some of which are data-dependent.
    Extents(Rc<Extents>),
}

impl Value {
    /// Returns its type for messages.
    pub fn type_text(&self, g: &Graph) -> String {
        match self {
            Value::Op(value) => g.type_text(*value),
            Value::Known(known) => format!("{}{:?}", known.dtype, known.shape),
            Value::Extents(own) => format!("{}{:?}", own.dtype, own.shape),
        }
    }
}

/// A tensor of integers, each of which is known, an extent, or computed at run time.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub elements: Vec<Extent>,
}

/// An integer in a list of extents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Extent {
    /// A known number.
    Known(i64),
    /// The extent of a value along an axis.
    Of(ValueId, usize, Dim),
    /// An extent computed at run time, as an `i64` of rank 0.
    Computed(ValueId),
    /// A number computed at run time, which as an entry of a shape may also be 0 or -1, as an `i64` of one element.
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
