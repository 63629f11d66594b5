//! Whole models against a reference in double precision, and against other ways of running them.

#[path = "../../../../formats/mind-weights/tests/files/writers.rs"]
#[allow(dead_code, reason = "each test binary needs some of the writers")]
mod writers;

mod audio;
mod bart_reference;
mod beam;
mod bits;
mod c;
#[path = "../described/mod.rs"]
mod described;
mod document;
mod encoder;
mod encoder_gguf;
mod encoder_reference;
mod errors;
mod families;
mod files;
mod gguf;
mod image;
mod memory;
mod pair;
mod pair_reference;
mod panels;
mod parity;
mod random;
mod reference;
mod sentence;
mod stored;
mod table;
mod tokenizer;
mod window;
