//! From a module of core to a model.
//!
//! `rows/` says what each op is in ONNX, one file a family; `operator.rs` which operators are written, since when they are
//! and what dtypes they take. `walk.rs` goes over the ops and `emit.rs` appends nodes; `model.rs` gives values their names
//! and makes the messages.

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

/// The files of the model that a verified module of core is.
///
/// # Errors
///
/// E6003 for each op that the asked version of ONNX cannot say, with the reason; E4108 for a version outside of [`OPSETS`];
/// E6004 for a model that is larger than a file of the format can be.
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

/// A copy of the module with scans for the ops that ONNX lacks; `None` if it has none of them.
fn expanded(g: &Graph) -> Result<Option<Graph>, Diagnostics> {
    if !g.walk().any(|op| solve::is_expanded(g, op)) {
        return Ok(None);
    }
    let mut own = g.clone();
    solve::expand(&mut own).map_err(|found| Diagnostics::from(*found))?;
    Ok(Some(own))
}
