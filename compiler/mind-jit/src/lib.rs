//! Machine code for the loops of a module: a vector-level IR and what turns it into instructions.
//!
//! - [`target`]: instruction sets, and what a lowering asks of one.
//! - [`code`]: executable memory.

pub mod code;
pub mod target;
