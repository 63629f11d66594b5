//! Whole models: against a reference in double precision, and against themselves.

mod bits;
mod c;
mod document;
mod errors;
mod gguf;
mod memory;
mod parity;
mod random;
mod reference;
mod table;
