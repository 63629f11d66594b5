//! Signatures: the arguments that a definition of an op takes.

use crate::element::{Element, Elements};
use crate::opset::Opset;

/// What kind of value an argument takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A tensor.
    Tensor,
    /// A tuple of tensors, as `values = (a, b)`.
    Tuple,
    /// A state.
    State,
    /// A list.
    List,
    /// Anything.
    Any,
}

/// What an optional argument is when it is left out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Default {
    /// Something that only the op's own rule can say: no bias, all axes.
    Absent,
    /// An integer.
    Int(i64),
    /// A number, rounded to the dtype of the op's input.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A word.
    Word(&'static str),
}

/// An argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg {
    /// Its name in text.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// The element types it may have.
    pub types: Elements,
    /// Whether it must be known when compiling.
    pub constant: bool,
    /// Whether it may be left out.
    pub optional: bool,
    /// Arguments of one group have one element type; 0 is no group.
    pub group: u8,
    /// What it is when left out.
    pub default: Default,
}

impl Arg {
    const fn new(name: &'static str, kind: Kind, types: Elements) -> Arg {
        Arg {
            name,
            kind,
            types,
            constant: false,
            optional: false,
            group: 0,
            default: Default::Absent,
        }
    }

    /// The same argument, known when compiling.
    pub const fn constant(self) -> Arg {
        Arg {
            constant: true,
            ..self
        }
    }

    /// The same argument, of the element type of all arguments of `group`.
    pub const fn of(self, group: u8) -> Arg {
        Arg { group, ..self }
    }

    /// The same argument, which may be left out.
    pub const fn optional(self) -> Arg {
        Arg {
            optional: true,
            ..self
        }
    }

    /// The same argument, an integer when left out.
    pub const fn int(self, value: i64) -> Arg {
        Arg {
            optional: true,
            default: Default::Int(value),
            ..self
        }
    }

    /// The same argument, a number when left out.
    pub const fn float(self, value: f64) -> Arg {
        Arg {
            optional: true,
            default: Default::Float(value),
            ..self
        }
    }

    /// The same argument, a truth value when left out.
    pub const fn bool(self, value: bool) -> Arg {
        Arg {
            optional: true,
            default: Default::Bool(value),
            ..self
        }
    }

    /// The same argument, a word when left out.
    pub const fn word(self, value: &'static str) -> Arg {
        Arg {
            optional: true,
            default: Default::Word(value),
            ..self
        }
    }
}

/// A tensor argument.
pub const fn arg(name: &'static str, types: Elements) -> Arg {
    Arg::new(name, Kind::Tensor, types)
}

/// A tensor argument that is known when compiling.
pub const fn fixed(name: &'static str, types: Elements) -> Arg {
    arg(name, types).constant()
}

/// An argument of another kind.
pub const fn other(name: &'static str, kind: Kind) -> Arg {
    Arg::new(name, kind, EVERY)
}

/// The definitions of an op, each with the opset that brought it, oldest first.
pub type Signatures = &'static [(Opset, &'static [Arg])];

/// The newest definition that `opset` has; `None` if the op came later.
pub fn definition(signatures: Signatures, opset: Opset) -> Option<&'static [Arg]> {
    let known = signatures.iter().rev().find(|(since, _)| *since <= opset);
    known.map(|(_, args)| *args)
}

use Element::*;

/// Every element type.
pub const EVERY: Elements = Elements::of(Element::ALL);
/// The floats that ops compute in.
pub const F: Elements = Elements::of(&[Fp16, Fp32]);
/// Numbers up to iOS 16.
pub const N: Elements = Elements::of(&[Fp16, Fp32, Int32]);
/// Numbers and truth values up to iOS 16.
pub const A: Elements = Elements::of(&[Bool, Fp16, Fp32, Int32]);
/// Numbers from iOS 17.
pub const WN: Elements = Elements::of(&[Fp16, Fp32, Int16, Int32, Int8, Uint16, Uint8]);
/// Numbers and truth values from iOS 17.
pub const WA: Elements = Elements::of(&[Bool, Fp16, Fp32, Int16, Int32, Int8, Uint16, Uint8]);
/// Indices from iOS 17.
pub const WI: Elements = Elements::of(&[Int16, Int32, Int8, Uint16, Uint8]);
/// Signed integers from iOS 17.
pub const SI: Elements = Elements::of(&[Int16, Int32, Int8]);
/// `int32`.
pub const I: Elements = Elements::of(&[Int32]);
/// `bool`.
pub const B: Elements = Elements::of(&[Bool]);
/// `string`.
pub const S: Elements = Elements::of(&[String]);
