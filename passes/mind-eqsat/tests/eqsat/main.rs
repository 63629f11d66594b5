//! Tests of folding, fusion and rule files.

mod constants;
mod fold;
mod fuse;
mod fuse_groups;
mod generate;
mod merge;
mod random;
mod recognised;
mod rule_files;
mod shipped;
mod support;
mod text;
