//! Weight files as a whole: written here, read by the crate.

mod blocks;
mod corrupted;
mod gguf;
mod safetensors;
mod split;
mod writers;
