//! Rule files: reading, checking, compiling.

mod ast;
mod check;
mod lex;
mod names;
mod parse;
mod pattern;
mod template;

pub(crate) use check::load;
