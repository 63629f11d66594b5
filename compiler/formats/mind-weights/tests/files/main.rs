//! Tests of whole weight files, which are written by the tests and read by the crate.

mod blocks;
mod corrupted;
mod gguf;
mod safetensors;
mod split;
mod writers;
