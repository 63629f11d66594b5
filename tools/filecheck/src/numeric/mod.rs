//! Numbers in patterns: `[[#%x,NAME: EXPR]]`.

mod expression;
mod format;
mod integer;

pub use expression::{Expression, NumberId, Term};
pub use format::{Format, Notation};
pub use integer::{Integer, Operation, from_digits};
