//! Dimensions and shapes.

use std::fmt;

use smallvec::SmallVec;

use crate::entity::Sym;
use crate::symbol::Symbols;

/// The extent of one dimension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dim {
    /// A known extent. Parsers accept any integer; the verifier rejects negative ones.
    Fixed(i64),
    /// A symbolic extent, which is the same number wherever the symbol occurs.
    Symbol(Sym),
    /// An unknown extent. Two unknown extents must not be assumed to be equal.
    Dynamic,
}

/// The extents of a tensor, outermost first.
pub type Shape = SmallVec<[Dim; 4]>;

impl Dim {
    /// Returns the extent if it is known.
    pub const fn fixed(self) -> Option<i64> {
        match self {
            Dim::Fixed(extent) => Some(extent),
            Dim::Symbol(_) | Dim::Dynamic => None,
        }
    }

    /// Returns whether both extents are known to be equal. It is false for two unknown extents.
    pub fn surely_equals(self, other: Dim) -> bool {
        self == other && self != Dim::Dynamic
    }

    /// Returns the more definite of two extents of the same dimension; `None` if they contradict each other.
    pub fn meet(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (Dim::Dynamic, dim) | (dim, Dim::Dynamic) => Some(dim),
            (a, b) => (a == b).then_some(a),
        }
    }

    /// Returns the text form: `128`, `B` or `?`.
    pub fn display(self, symbols: &Symbols) -> DimText<'_> {
        DimText { dim: self, symbols }
    }
}

/// A dimension and the symbols to print it with.
pub struct DimText<'a> {
    dim: Dim,
    symbols: &'a Symbols,
}

impl fmt::Display for DimText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dim {
            Dim::Fixed(extent) => write!(f, "{extent}"),
            Dim::Symbol(sym) => f.write_str(self.symbols.get(sym)),
            Dim::Dynamic => f.write_str("?"),
        }
    }
}
