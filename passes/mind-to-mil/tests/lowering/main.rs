//! MIL programs compute the same as the modules they were lowered from, within the precision of the program.

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
