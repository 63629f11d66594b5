//! Lists of integers.

/// The longest list that a rule may build.
const MAX_LEN: usize = 64;

/// Returns `value` repeated `len` times.
pub(super) fn repeat(value: i64, len: usize) -> Option<Vec<i64>> {
    (len <= MAX_LEN).then(|| vec![value; len])
}

/// Returns `list` with `value` at index `at`, which counts from the end if negative.
pub(super) fn replace(list: &[i64], at: i64, value: i64) -> Option<Vec<i64>> {
    let front = match at {
        0.. => at,
        _ => at.checked_add(list.len() as i64)?,
    };
    let mut list = list.to_vec();
    *list.get_mut(usize::try_from(front).ok()?)? = value;
    Some(list)
}

/// Returns `list` with `value` inserted such that it is at the indices `at` of the result; `at` is ascending. For
/// example, 0 spread over `[7, 8]` at `[0, 2]` is `[0, 7, 0, 8]`.
pub(super) fn spread(list: &[i64], at: &[i64], value: i64) -> Option<Vec<i64>> {
    let mut spread = list.to_vec();
    for &entry in at {
        let entry = usize::try_from(entry).ok()?;
        if entry > spread.len() || spread.len() >= MAX_LEN {
            return None;
        }
        spread.insert(entry, value);
    }
    Some(spread)
}

/// Combines two lists elementwise; `None` if their lengths differ.
pub(super) fn each(a: &[i64], b: &[i64], combine: fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(&a, &b)| combine(a, b)).collect()
}

/// Returns the entries of both lists, ascending and without duplicates.
pub(super) fn union(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns whether `permutation` keeps the entries of `list` that are not 1 in order; entry `permutation[i]` moves to
/// `i`. `None` if the permutation has an index out of bounds.
pub(super) fn moves_ones(permutation: &[i64], list: &[i64]) -> Option<bool> {
    let is_one = |&from: &i64| Some(*list.get(usize::try_from(from).ok()?)? == 1);
    let ones: Vec<bool> = permutation.iter().map(is_one).collect::<Option<_>>()?;
    let moved = permutation.iter().zip(ones).filter(|(_, is_one)| !is_one);
    let moved: Vec<i64> = moved.map(|(&from, _)| from).collect();
    Some(ascends(&moved))
}

/// Returns the position of each entry in sorted order.
pub(super) fn ranking(list: &[i64]) -> Vec<i64> {
    let below = |entry: i64| list.iter().filter(|&&other| other < entry).count();
    list.iter().map(|&entry| below(entry) as i64).collect()
}

/// Returns whether the list is strictly ascending.
pub(super) fn ascends(list: &[i64]) -> bool {
    list.windows(2).all(|pair| pair[0] < pair[1])
}

/// Returns whether the entries are consecutive integers.
pub(super) fn is_run(list: &[i64]) -> bool {
    list.windows(2)
        .all(|pair| pair[0].checked_add(1) == Some(pair[1]))
}

/// Returns whether both lists are equal except at index `at`.
pub(super) fn equal_but(a: &[i64], b: &[i64], at: usize) -> bool {
    let differs = |entry: usize| entry != at && a[entry] != b[entry];
    a.len() == b.len() && !(0..a.len()).any(differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spread_to_where_they_are_to_stand() {
        assert_eq!(spread(&[7, 8], &[0, 2], 0), Some(vec![0, 7, 0, 8]));
        assert_eq!(spread(&[], &[1], 0), None);
    }

    #[test]
    fn only_ones_are_moved() {
        assert_eq!(moves_ones(&[0, 2, 3, 1], &[1, 1, 3, 3]), Some(true));
        assert_eq!(moves_ones(&[0, 2, 3, 1], &[1, 2, 3, 3]), Some(false));
        assert_eq!(moves_ones(&[1], &[1]), None);
    }

    #[test]
    fn rankings_are_the_positions_after_sorting() {
        assert_eq!(ranking(&[5, 1, 3]), [2, 0, 1]);
    }

    #[test]
    fn entries_count_from_the_end_where_negative() {
        assert_eq!(replace(&[1, 2], -1, 9), Some(vec![1, 9]));
        assert_eq!(replace(&[1, 2], -3, 9), None);
    }
}
