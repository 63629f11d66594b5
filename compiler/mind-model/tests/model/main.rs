//! Whole models: against a reference in double precision, and against themselves.

mod bits;
mod c;
mod document;
mod errors;
mod parity;
mod random;
mod reference;
