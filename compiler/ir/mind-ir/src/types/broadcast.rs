//! The broadcasting rule.

use super::{Dim, Shape};

/// The first dimension along which two shapes do not broadcast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BroadcastClash {
    /// Position in the aligned result shape, from 0.
    pub dimension: usize,
    /// The extent of the left shape.
    pub lhs: Dim,
    /// The extent of the right shape.
    pub rhs: Dim,
}

/// Returns the shape that two shapes broadcast to. They are aligned at the right; each pair of extents must be equal,
/// or one of them 1. A `?` paired with a known extent above 1 takes that extent, which is checked at run time.
///
/// # Errors
///
/// The leftmost dimension where the extents do not fit.
pub fn broadcast(lhs: &[Dim], rhs: &[Dim]) -> Result<Shape, BroadcastClash> {
    let rank = lhs.len().max(rhs.len());
    let aligned = |shape: &[Dim], at: usize| match (at + shape.len()).checked_sub(rank) {
        Some(index) => shape[index],
        None => Dim::Fixed(1),
    };
    let pair = |at: usize| {
        let (l, r) = (aligned(lhs, at), aligned(rhs, at));
        extent(l, r).ok_or(BroadcastClash {
            dimension: at,
            lhs: l,
            rhs: r,
        })
    };
    (0..rank).map(pair).collect()
}

fn extent(lhs: Dim, rhs: Dim) -> Option<Dim> {
    match (lhs, rhs) {
        (Dim::Fixed(1), other) | (other, Dim::Fixed(1)) => Some(other),
        (Dim::Dynamic, Dim::Fixed(known)) | (Dim::Fixed(known), Dim::Dynamic) => {
            Some(Dim::Fixed(known))
        }
        (Dim::Dynamic, _) | (_, Dim::Dynamic) => Some(Dim::Dynamic),
        (l, r) => (l == r).then_some(l),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::Symbols;

    #[test]
    fn the_table_of_pairs() {
        let mut symbols = Symbols::default();
        let (b, c) = (
            Dim::Symbol(symbols.intern("B")),
            Dim::Symbol(symbols.intern("C")),
        );
        let (one, six, open) = (Dim::Fixed(1), Dim::Fixed(6), Dim::Dynamic);
        let cases = [
            (b, b, Some(b)),
            (b, one, Some(b)),
            (b, c, None),
            (b, six, None),
            (open, one, Some(open)),
            (open, six, Some(six)),
            (open, b, Some(open)),
            (open, open, Some(open)),
            (six, Dim::Fixed(7), None),
        ];
        for (lhs, rhs, expected) in cases {
            assert_eq!(
                broadcast(&[lhs], &[rhs]).ok().map(|shape| shape[0]),
                expected
            );
            assert_eq!(
                broadcast(&[rhs], &[lhs]).ok().map(|shape| shape[0]),
                expected
            );
        }
    }

    #[test]
    fn aligns_at_the_right_and_names_the_leftmost_clash() {
        let fixed = |dims: &[i64]| -> Shape { dims.iter().copied().map(Dim::Fixed).collect() };
        assert_eq!(
            broadcast(&fixed(&[8, 1, 6]), &fixed(&[7, 1])),
            Ok(fixed(&[8, 7, 6]))
        );
        assert_eq!(broadcast(&fixed(&[]), &fixed(&[2])), Ok(fixed(&[2])));
        let clash = broadcast(&fixed(&[2, 3, 4]), &fixed(&[5, 6])).unwrap_err();
        assert_eq!(
            (clash.dimension, clash.lhs, clash.rhs),
            (1, Dim::Fixed(3), Dim::Fixed(5))
        );
    }
}
