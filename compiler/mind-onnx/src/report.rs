//! What of a model cannot be imported, all of it at once.

use indexmap::{IndexMap, IndexSet};
use mind_diag::{Diagnostic, Diagnostics, Severity, Span};

/// What of a model cannot be imported.
#[derive(Default)]
pub(crate) struct Report {
    /// The nodes that cannot, by operator and reason.
    nodes: IndexMap<Refusal, Nodes>,
    /// What is wrong with the model itself.
    model: Vec<String>,
    /// The nodes that are imported with a warning, by operator and warning.
    warned: IndexMap<Refusal, IndexSet<String>>,
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

    /// Warns of a node that is imported.
    pub fn warn(&mut self, warning: Refusal, node: String) {
        self.warned.entry(warning).or_default().insert(node);
    }

    pub fn model(&mut self, problem: impl Into<String>) {
        self.model.push(problem.into());
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.model.is_empty()
    }

    /// The warnings of a model that is imported, one for each operator and reason.
    pub fn warnings(self) -> Diagnostics {
        let warned = self.warned.into_iter();
        let warned = warned.filter_map(|(warning, nodes)| {
            let (count, first) = (nodes.len(), nodes.into_iter().next()?);
            Some(warning.diagnostic(Severity::Warning, count, first))
        });
        let mut found = Diagnostics::new();
        warned.for_each(|warning| found.push(warning));
        found
    }

    /// An error for each operator and reason, and for each problem of the model.
    pub fn diagnostics(self) -> Diagnostics {
        let model = self.model.into_iter();
        let model = model.map(|problem| Diagnostic::error(Span::FILE, problem));
        let nodes = self.nodes.into_iter();
        let nodes = nodes
            .map(|(refusal, nodes)| refusal.diagnostic(Severity::Error, nodes.count, nodes.first));
        let mut found = Diagnostics::new();
        for diagnostic in model.chain(nodes) {
            found.push(diagnostic);
        }
        found
    }
}

impl Refusal {
    /// The diagnostic of `count` nodes, of which the first is `first`.
    fn diagnostic(self, severity: Severity, count: usize, first: String) -> Diagnostic {
        let Refusal {
            operator,
            opset,
            reason,
            help,
        } = self;
        let which = match count {
            1 => format!("node `{first}`"),
            _ => format!("{count} nodes, of which the first is `{first}`"),
        };
        let message = format!("`{operator}` of opset {opset}: {reason}: {which}");
        let found = Diagnostic::new(severity, Span::FILE, message);
        let found = match help {
            Some(help) => found.help(help),
            None => found,
        };
        found
            .context("operator", operator)
            .context("opset", opset.to_string())
            .context("count", count.to_string())
            .context("node", first)
            .context("reason", reason)
    }
}
