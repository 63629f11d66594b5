//! Dimensions and shapes.

use std::fmt;

use smallvec::SmallVec;

use crate::entity::Sym;
use crate::symbol::Symbols;

/// The extent of one dimension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dim {
    /// A known extent. Parsers let any integer through; the verifier rejects negative ones.
    Fixed(i64),
    /// A named extent: the same number wherever the name stands.
    Symbol(Sym),
    /// An extent that is not known; no two of these may be taken as equal.
    Dynamic,
}

/// The extents of a tensor, outermost first.
pub type Shape = SmallVec<[Dim; 4]>;

impl Dim {
    /// The extent if it is known.
    pub const fn fixed(self) -> Option<i64> {
        match self {
            Dim::Fixed(extent) => Some(extent),
            Dim::Symbol(_) | Dim::Dynamic => None,
        }
    }

    /// Whether both are surely the same extent.
    pub fn surely_equals(self, other: Dim) -> bool {
        self == other && self != Dim::Dynamic
    }

    /// The extent that a dimension has when `self` and `other` both describe it: the more definite
    /// one, or none where they contradict each other.
    pub fn meet(self, other: Dim) -> Option<Dim> {
        match (self, other) {
            (Dim::Dynamic, dim) | (dim, Dim::Dynamic) => Some(dim),
            (a, b) => (a == b).then_some(a),
        }
    }

    /// The text form: `128`, `B` or `?`.
    pub fn display(self, symbols: &Symbols) -> DimText<'_> {
        DimText { dim: self, symbols }
    }
}

/// A dimension with the names to print it by.
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
