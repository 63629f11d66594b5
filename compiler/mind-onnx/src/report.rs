//! What of a model cannot be imported, all of it at once.

use indexmap::IndexMap;
use mind_diag::{Diagnostic, Diagnostics, Span};

/// What of a model cannot be imported.
#[derive(Default)]
pub(crate) struct Report {
    /// The nodes that cannot, by operator and reason.
    nodes: IndexMap<Refusal, Nodes>,
    /// What is wrong with the model itself.
    model: Vec<String>,
}

/// An operator, and why nodes of it are refused.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Refusal {
    /// The operator, with its domain unless that is ONNX's own.
    pub operator: String,
    /// The version of its operator set.
    pub opset: i64,
    /// Why.
    pub reason: String,
    /// The way out, if there is one that the reason does not name.
    pub help: Option<String>,
}

struct Nodes {
    count: usize,
    first: String,
}

impl Report {
    pub fn node(&mut self, refusal: Refusal, node: String) {
        let found = self.nodes.entry(refusal);
        let found = found.or_insert(Nodes {
            count: 0,
            first: node,
        });
        found.count += 1;
    }

    pub fn model(&mut self, problem: impl Into<String>) {
        self.model.push(problem.into());
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.model.is_empty()
    }

    /// An error for each operator and reason, and for each problem of the model.
    pub fn diagnostics(self) -> Diagnostics {
        let model = self.model.into_iter();
        let model = model.map(|problem| Diagnostic::error(Span::FILE, problem));
        let nodes = self.nodes.into_iter().map(|(refusal, nodes)| {
            let Refusal {
                operator,
                opset,
                reason,
                help,
            } = refusal;
            let Nodes { count, first } = nodes;
            let which = match count {
                1 => format!("node `{first}`"),
                _ => format!("{count} nodes, of which the first is `{first}`"),
            };
            let error = Diagnostic::error(
                Span::FILE,
                format!("`{operator}` of opset {opset}: {reason}: {which}"),
            );
            let error = match help {
                Some(help) => error.help(help),
                None => error,
            };
            error
                .context("operator", operator)
                .context("opset", opset.to_string())
                .context("count", count.to_string())
                .context("node", first)
                .context("reason", reason)
        });
        let mut found = Diagnostics::new();
        for diagnostic in model.chain(nodes) {
            found.push(diagnostic);
        }
        found
    }
}
