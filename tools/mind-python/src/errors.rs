//! Errors of the crate `mind` as Python exceptions.

use std::io::ErrorKind;

use mind::{Diagnostic, Diagnostics, Error, ExecutionError, FileError, RunError, SourceFile};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// Returns the exception for an error: the text that the tools print, and its parts as attributes.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let file = match error {
        Error::Rejected(rejected) => Some(&*rejected.file),
        _ => None,
    };
    made(
        py,
        class(error),
        &error.to_string(),
        error.diagnostics(),
        file,
    )
}

/// Returns an exception of a class of `mind_opt` with a message and a help.
pub(crate) fn error(py: Python<'_>, class: &str, message: &str, help: Option<&str>) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let class = errors(py)?.getattr(class)?;
        class.call1((message, py.None(), py.None(), help))
    };
    made().map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns the exception class of an error.
fn class(error: &Error) -> &'static str {
    match error {
        Error::File(FileError::System { source, .. }) => match source.kind() {
            ErrorKind::NotFound => "FileNotFound",
            _ => "FileError",
        },
        Error::File(FileError::Package { .. }) => "FileError",
        Error::Rejected(_) => "RejectedError",
        Error::Op(_) => "OpError",
        Error::Execution(ExecutionError::Compile(_)) => "CompileError",
        Error::Execution(ExecutionError::Run(RunError::Count { .. } | RunError::Size { .. })) => {
            "ArrayError"
        }
        Error::Execution(ExecutionError::Run(_)) => "RunError",
        Error::Execution(_) => "ArrayError",
        Error::Patch(_) => "PatchError",
        Error::Files(_) | Error::Model(_) | Error::Text(_) => "ModelError",
        _ => "MindError",
    }
}

fn made(
    py: Python<'_>,
    class: &str,
    message: &str,
    found: Option<&Diagnostics>,
    file: Option<&SourceFile>,
) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let all = found.map(|found| listed(py, found, file)).transpose()?;
        let first = found.and_then(Diagnostics::first_error);
        let code = first
            .and_then(|first| first.code)
            .map(|code| code.to_string());
        let place = first.map(|first| place(py, first, file)).transpose()?;
        let help = first.and_then(Diagnostic::way_out);
        let class = errors(py)?.getattr(class)?;
        class.call1((message, code, place, help, all))
    };
    made().map_or_else(|failed| failed, PyErr::from_value)
}

/// Returns diagnostics as a list of `Diagnostic`.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    found: &Diagnostics,
    file: Option<&SourceFile>,
) -> PyResult<Bound<'py, PyList>> {
    let class = errors(py)?.getattr(intern!(py, "Diagnostic"))?;
    let each = found.iter().map(|own| {
        class.call1((
            own.severity.word(),
            own.code.map(|code| code.to_string()),
            own.message.as_str(),
            place(py, own, file)?,
            own.way_out(),
            PyTuple::new(py, &own.notes)?,
        ))
    });
    PyList::new(py, each.collect::<PyResult<Vec<_>>>()?)
}

/// Returns the location of a diagnostic; `None` if it is not about a file.
fn place<'py>(
    py: Python<'py>,
    own: &Diagnostic,
    file: Option<&SourceFile>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(file) = file else {
        return Ok(py.None().into_bound(py));
    };
    let (line, column) = file.position(own.span);
    let within = |number: usize| (line > 0).then_some(number);
    let class = errors(py)?.getattr(intern!(py, "Place"))?;
    class.call1((file.name(), within(line), within(column)))
}

fn errors(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "mind_opt._errors"))
}
