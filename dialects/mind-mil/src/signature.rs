//! Signatures: the arguments of an op's definitions.

use crate::element::{Element, Elements};
use crate::opset::Opset;

/// Type of an argument's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A tensor.
    Tensor,
    /// A tuple of tensors, for example `values = (a, b)`.
    Tuple,
    /// A state.
    State,
    /// A list.
    List,
    /// Anything.
    Any,
}

/// Value of an omitted argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Default {
    /// Defined by the op's type rule, for example no bias or all axes.
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
    /// The type of its value.
    pub kind: Kind,
    /// The allowed element types.
    pub types: Elements,
    /// Whether it must be known at compile time.
    pub constant: bool,
    /// Whether it may be omitted.
    pub optional: bool,
    /// Arguments of one group have the same element type; 0 for an argument outside of groups.
    pub group: u8,
    /// Its value if it is omitted.
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

    /// Returns the argument, required to be known at compile time.
    pub const fn constant(self) -> Arg {
        Arg {
            constant: true,
            ..self
        }
    }

    /// Returns the argument, which has the same element type as the others of `group`.
    pub const fn of(self, group: u8) -> Arg {
        Arg { group, ..self }
    }

    /// Returns the argument, made optional.
    pub const fn optional(self) -> Arg {
        Arg {
            optional: true,
            ..self
        }
    }

    /// Returns the argument with an integer as its default.
    pub const fn int(self, value: i64) -> Arg {
        Arg {
            optional: true,
            default: Default::Int(value),
            ..self
        }
    }

    /// Returns the argument with a number as its default.
    pub const fn float(self, value: f64) -> Arg {
        Arg {
            optional: true,
            default: Default::Float(value),
            ..self
        }
    }

    /// Returns the argument with a truth value as its default.
    pub const fn bool(self, value: bool) -> Arg {
        Arg {
            optional: true,
            default: Default::Bool(value),
            ..self
        }
    }

    /// Returns the argument with a word as its default.
    pub const fn word(self, value: &'static str) -> Arg {
        Arg {
            optional: true,
            default: Default::Word(value),
            ..self
        }
    }
}

/// Creates a tensor argument.
pub const fn arg(name: &'static str, types: Elements) -> Arg {
    Arg::new(name, Kind::Tensor, types)
}

/// Creates a tensor argument that is known at compile time.
pub const fn fixed(name: &'static str, types: Elements) -> Arg {
    arg(name, types).constant()
}

/// Creates an argument of another type.
pub const fn other(name: &'static str, kind: Kind) -> Arg {
    Arg::new(name, kind, EVERY)
}

/// The definitions of an op, each with the opset that introduced it, oldest first.
pub type Signatures = &'static [(Opset, &'static [Arg])];

/// Returns the newest definition in `opset`; `None` if the op was introduced later.
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
