//! All refusals and warnings of an import.

use indexmap::IndexMap;
use mind_diag::{Code, Diagnostic, Diagnostics, Severity, Span};
use mind_ir::Graph;

use crate::Refusal;

/// An imported module.
pub struct Imported {
    /// The module.
    pub module: Graph,
    /// Contradictions of the model, and how they were read.
    pub warnings: Diagnostics,
}

/// An op of a foreign model.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its name, with its domain or dialect if messages need it.
    pub operator: String,
    /// The version of its operator set, for formats that have one.
    pub opset: Option<i64>,
    /// The name of the node, for formats without text.
    pub node: Option<String>,
    /// Its position, for formats that are text.
    pub span: Span,
    /// Its operands with their types, for example "`x` is f32[2, 3]".
    pub operands: Vec<String>,
}

/// Refused ops and parts of a model, and warnings.
#[derive(Default)]
pub struct Report {
    /// The ops, by operator, version and reason.
    ops: IndexMap<(String, Option<i64>, Refusal), Sites>,
    /// Errors of the model itself.
    model: Vec<(Span, Refusal)>,
    warnings: Diagnostics,
}

/// The ops that are refused for one reason.
struct Sites {
    count: usize,
    first: Site,
}

impl Report {
    /// Adds an op. It is not reported if its refusal follows from that of another one.
    pub fn op(&mut self, refusal: Refusal, site: Site) {
        if refusal.follows() {
            return;
        }
        let key = (site.operator.clone(), site.opset, refusal);
        let sites = self.ops.entry(key).or_insert(Sites {
            count: 0,
            first: site,
        });
        sites.count += 1;
    }

    /// Adds a part of the model that is not an op.
    pub fn model(&mut self, span: Span, refusal: Refusal) {
        self.model.push((span, refusal));
    }

    /// Warns that the declared type of `what` contradicts the inferred one, which is used.
    pub fn contradiction(&mut self, span: Span, what: &str, declared: &str, inferred: &str) {
        let message = format!("{what} is declared as {declared}, inferred as {inferred}");
        let warning = Diagnostic::new(Severity::Warning, span, message)
            .code(Code(2001))
            .context("expected", declared)
            .context("found", inferred)
            .help("the inferred type is used; correct the declaration, or the op that computes the value");
        self.warning(warning);
    }

    /// Adds a warning unless it was added before, because a graph may be imported more than once.
    pub fn warning(&mut self, warning: Diagnostic) {
        if !self.warnings.iter().any(|own| *own == warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns the module with its warnings if nothing was refused.
    ///
    /// # Errors
    ///
    /// An error for each operator and reason, and for each other part of the model, after the warnings.
    pub fn imported(self, module: Graph) -> Result<Imported, Diagnostics> {
        let mut found = self.warnings;
        if self.ops.is_empty() && self.model.is_empty() {
            return Ok(Imported {
                module,
                warnings: found,
            });
        }
        for (span, refusal) in &self.model {
            found.push(refusal.error(*span, refusal.to_string()));
        }
        for ((_, _, refusal), sites) in self.ops {
            found.push(sites.error(&refusal));
        }
        Err(found)
    }
}

impl Sites {
    fn error(self, refusal: &Refusal) -> Diagnostic {
        let Sites { count, first } = self;
        let operator = &first.operator;
        let mut message = match first.opset {
            Some(opset) => format!("`{operator}` of opset {opset}: {refusal}"),
            None => format!("`{operator}`: {refusal}"),
        };
        match &first.node {
            Some(node) if count == 1 => message += &format!(": node `{node}`"),
            Some(node) => {
                message += &format!(": {count} nodes, of which the first is `{node}`");
            }
            None => {}
        }
        let mut error = refusal.error(first.span, message);
        if first.node.is_none() && count > 1 {
            let own = error.label.take().map(|label| format!("{label}; "));
            error = error.label(format!("{}the first of {count}", own.unwrap_or_default()));
        }
        if refusal.concerns_operands() && !first.operands.is_empty() {
            error = error.note(first.operands.join(", "));
        }
        error = error.context("operator", first.operator);
        if let Some(opset) = first.opset {
            error = error.context("opset", opset.to_string());
        }
        error = error.context("count", count.to_string());
        if let Some(node) = first.node {
            error = error.context("node", node);
        }
        error.context("reason", refusal.message())
    }
}
