//! Programs of MIL compute what the modules do that they were lowered from, as near as halves can.

mod ane;
mod compositions;
mod control;
mod coverage;
mod every_op;
mod integers;
mod module;
mod rules;
mod runtime_shape;
mod square;
