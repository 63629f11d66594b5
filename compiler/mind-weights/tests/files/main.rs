//! Weight files as a whole: written here, read by the crate.

mod corrupted;
mod gguf;
mod safetensors;
mod writers;
