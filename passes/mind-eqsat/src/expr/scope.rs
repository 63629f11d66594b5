//! What the names of a rule stand for in one match.

use egg::Id;
use mind_ir::types::{DType, Dim, TypeView};

use crate::egraph::analysis::{Data, Eg};
use crate::egraph::constants::Constant;
use crate::egraph::payload::AttrValue;
use crate::slots::{Reg, Slot, Slots};

/// A match, and the e-graph it was found in.
pub(crate) struct Scope<'a, 'r> {
    pub(crate) egraph: &'a Eg<'r>,
    /// How many operand slots of the input program read each class, by id.
    pub(crate) uses: &'a [u32],
    pub(crate) registers: &'a [Id],
    pub(crate) slots: &'a Slots,
}

/// A value in a match.
#[derive(Clone, Copy)]
pub(crate) struct ValueInfo<'a> {
    pub(crate) ty: TypeView<'a>,
    pub(crate) data: Data,
    pub(crate) constant: Option<&'a Constant>,
    pub(crate) uses: u32,
}

/// What a function or predicate is given.
#[derive(Clone)]
pub(crate) enum Argument<'a> {
    Value(ValueInfo<'a>),
    DType(DType),
    Attr(AttrValue),
    Dim(Dim),
    Shape(&'a [Dim]),
}

impl<'a> Scope<'a, '_> {
    /// The attribute in `slot`.
    pub(crate) fn attr(&self, slot: Slot) -> &'a AttrValue {
        self.egraph
            .analysis
            .store
            .attr(self.slots.attrs[usize::from(slot)])
    }

    /// The value in `reg`.
    pub(crate) fn value(&self, reg: Reg) -> ValueInfo<'a> {
        let id = self.egraph.find(self.registers[usize::from(reg)]);
        let data = self.egraph[id].data;
        let store = &self.egraph.analysis.store;
        let constant = data.constant.map(|constant| store.constants.get(constant));
        let uses = self.uses.get(usize::from(id)).copied().unwrap_or(0);
        ValueInfo {
            ty: store.ty(data.ty),
            data,
            constant,
            uses,
        }
    }
}

impl<'a> Argument<'a> {
    /// The integer, where it is one.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Argument::Attr(AttrValue::Int(value)) => Some(*value),
            Argument::Dim(dim) => dim.fixed(),
            _ => None,
        }
    }

    /// The list of integers, where it is one.
    pub(crate) fn ints(&self) -> Option<&[i64]> {
        match self {
            Argument::Attr(AttrValue::Ints(list)) => Some(list),
            _ => None,
        }
    }

    /// The pads, where it is a padding that writes them out or is `valid`.
    pub(crate) fn pads(&self) -> Option<[i64; 4]> {
        match self {
            Argument::Attr(AttrValue::Pads(pads)) => Some(*pads),
            Argument::Attr(AttrValue::Valid) => Some([0; 4]),
            _ => None,
        }
    }

    /// The value, where it is one.
    pub(crate) fn value(&self) -> Option<ValueInfo<'a>> {
        match self {
            Argument::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// The shape of a value, or a list of extents.
    pub(crate) fn shape(&self) -> Option<&'a [Dim]> {
        match self {
            Argument::Value(value) => Some(value.ty.shape),
            Argument::Shape(shape) => Some(shape),
            _ => None,
        }
    }

    /// The dtype of a value, or a dtype.
    pub(crate) fn dtype(&self) -> Option<DType> {
        match self {
            Argument::Value(value) => Some(value.ty.dtype),
            Argument::DType(dtype) => Some(*dtype),
            _ => None,
        }
    }
}
