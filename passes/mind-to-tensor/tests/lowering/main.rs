//! The lowering keeps every bit: of every op, dtype and way to declare its shapes, and of random modules.

mod coverage;
mod every_op;
mod module;
mod open_extents;
mod random;
