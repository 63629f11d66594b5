//! MIL text and packages through the crate's public interface.

mod package;
mod read;
mod text;
