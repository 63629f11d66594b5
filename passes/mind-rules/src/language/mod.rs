//! The language of rule files: lexer, parser, checker, compiler and formatter.

pub(crate) mod ast;
mod check;
mod condition;
mod cursor;
mod expand;
mod expression;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod lex;
pub(crate) mod names;
mod op_list;
pub(crate) mod ops;
mod parse;
mod pattern;
mod template;
mod terms;
mod written;

pub(crate) use check::{LoadCx, compile, load};
pub(crate) use header::RuleLocation;
pub(crate) use op_list::listed;
pub(crate) use parse::parse_from;
