//! Op tables split into families, put together when compiling.

use super::OpDef;

/// How many ops the families have together.
pub const fn count(families: &[&[&'static OpDef]]) -> usize {
    let (mut count, mut family) = (0, 0);
    while family < families.len() {
        count += families[family].len();
        family += 1;
    }
    count
}

/// The ops of all families in order. Panics unless they are `N`, and at least one.
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
