//! Values of the names in a text.

use std::rc::Rc;

use mind_convert::Refusal;
use mind_core::ops::compare::Direction;
use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim};
use mind_ir::{Sym, ValueId};

use crate::constant::Constant;

/// The results of an operation.
pub(crate) type Values = Result<Vec<Value>, Refusal>;

/// The value of a name.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value of the module.
    Op(ValueId),
    /// A tensor with known elements.
    Known(Rc<Constant>),
    /// Extents, some of which are data-dependent.
    Extents(Rc<Extents>),
    /// A comparison of extents that is evaluated at run time.
    Compared(Rc<Compared>),
}

impl Value {
    /// Returns its type for messages.
    pub fn type_text(&self, g: &Graph) -> String {
        match self {
            Value::Op(value) => g.type_text(*value),
            Value::Known(known) => format!("{}{:?}", known.dtype(), known.shape),
            Value::Extents(own) if own.is_scalar => format!("{}[]", own.dtype),
            Value::Extents(own) => format!("{}[{}]", own.dtype, own.elements.len()),
            Value::Compared(_) => "bool[]".to_owned(),
        }
    }
}

/// A comparison of two extents.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub direction: Direction,
    pub lhs: Value,
    pub rhs: Value,
}

/// One extent, or a list of extents.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    pub dtype: DType,
    /// Whether it is a number of rank 0.
    pub is_scalar: bool,
    pub elements: Vec<Extent>,
}

/// An extent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Extent {
    /// A known number.
    Known(i64),
    /// The extent of a symbolic dimension, for example `batch`.
    Named(Sym),
    /// An extent computed at run time: a value of rank 1 with one element.
    Computed(ValueId),
}

impl Extent {
    /// Returns the dimension with that extent.
    pub fn dim(self) -> Dim {
        match self {
            Extent::Known(extent) => Dim::Fixed(extent),
            Extent::Named(name) => Dim::Symbol(name),
            Extent::Computed(_) => Dim::Dynamic,
        }
    }
}
