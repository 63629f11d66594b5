//! Ops of a module for iteration.

use mind::{Attribute, Body, Statement, Type};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::port::shape;

/// An op of a module. Values are the numbers that they have in Core text: `%3` is 3.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Op {
    own: Statement,
}

/// A body of an op.
#[pyclass(frozen, module = "mind_opt", name = "Body")]
pub(crate) struct OpBody {
    arguments: Vec<u64>,
    ops: Vec<Py<Op>>,
    outputs: Vec<u64>,
}

/// Converts statements to ops.
pub(crate) fn ops(py: Python<'_>, statements: Vec<Statement>) -> PyResult<Vec<Py<Op>>> {
    let op = |own: Statement| Py::new(py, Op { own });
    statements.into_iter().map(op).collect()
}

#[pymethods]
impl Op {
    /// The name in Core text, for example `Relu`.
    #[getter]
    fn name(&self) -> &'static str {
        self.own.op
    }

    /// The values of its operands.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.own.operands)
    }

    /// The values of its results.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.own.results.iter().map(|(id, _)| *id))
    }

    /// The value of its first result.
    #[getter]
    fn id(&self) -> Option<u64> {
        self.own.results.first().map(|(id, _)| *id)
    }

    /// The types of its results, as text.
    #[getter]
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.own.results.iter().map(|(_, ty)| ty.to_string()))
    }

    /// The type of its first result as text, for example `f32[B, 784]`.
    #[getter]
    fn r#type(&self) -> Option<String> {
        self.ty().map(Type::to_string)
    }

    /// The dtype of its first result, for example `f32`.
    #[getter]
    fn dtype(&self) -> Option<&'static str> {
        self.ty().map(|ty| ty.dtype.name())
    }

    /// The extents of its first result: a number, the name of a dimension, or `None` for an unnamed one.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.ty().map(|ty| shape(py, &ty.shape)).transpose()
    }

    /// Its attributes, including those with default values. The elements of a constant are not included;
    /// `Module.constant` returns them.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in &self.own.attributes {
            if let Some(value) = attribute(py, value)? {
                dict.set_item(name, value)?;
            }
        }
        Ok(dict)
    }

    /// Its bodies.
    #[getter]
    fn bodies(&self, py: Python<'_>) -> PyResult<Vec<OpBody>> {
        let body = |own: &Body| {
            Ok(OpBody {
                arguments: own.arguments.iter().map(|(id, _)| *id).collect(),
                ops: ops(py, own.statements.clone())?,
                outputs: own.outputs.clone(),
            })
        };
        self.own.bodies.iter().map(body).collect()
    }

    /// The line in the module's text, from 1; `None` for an op that is not in the text.
    #[getter]
    fn line(&self) -> Option<usize> {
        self.own.line
    }

    fn __repr__(&self) -> String {
        let values = |ids: &mut dyn Iterator<Item = u64>| {
            let names: Vec<String> = ids.map(|id| format!("%{id}")).collect();
            names.join(", ")
        };
        let results = values(&mut self.own.results.iter().map(|(id, _)| *id));
        let operands = values(&mut self.own.operands.iter().copied());
        let types: Vec<String> = self
            .own
            .results
            .iter()
            .map(|(_, ty)| ty.to_string())
            .collect();
        format!(
            "<{results} = {} ({operands}) : {}>",
            self.own.op,
            types.join(", ")
        )
    }
}

impl Op {
    fn ty(&self) -> Option<&Type> {
        self.own.results.first().map(|(_, ty)| ty)
    }
}

#[pymethods]
impl OpBody {
    /// Its arguments.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.arguments)
    }

    /// Its ops.
    #[getter]
    fn ops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.ops.iter().map(|op| op.bind(py)))
    }

    /// The values that it yields.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outputs)
    }
}

/// Returns the value of an attribute; `None` for the elements of a constant.
fn attribute<'py>(py: Python<'py>, value: &Attribute) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(match value {
        Attribute::Int(value) => value.into_pyobject(py)?.into_any(),
        Attribute::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Attribute::Float(value) => value.into_pyobject(py)?.into_any(),
        Attribute::Text(value) => value.into_pyobject(py)?.into_any(),
        Attribute::Ints(value) => PyList::new(py, value)?.into_any(),
        Attribute::Extents(value) => shape(py, value)?.into_any(),
        Attribute::Elements => return Ok(None),
    }))
}
