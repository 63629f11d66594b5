//! The command-line tools, which the wheel installs as console scripts.

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs a tool with these arguments on the streams of the process. Returns its exit code. `itself` is the command that
/// runs the same tool again.
#[pyfunction]
pub(crate) fn run_tool(
    py: Python<'_>,
    name: &str,
    args: Vec<String>,
    itself: Vec<OsString>,
) -> PyResult<u8> {
    let tool = match name {
        "mind-fmt" => mind_fmt::run,
        "mind-opt" => mind_opt::run,
        "mind-reduce" => mind_reduce::run,
        "mind-run" => mind_run::run,
        "mind-translate" => mind_translate::run,
        "mind-lsp" => return Ok(py.detach(|| mind_lsp::run(&args))),
        _ => return Err(PyValueError::new_err(format!("unknown tool `{name}`"))),
    };
    Ok(py.detach(|| mind_host::run(tool, &args, Some(itself))))
}
