//! Extents that must agree, and products of extents.

use mind_ir::Sym;
use mind_ir::graph::Graph;
use mind_ir::types::{Dim, Shape, shape_text};
use mind_ir::verify::VerifyError;

/// The extent that `expected` and `found` both describe.
///
/// # Errors
///
/// E3003 where they are or may be different; `dimension` says in words which one it is, `help` what
/// to do.
pub fn agree(
    g: &Graph,
    op: &'static str,
    dimension: impl Into<String>,
    expected: Dim,
    found: Dim,
    help: &'static str,
) -> Result<Dim, VerifyError> {
    expected.meet(found).ok_or_else(|| VerifyError::Extent {
        op,
        dimension: dimension.into(),
        expected: expected.display(g.symbols()).to_string(),
        found: found.display(g.symbols()).to_string(),
        help,
    })
}

/// A shape as an attribute writes it, with -1 read as `?`.
pub fn opened(written: &[Dim]) -> Shape {
    let dims = written.iter().map(|&dim| match dim {
        Dim::Fixed(-1) => Dim::Dynamic,
        dim => dim,
    });
    dims.collect()
}

/// Checks that no extent is negative.
///
/// # Errors
///
/// E3006 for the first that is.
pub fn check_extents(g: &Graph, shape: &[Dim]) -> Result<(), VerifyError> {
    let negative = |dim: &Dim| dim.fixed().filter(|&extent| extent < 0);
    match shape
        .iter()
        .enumerate()
        .find_map(|(at, dim)| Some((at, negative(dim)?)))
    {
        None => Ok(()),
        Some((dimension, value)) => Err(VerifyError::NegativeExtent {
            shape: text(g, shape),
            dimension,
            value,
        }),
    }
}

/// Checks that extent `dim` of `from` is or may be 1 or that of `shape` at `at`.
///
/// # Errors
///
/// E3001 if it is another.
pub fn stretches(
    g: &Graph,
    from: &[Dim],
    shape: &[Dim],
    at: usize,
    dim: Dim,
) -> Result<(), VerifyError> {
    if dim == Dim::Fixed(1) || dim.meet(shape[at]).is_some() {
        return Ok(());
    }
    let symbols = g.symbols();
    Err(VerifyError::Broadcast {
        dimension: at,
        lhs: dim.display(symbols).to_string(),
        rhs: shape[at].display(symbols).to_string(),
        lhs_shape: text(g, from),
        rhs_shape: text(g, shape),
    })
}

/// A number of elements: a known factor times symbolic extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The product of the known extents; `None` if it leaves `i128`.
    pub known: Option<i128>,
    /// The symbolic extents, sorted.
    pub symbols: Vec<Sym>,
    /// Whether some extent is not known at all.
    pub open: bool,
}

impl Count {
    /// The number of elements of `shape`: 0 beside an extent of 0, whatever the others are.
    pub fn of(shape: impl IntoIterator<Item = Dim>) -> Count {
        let mut count = Count {
            known: Some(1),
            symbols: Vec::new(),
            open: false,
        };
        for dim in shape {
            match dim {
                Dim::Fixed(0) => {
                    return Count {
                        known: Some(0),
                        symbols: Vec::new(),
                        open: false,
                    };
                }
                Dim::Fixed(extent) => {
                    count.known = count
                        .known
                        .and_then(|known| known.checked_mul(extent.into()));
                }
                Dim::Symbol(sym) => count.symbols.push(sym),
                Dim::Dynamic => count.open = true,
            }
        }
        count.symbols.sort_unstable();
        count
    }

    /// The extent that completes `part` to `self`: a number, one symbol, or `?` where it cannot be
    /// told. `None` if no extent does.
    pub fn quotient(&self, part: &Count) -> Option<Dim> {
        if self.open || part.open {
            return Some(Dim::Dynamic);
        }
        let (Some(whole), Some(known)) = (self.known, part.known) else {
            return Some(Dim::Dynamic);
        };
        let mut symbols = self.symbols.clone();
        for sym in &part.symbols {
            match symbols.iter().position(|own| own == sym) {
                Some(at) => symbols.remove(at),
                None => return Some(Dim::Dynamic),
            };
        }
        if known == 0 {
            // Only what is empty too has an extent, and any does.
            return (whole == 0 || !self.symbols.is_empty()).then_some(Dim::Dynamic);
        }
        if whole % known != 0 {
            return (!symbols.is_empty()).then_some(Dim::Dynamic);
        }
        match (whole / known, symbols.as_slice()) {
            (factor, []) => Some(i64::try_from(factor).map_or(Dim::Dynamic, Dim::Fixed)),
            (1, [sym]) => Some(Dim::Symbol(*sym)),
            _ => Some(Dim::Dynamic),
        }
    }
}

/// A shape as text, for messages.
pub fn text(g: &Graph, shape: &[Dim]) -> String {
    shape_text(shape, g.symbols())
}
