//! Lints of well-formed rules: sides of different types, rules that can never fire, rules that never end because they
//! rewrite their own or each other's results.

mod draw;
mod rings;
mod shadow;
mod sides;

pub(crate) use rings::rings;
pub(crate) use shadow::shadowed;
pub(crate) use sides::{Verdict, sides};
