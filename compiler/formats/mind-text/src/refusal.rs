//! Errors for ops that a format cannot express.

use mind_diag::Diagnostic;
use mind_ir::OpId;
use mind_ir::graph::Graph;

/// Why a format cannot express an op: the end of a sentence whose subject is the op and its value.
pub(crate) type Refusal = String;

/// Returns the error for an op that `format` cannot express; `value` is the format's prefix of value ids.
#[cold]
pub(crate) fn refused(
    g: &Graph,
    op: OpId,
    refusal: &str,
    [format, value]: [&str; 2],
) -> Diagnostic {
    let name = g.def(op).short_name();
    let result = g.results(op).iter().next();
    let label = result.map(|result| format!(" ({value}{})", g.label(result)));
    let label = label.unwrap_or_default();
    let message = format!("'{name}'{label} cannot be written in {format}: it {refusal}");
    Diagnostic::error(g.span(op), message)
        .context("op", name)
        .help("Core text can say every module")
}
