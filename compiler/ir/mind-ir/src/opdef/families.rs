//! Op tables that are split into families and joined at compile time.

use super::OpDef;

/// Returns the number of ops of all families.
pub const fn count(families: &[&[&'static OpDef]]) -> usize {
    let (mut count, mut family) = (0, 0);
    while family < families.len() {
        count += families[family].len();
        family += 1;
    }
    count
}

/// Returns the ops of all families, in order.
///
/// # Panics
///
/// If the number of ops is not `N`, or the first family is empty.
pub const fn join<const N: usize>(families: &[&[&'static OpDef]]) -> [&'static OpDef; N] {
    assert!(count(families) == N, "every op has its place");
    let mut all = [families[0][0]; N];
    let (mut at, mut family) = (0, 0);
    while family < families.len() {
        let mut row = 0;
        while row < families[family].len() {
            all[at] = families[family][row];
            (at, row) = (at + 1, row + 1);
        }
        family += 1;
    }
    all
}
