//! Rule files: reading, checking, compiling.

mod ast;
mod check;
mod cursor;
mod expand;
mod lex;
mod names;
mod parse;
mod pattern;
mod template;
mod terms;

pub(crate) use check::load;
