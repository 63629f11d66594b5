//! Inputs, weights and outputs.

use mind::{Extent, Type};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// An input, weight or output.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Port {
    /// Its name.
    #[pyo3(get)]
    name: String,
    ty: Type,
}

impl Port {
    pub(crate) fn new(name: impl Into<String>, ty: Type) -> Port {
        Port {
            name: name.into(),
            ty,
        }
    }

    pub(crate) fn called(&self) -> String {
        self.name.clone()
    }

    pub(crate) fn ty_text(&self) -> String {
        self.ty.to_string()
    }

    pub(crate) fn text(&self) -> String {
        format!("{}: {}", self.name, self.ty)
    }

    pub(crate) fn of(ports: &[mind::Port]) -> Vec<Port> {
        let port = |own: &mind::Port| Port::new(&own.name, own.ty.clone());
        ports.iter().map(port).collect()
    }
}

#[pymethods]
impl Port {
    /// The type as text, for example `f32[B, 784]`.
    #[getter]
    fn r#type(&self) -> String {
        self.ty.to_string()
    }

    /// The dtype of an element, for example `f32`.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.ty.dtype.name()
    }

    /// The extents, outermost first: a number, the name of a dimension, or `None` for an unnamed one.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        shape(py, &self.ty.shape)
    }

    fn __repr__(&self) -> String {
        format!("Port({})", self.text())
    }
}

/// Returns extents as a tuple.
pub(crate) fn shape<'py>(py: Python<'py>, extents: &[Extent]) -> PyResult<Bound<'py, PyTuple>> {
    let extent = |own: &Extent| -> PyResult<Bound<'py, PyAny>> {
        Ok(match own {
            Extent::Fixed(extent) => extent.into_pyobject(py)?.into_any(),
            Extent::Symbol(name) => name.into_pyobject(py)?.into_any(),
            Extent::Unknown => py.None().into_bound(py),
        })
    };
    PyTuple::new(
        py,
        extents.iter().map(extent).collect::<PyResult<Vec<_>>>()?,
    )
}
