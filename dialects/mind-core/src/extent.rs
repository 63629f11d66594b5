//! Constraints between extents, and products of extents.

use mind_ir::Sym;
use mind_ir::graph::Graph;
use mind_ir::types::{Dim, Shape, shape_text};
use mind_ir::verify::VerifyError;

/// Unifies two descriptions of one extent.
///
/// # Errors
///
/// E3003 where they differ or may differ. The message names the extent with `dimension` and adds `help`.
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

/// Converts a shape attribute to a shape: -1 becomes `?`.
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
/// E3006 for the first negative extent.
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

/// Checks that extent `dim` of `from` broadcasts to the extent of `shape` at `at`: it is or may be 1 or equal.
///
/// # Errors
///
/// E3001 it cannot broadcast.
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

/// A number of elements: a constant factor times symbolic extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    /// The product of the known extents; `None` if it overflows `i128`.
    pub known: Option<i128>,
    /// The symbolic extents, sorted.
    pub symbols: Vec<Sym>,
    /// Whether an extent is `?`.
    pub open: bool,
}

impl Count {
    /// Returns the number of elements of `shape`; 0 if any extent is 0.
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

    /// Returns the extent that multiplied by `part` gives `self`: a number, a symbol, or `?` if it is not known. `None`
    /// if no extent does. For example `6 * B` divided by `2 * B` is 3.
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
            // An empty part requires an empty whole, for which any extent is valid.
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

/// Formats a shape for messages.
pub fn text(g: &Graph, shape: &[Dim]) -> String {
    shape_text(shape, g.symbols())
}
