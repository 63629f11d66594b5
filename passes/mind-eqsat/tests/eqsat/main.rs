//! Tests of folding, fusion and rule files.

mod constants;
mod fold;
mod fuse;
mod fuse_groups;
mod generate;
mod listening;
mod merge;
mod new_op;
mod random;
mod recognised;
mod repeats;
mod rule_language;
mod shipped;
mod support;
mod text;
