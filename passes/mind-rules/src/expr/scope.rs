//! The bindings of a rule's names in a match.

use std::fmt;

use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TypeView};

use crate::attr_value::AttrValue;
use crate::constant::Constant;
use crate::matching::slots::{Reg, Slot, Slots};
use crate::matching::subject::{Knowledge, Subject};
use mind_ir::scalar::Facts;

/// A match and the program that it is in.
pub struct Scope<'a, S: Subject> {
    /// The module or e-graph.
    pub subject: &'a S,
    /// The matched values, the root first.
    pub registers: &'a [S::Value],
    /// The bound attributes, dtypes, extents, shapes and lists.
    pub slots: &'a Slots<S::Value, S::Attr>,
}

/// A value in a match.
#[derive(Clone, Copy)]
pub struct ValueInfo<'a> {
    pub(crate) ty: TypeView<'a>,
    /// Everything but the type is looked up on demand.
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

/// An argument of a function or predicate.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// A value of the match.
    Value(ValueInfo<'a>),
    /// A dtype.
    DType(DType),
    /// An attribute value, or the result of another function.
    Attr(AttrValue),
    /// An extent.
    Dim(Dim),
    /// A list of extents.
    Shape(&'a [Dim]),
}

impl<'a, S: Subject> Scope<'a, S> {
    /// Returns the attribute in `slot`.
    pub fn attr(&self, slot: Slot) -> Option<AttrValue> {
        self.subject.attr(self.slots.attrs[usize::from(slot)]?)
    }

    /// Iterates over the values of `lists` in lockstep: returns the register file for each position, with the value of
    /// each list in its register. `None` if the lengths differ.
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

    /// Returns the value in `reg`.
    pub fn value(&self, reg: Reg) -> ValueInfo<'a> {
        self.info(self.registers[usize::from(reg)])
    }

    /// Returns the type and the known facts of `value`.
    pub fn info(&self, value: S::Value) -> ValueInfo<'a> {
        ValueInfo {
            ty: self.subject.ty(value),
            knowledge: self.subject,
            number: S::number(value),
        }
    }
}

impl<'a> ValueInfo<'a> {
    /// Returns the type.
    pub fn ty(&self) -> TypeView<'a> {
        self.ty
    }

    /// Returns the element of a value that is known to be a splat, as a tensor of rank 0.
    pub fn splat(&self) -> Option<&'a Tensor> {
        let constant = self.constant().filter(|constant| constant.splat)?;
        Some(&constant.data)
    }

    /// Returns the value as a constant, if it is known to be one.
    pub fn constant(&self) -> Option<&'a Constant> {
        self.knowledge.constant(self.number)
    }

    /// Returns the facts that hold for every element.
    pub fn facts(&self) -> Facts {
        self.knowledge.facts(self.number)
    }

    /// Returns the number of operands in the program that read the value.
    pub fn uses(&self) -> u32 {
        self.knowledge.uses(self.number)
    }
}

impl<'a> Argument<'a> {
    /// Returns the argument as an integer.
    pub fn int(&self) -> Option<i64> {
        match self {
            Argument::Attr(AttrValue::Int(value)) => Some(*value),
            Argument::Dim(dim) => dim.fixed(),
            _ => None,
        }
    }

    /// Returns the argument as a float; integers are converted.
    pub fn float(&self) -> Option<f64> {
        match self {
            Argument::Attr(AttrValue::Float(bits)) => Some(f64::from_bits(*bits)),
            other => other.int().map(|value| value as f64),
        }
    }

    /// Returns the argument as a list of integers.
    pub fn ints(&self) -> Option<&[i64]> {
        match self {
            Argument::Attr(AttrValue::Ints(list)) => Some(list),
            _ => None,
        }
    }

    /// Returns the numbers of zeros of an explicit or `valid` padding.
    pub fn pads(&self) -> Option<[i64; 4]> {
        match self {
            Argument::Attr(AttrValue::Pads(pads)) => Some(*pads),
            Argument::Attr(AttrValue::Valid) => Some([0; 4]),
            _ => None,
        }
    }

    /// Returns the argument as a value.
    pub fn value(&self) -> Option<ValueInfo<'a>> {
        match self {
            Argument::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the shape of a value, or the list of extents.
    pub fn shape(&self) -> Option<&'a [Dim]> {
        match self {
            Argument::Value(value) => Some(value.ty.shape),
            Argument::Shape(shape) => Some(shape),
            _ => None,
        }
    }

    /// Returns the dtype of a value, or the dtype.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Argument::Value(value) => Some(value.ty.dtype),
            Argument::DType(dtype) => Some(*dtype),
            _ => None,
        }
    }
}
