//! Tests of folding, fusion and rule files.

mod fold;
mod fuse;
mod generate;
mod random;
mod support;
