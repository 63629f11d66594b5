//! The op tables, by family.

pub mod constant;
pub mod contract;
pub mod conv;
pub mod elementwise;
pub mod fused;
pub mod index;
pub mod input;
pub mod join;
pub mod normalize;
pub mod reduce;
pub mod shape;

use mind_ir::opdef::OpDef;

const FAMILIES: [&[&OpDef]; 11] = [
    input::OPS,
    constant::OPS,
    elementwise::OPS,
    reduce::OPS,
    shape::OPS,
    index::OPS,
    join::OPS,
    contract::OPS,
    conv::OPS,
    normalize::OPS,
    fused::OPS,
];

const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// Every op of the dialect, family by family.
pub const OPS: &[&OpDef] = &{
    let mut all = [FAMILIES[0][0]; COUNT];
    let (mut at, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut row = 0;
        while row < FAMILIES[family].len() {
            all[at] = FAMILIES[family][row];
            (at, row) = (at + 1, row + 1);
        }
        family += 1;
    }
    all
};
