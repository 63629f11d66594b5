//! Rule files: reading, checking, compiling.

pub(crate) mod ast;
mod check;
mod condition;
mod cursor;
mod expand;
mod expression;
pub(crate) mod format;
mod header;
pub(crate) mod lex;
pub(crate) mod names;
mod op_list;
pub(crate) mod ops;
mod parse;
mod pattern;
mod template;
mod terms;
mod written;

pub(crate) use check::{LoadCx, load, load_one};
pub(crate) use header::RuleLocation;
