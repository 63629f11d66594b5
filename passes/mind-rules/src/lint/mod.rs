//! Lints of well-formed rules: sides of different types, rules shadowed by earlier ones, and rules that rewrite their
//! own or each other's results forever.

mod draw;
mod rings;
mod shadow;
mod sides;

pub(crate) use rings::rings;
pub(crate) use shadow::shadowed;
pub(crate) use sides::{Verdict, sides};
