//! Exporter of core modules to ONNX models.
//!
//! `rows/` has a table row for each core op, with one file for each family. `operator.rs` has the used ONNX operators
//! with their first versions and dtypes. `walk.rs` visits the ops, `emit.rs` appends nodes, and `model.rs` assigns
//! names and encodes the messages.

mod draft;
mod emit;
mod extents;
pub(crate) mod functions;
mod guard;
mod kernels;
mod model;
mod operator;
mod options;
mod rows;
mod walk;

pub use options::{DEFAULT_OPSET, ExportOptions, Exported, OPSETS};

use emit::Emit;
use mind_core::solve;
use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::Graph;

/// Exports a verified core module and returns the files of the model.
///
/// # Errors
///
/// E6003 for each op that the requested version of ONNX cannot express, with the reason; E4108 for a version outside of
/// [`OPSETS`]; E6004 for a model that exceeds the size limit of the format.
pub fn write(g: &Graph, options: &ExportOptions) -> Result<Exported, Diagnostics> {
    if !OPSETS.contains(&options.opset) {
        let (first, last) = OPSETS.into_inner();
        let message = format!(
            "the operator set is {}, expected {first} to {last}",
            options.opset
        );
        return Err(Diagnostic::error(Span::FILE, message)
            .code(Code(4108))
            .into());
    }
    let expanded = expanded(g)?;
    let g = expanded.as_ref().unwrap_or(g);
    let mut e = Emit::new(g, options.opset);
    let graph = walk::module(&mut e)?;
    model::assembled(e, graph, options)
}

/// Returns a copy of the module in which ops that ONNX lacks are expanded to scans; `None` if it does not have any.
fn expanded(g: &Graph) -> Result<Option<Graph>, Diagnostics> {
    if !g.walk().any(|op| solve::is_expanded(g, op)) {
        return Ok(None);
    }
    let mut own = g.clone();
    solve::expand(&mut own).map_err(|found| Diagnostics::from(*found))?;
    Ok(Some(own))
}
