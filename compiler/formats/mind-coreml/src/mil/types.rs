//! Types of MIL text.

use std::fmt::Write;

use mind_ir::types::{Dim, Shape};

use mind_mil::Element;

/// A type of the text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Type {
    /// A tensor, or a scalar.
    Tensor { element: Element, shape: Shape },
    /// A state that holds a tensor.
    State { element: Element, shape: Shape },
    /// A list, tuple, dictionary or buffer, which values of the graph cannot have.
    Foreign(&'static str),
}

/// The generation of the text, which follows from the version of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Generation {
    /// `program(1.0)`: scalars are `tensor<T, []>`.
    First,
    /// `program(1.3)`: scalars are `T`.
    Second,
}

impl Generation {
    /// Returns the version that programs of the generation are printed with.
    #[cfg(feature = "package")]
    pub(crate) fn version(self) -> &'static str {
        match self {
            Generation::First => "1.0",
            Generation::Second => "1.3",
        }
    }

    /// Returns the generation of a version.
    pub(crate) fn of(version: &str) -> Generation {
        match version {
            "1.0" => Generation::First,
            _ => Generation::Second,
        }
    }
}

/// Writes the type of a tensor.
pub(crate) fn write_tensor(out: &mut String, element: &str, shape: &[Dim], generation: Generation) {
    if shape.is_empty() && generation == Generation::Second {
        return out.push_str(element);
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "tensor<{element}, [");
    for (at, dim) in shape.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        let _ = match dim.fixed() {
            Some(extent) => write!(out, "{comma}{extent}"),
            None => write!(out, "{comma}?"),
        };
    }
    out.push_str("]>");
}

/// Returns the text of a type for a message.
pub(crate) fn text(ty: &Type) -> String {
    let mut out = String::new();
    match ty {
        Type::Tensor { element, shape } => {
            write_tensor(&mut out, element.name(), shape, Generation::Second);
        }
        Type::State { element, shape } => {
            out.push_str("state<");
            write_tensor(&mut out, element.name(), shape, Generation::First);
            out.push('>');
        }
        Type::Foreign(what) => out.push_str(what),
    }
    out
}
