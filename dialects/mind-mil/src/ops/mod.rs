//! The op tables, by family.

pub mod activation;
pub mod binary;
pub mod control;
pub mod conv;
pub mod image;
pub mod index;
pub mod linear;
pub mod movement;
pub mod normalization;
pub mod pool;
pub mod quantize;
pub mod random;
pub mod recurrent;
pub mod reduction;
pub mod tensor;
pub mod unary;

use std::sync::LazyLock;

use mind_ir::opdef::OpDef;
use rustc_hash::FxHashMap;

use crate::row::MilOp;
use crate::structure;

const FAMILIES: [&[&MilOp]; 16] = [
    activation::ROWS,
    unary::ROWS,
    binary::ROWS,
    reduction::ROWS,
    normalization::ROWS,
    linear::ROWS,
    conv::ROWS,
    pool::ROWS,
    movement::ROWS,
    tensor::ROWS,
    index::ROWS,
    image::ROWS,
    quantize::ROWS,
    control::ROWS,
    random::ROWS,
    recurrent::ROWS,
];

const fn count() -> usize {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
}

const fn rows() -> [&'static MilOp; count()] {
    let mut all = [FAMILIES[0][0]; count()];
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
}

const fn defs() -> [&'static OpDef; structure::OPS.len() + count()] {
    let mut all = [structure::OPS[0]; structure::OPS.len() + count()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < structure::OPS.len() {
            structure::OPS[at]
        } else {
            &ROWS[at - structure::OPS.len()].def
        };
        at += 1;
    }
    all
}

/// The rows of every op that has signatures, family by family.
pub const ROWS: &[&MilOp] = &rows();

/// The table entries of the dialect: the ops of a program's structure, then those with a row.
pub const OPS: &[&OpDef] = &defs();

static BY_NAME: LazyLock<FxHashMap<&'static str, &'static MilOp>> =
    LazyLock::new(|| ROWS.iter().map(|row| (row.name, *row)).collect());

/// Returns the row of the op called `name` in text.
pub fn named(name: &str) -> Option<&'static MilOp> {
    BY_NAME.get(name).copied()
}

/// Returns the row of a table entry; `None` for the ops of a program's structure and of other dialects.
pub fn row(def: &OpDef) -> Option<&'static MilOp> {
    named(def.name.strip_prefix("mil.")?)
}
