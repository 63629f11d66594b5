//! Why an op cannot be written.

use mind_diag::Diagnostic;
use mind_ir::OpId;
use mind_ir::graph::Graph;

/// Why an op cannot be said in a format, as the end of a sentence that names the op and its value.
pub(crate) type Refusal = String;

/// The error for an op that `format` cannot say; `value` is what stands there before the number of a value.
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
