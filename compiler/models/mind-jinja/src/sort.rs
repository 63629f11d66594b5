//! A stable sort by an order that may fail, or that is none.

use std::cmp::Ordering;

use crate::error::Result;

/// Sorts `all` by merging: elements stay where they are unless one is less than one in front of it.
///
/// # Errors
///
/// Those of `order`.
pub(crate) fn sort<T>(
    all: Vec<T>,
    order: &mut impl FnMut(&T, &T) -> Result<Ordering>,
) -> Result<Vec<T>> {
    if all.len() < 2 {
        return Ok(all);
    }
    let mut left = all;
    let right = left.split_off(left.len() / 2);
    let left = sort(left, order)?;
    let right = sort(right, order)?;
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = match order(b, a)? {
            Ordering::Less => right.next(),
            Ordering::Equal | Ordering::Greater => left.next(),
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}
