//! A small shell, like the internal one of LLVM's lit but stricter.
//!
//! It runs all commands in this process. It supports pipes with pipefail, `&&`, `||`, `;`, redirections and a fixed set
//! of commands, and reports an error for anything else.

pub mod builtin;
pub mod exec;
pub mod lex;
pub mod parse;
pub mod redirect;

use thiserror::Error;

pub use exec::{CommandRun, Shell};
pub use parse::{List, parse};

/// Why a command cannot be run. Tests cannot expect these errors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message says it")]
pub enum ShellError {
    #[error("missing quote `{0}`")]
    Quote(char),
    #[error("unquoted `{0}`: no file names are expanded here, quote the word")]
    Glob(char),
    #[error("a word begins with `\\`, which LLVM's lit takes literally: quote the word")]
    LeadingEscape,
    #[error("`\\` at the end of the command")]
    TrailingEscape,
    #[error("`{0}` is not supported")]
    Operator(String),
    #[error("expected a {expected} {place}")]
    Syntax {
        expected: &'static str,
        place: String,
    },
    #[error("unknown command `{0}`; known are the tools, FileCheck, not, env and {known}", known = builtin::names())]
    UnknownCommand(String),
    #[error("`{0}` accepts a crash as a failure: use `not`")]
    Bang(String),
    #[error("`{prefix}` can't call `{command}`")]
    Prefix {
        prefix: &'static str,
        command: String,
    },
    #[error("`{0}` can't be part of a pipeline")]
    Piped(String),
    #[error("`{0}` can't be redirected like that")]
    Redirected(String),
    #[error("`{0}` is used twice in one pipeline, whose commands may run at the same time")]
    Conflict(String),
    #[error("`{command}` doesn't take `{argument}` here")]
    Argument { command: String, argument: String },
    #[error("`{command}` expects {expected}")]
    Operands {
        command: String,
        expected: &'static str,
    },
    #[error("`{0}` is outside the test's own folder, so it is not written: use `%t`")]
    Outside(String),
    #[error("{path}: {problem}")]
    File { path: String, problem: String },
}
