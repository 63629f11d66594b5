//! What the names of a rule stand for in one match.

use std::fmt;

use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TypeView};

use crate::attr_value::AttrValue;
use crate::constant::Constant;
use crate::matching::slots::{Reg, Slot, Slots};
use crate::matching::subject::{Knowledge, Subject};
use mind_ir::scalar::Facts;

/// A match, and what it was found in.
pub struct Scope<'a, S: Subject> {
    /// The module or e-graph.
    pub subject: &'a S,
    /// The matched values, the root first.
    pub registers: &'a [S::Value],
    /// What else is bound.
    pub slots: &'a Slots<S::Value, S::Attr>,
}

/// A value in a match.
#[derive(Clone, Copy)]
pub struct ValueInfo<'a> {
    pub(crate) ty: TypeView<'a>,
    /// What else is known is looked up when it is asked for.
    knowledge: &'a dyn Knowledge,
    number: usize,
}

impl fmt::Debug for ValueInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ValueInfo");
        shown.field("ty", &self.ty).field("number", &self.number);
        shown.finish_non_exhaustive()
    }
}

/// What a function or predicate is given.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// A value of the match.
    Value(ValueInfo<'a>),
    /// A dtype.
    DType(DType),
    /// What an attribute holds, or another function gave.
    Attr(AttrValue),
    /// An extent.
    Dim(Dim),
    /// A list of extents.
    Shape(&'a [Dim]),
}

impl<'a, S: Subject> Scope<'a, S> {
    /// The attribute in `slot`.
    pub fn attr(&self, slot: Slot) -> Option<AttrValue> {
        self.subject.attr(self.slots.attrs[usize::from(slot)]?)
    }

    /// The register file for each value of `lists`, each list with its register; `None` if their
    /// lengths differ.
    pub fn each(
        &self,
        lists: &[(Slot, Reg)],
    ) -> Option<impl Iterator<Item = Vec<S::Value>> + use<'a, S>> {
        let slots: &'a Slots<S::Value, S::Attr> = self.slots;
        let list = |slot: Slot| slots.lists[usize::from(slot)].as_slice();
        let count = lists.first().map_or(0, |&(slot, _)| list(slot).len());
        let lists: Vec<(&'a [S::Value], usize)> = lists
            .iter()
            .map(|&(slot, reg)| (list(slot), usize::from(reg)))
            .collect();
        let one_length = lists.iter().all(|(list, _)| list.len() == count);
        let mut registers = self.registers.to_vec();
        let each = move |at: usize| {
            for &(list, reg) in &lists {
                if registers.len() <= reg {
                    registers.resize(reg + 1, list[at]);
                }
                registers[reg] = list[at];
            }
            registers.clone()
        };
        one_length.then(|| (0..count).map(each))
    }

    /// The value in `reg`.
    pub fn value(&self, reg: Reg) -> ValueInfo<'a> {
        self.info(self.registers[usize::from(reg)])
    }

    /// What is known of `value`.
    pub fn info(&self, value: S::Value) -> ValueInfo<'a> {
        ValueInfo {
            ty: self.subject.ty(value),
            knowledge: self.subject,
            number: S::number(value),
        }
    }
}

impl<'a> ValueInfo<'a> {
    /// The type.
    pub fn ty(&self) -> TypeView<'a> {
        self.ty
    }

    /// The one element that is known to stand at every position, of rank 0.
    pub fn splat(&self) -> Option<&'a Tensor> {
        let constant = self.constant().filter(|constant| constant.splat)?;
        Some(&constant.data)
    }

    /// The constant that it is known to be.
    pub fn constant(&self) -> Option<&'a Constant> {
        self.knowledge.constant(self.number)
    }

    /// What is known of every element.
    pub fn facts(&self) -> Facts {
        self.knowledge.facts(self.number)
    }

    /// How many operands of the program are this value.
    pub fn uses(&self) -> u32 {
        self.knowledge.uses(self.number)
    }
}

impl<'a> Argument<'a> {
    /// The integer, where it is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            Argument::Attr(AttrValue::Int(value)) => Some(*value),
            Argument::Dim(dim) => dim.fixed(),
            _ => None,
        }
    }

    /// The number as a float, where it is one.
    pub fn float(&self) -> Option<f64> {
        match self {
            Argument::Attr(AttrValue::Float(bits)) => Some(f64::from_bits(*bits)),
            other => other.int().map(|value| value as f64),
        }
    }

    /// The list of integers, where it is one.
    pub fn ints(&self) -> Option<&[i64]> {
        match self {
            Argument::Attr(AttrValue::Ints(list)) => Some(list),
            _ => None,
        }
    }

    /// The pads, where it is a padding that writes them out or is `valid`.
    pub fn pads(&self) -> Option<[i64; 4]> {
        match self {
            Argument::Attr(AttrValue::Pads(pads)) => Some(*pads),
            Argument::Attr(AttrValue::Valid) => Some([0; 4]),
            _ => None,
        }
    }

    /// The value, where it is one.
    pub fn value(&self) -> Option<ValueInfo<'a>> {
        match self {
            Argument::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// The shape of a value, or a list of extents.
    pub fn shape(&self) -> Option<&'a [Dim]> {
        match self {
            Argument::Value(value) => Some(value.ty.shape),
            Argument::Shape(shape) => Some(shape),
            _ => None,
        }
    }

    /// The dtype of a value, or a dtype.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Argument::Value(value) => Some(value.ty.dtype),
            Argument::DType(dtype) => Some(*dtype),
            _ => None,
        }
    }
}
