//! What of a module cannot be imported, all of it at once.

use indexmap::IndexMap;
use mind_diag::{Diagnostic, Diagnostics, Span};

use crate::refused::Refused;

/// What of a module cannot be imported.
#[derive(Default)]
pub(crate) struct Report {
    /// The operations that cannot, by op and reason.
    operations: IndexMap<(String, String), Operations>,
    /// What is wrong with the module itself.
    module: Vec<(Span, String)>,
}

struct Operations {
    count: usize,
    first: Span,
}

impl Report {
    pub fn operation(&mut self, op: &str, refused: Refused, span: Span) {
        let found = self.operations.entry((op.to_owned(), refused.0));
        let found = found.or_insert(Operations {
            count: 0,
            first: span,
        });
        found.count += 1;
    }

    pub fn module(&mut self, span: Span, problem: impl Into<String>) {
        self.module.push((span, problem.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.module.is_empty()
    }

    /// An error for each op and reason, and for each problem of the module.
    pub fn diagnostics(self) -> Diagnostics {
        let module = self.module.into_iter();
        let module = module.map(|(span, problem)| Diagnostic::error(span, problem));
        let operations = self.operations.into_iter().map(|((op, reason), found)| {
            let Operations { count, first } = found;
            let found = Diagnostic::error(first, format!("`{op}`: {reason}"));
            let found = match count {
                1 => found,
                _ => found.label(format!("the first of {count}")),
            };
            found
                .context("operator", op)
                .context("count", count.to_string())
                .context("reason", reason)
        });
        let mut found = Diagnostics::new();
        for diagnostic in module.chain(operations) {
            found.push(diagnostic);
        }
        found
    }
}
