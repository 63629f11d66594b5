//! The lowering keeps every bit: of every op, dtype and declaration of shapes, and of random modules.

mod coverage;
mod every_op;
mod module;
mod open_extents;
mod random;
