//! What the names of a text stand for.

use std::rc::Rc;

use mind_convert::Refusal;
use mind_core::ops::compare::Direction;
use mind_ir::graph::Graph;
use mind_ir::types::{DType, Dim};
use mind_ir::{Sym, ValueId};

use crate::constant::Constant;

/// The results of an operation.
pub(crate) type Values = Result<Vec<Value>, Refusal>;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value of the module.
    Op(ValueId),
    /// Elements that are known.
    Known(Rc<Constant>),
    /// Extents, some of which only a run knows.
    Extents(Rc<Extents>),
    /// A comparison of extents that only a run can make.
    Compared(Rc<Compared>),
}

impl Value {
    /// Its type as messages show it.
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

/// A number or a list of integers that are extents.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    pub dtype: DType,
    /// Whether it is one number, of rank 0.
    pub is_scalar: bool,
    pub elements: Vec<Extent>,
}

/// An extent, and where a run finds it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Extent {
    /// A number.
    Known(i64),
    /// That of dimensions with a name.
    Named(Sym),
    /// What a run computes: a value of rank 1 with one element.
    Computed(ValueId),
}

impl Extent {
    /// The dimension with that extent.
    pub fn dim(self) -> Dim {
        match self {
            Extent::Known(extent) => Dim::Fixed(extent),
            Extent::Named(name) => Dim::Symbol(name),
            Extent::Computed(_) => Dim::Dynamic,
        }
    }
}
