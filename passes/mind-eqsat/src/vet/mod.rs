//! Doubts about rules that are well formed: sides of different types, rules that never get a turn, rules
//! that act on their own results.

mod draw;
mod shadow;
mod sides;

pub(crate) use shadow::shadowed;
pub(crate) use sides::{Verdict, sides};
