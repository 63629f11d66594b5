//! Doubts about rules that are well formed: sides of different types, rules that never get a turn, rules
//! that act on their own or on each other's results.

mod draw;
mod rings;
mod shadow;
mod sides;

pub(crate) use rings::rings;
pub(crate) use shadow::shadowed;
pub(crate) use sides::{Verdict, sides};
