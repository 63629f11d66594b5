//! Positions for the diagnostics of a package.

use mind_diag::Span;

use super::error::shown;
use crate::package::proto::Operation;

/// Maximum length in bytes of a list that spans refer to.
const LONGEST: usize = u32::MAX as usize / 2;

/// A list of the parts of a program, one per line.
#[derive(Default)]
pub(super) struct Places {
    pub(super) list: String,
}

impl Places {
    /// Appends the line `path` and returns its span.
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

/// Returns the label of an operation in a diagnostic: its type and the name of its first result, for example `relu
/// "y"`.
pub(super) fn called(operation: &Operation) -> String {
    let op = shown(&operation.r#type);
    match operation.outputs.first() {
        Some(output) => format!("{op} \"{}\"", shown(&output.name)),
        None => op,
    }
}
