//! The places that diagnostics of a package name.

use mind_diag::Span;

use super::error::shown;
use crate::package::proto::Operation;

/// Bytes of a list that spans can name a place in.
const LONGEST: usize = u32::MAX as usize / 2;

/// A list of the parts of a program, one a line.
#[derive(Default)]
pub(super) struct Places {
    pub(super) list: String,
}

impl Places {
    /// Adds the place `path`, whose span is returned.
    pub(super) fn add(&mut self, path: &str) -> Span {
        let start = self.list.len();
        if start > LONGEST {
            return Span::FILE;
        }
        self.list.push_str(path);
        self.list.push('\n');
        Span::new(start as u32, (start + path.len()) as u32)
    }
}

/// What an operation is called in a diagnostic: `relu "y"`, its type and name, or that of its first result.
pub(super) fn called(operation: &Operation) -> String {
    let op = shown(&operation.r#type);
    match operation.outputs.first() {
        Some(output) => format!("{op} \"{}\"", shown(&output.name)),
        None => op,
    }
}
