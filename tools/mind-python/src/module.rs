//! Modules.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mind::patch::Edit;
use mind::{Error, ReadOptions, Written};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::array::{Array, given_out, shown};
use crate::caller_array::CallerArray;
use crate::errors::{error, listed, raised};
use crate::executable::{Executable, config};
use crate::memory;
use crate::ops::{Op, ops};
use crate::optimize::{Report, Requests};
use crate::port::Port;
use crate::signals;
use crate::text;

/// A module: ops from inputs to outputs. It is immutable; methods that change a module return a new one.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Module {
    /// Locked by one thread at a time.
    own: Mutex<mind::Module>,
    /// The rewrites that led to the module.
    report: Report,
}

impl Module {
    pub(crate) fn new(own: mind::Module, report: Report) -> Module {
        Module {
            own: Mutex::new(own),
            report,
        }
    }

    /// Calls `work` with the module, without the interpreter lock.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mind::Module) -> T + Send,
    ) -> T {
        py.detach(|| work(&self.own.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// As [`Module::with`], for fallible work.
    ///
    /// # Errors
    ///
    /// The error as an exception.
    pub(crate) fn attempt<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mind::Module) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.with(py, work).map_err(|why| raised(py, &why))
    }
}

/// Returns the options for reading a file.
fn options(
    py: Python<'_>,
    dims: Option<Vec<(String, usize)>>,
    arrays: Option<&Bound<'_, PyDict>>,
    format: Option<&str>,
    keep_dequantized: bool,
) -> PyResult<ReadOptions> {
    let mut options = ReadOptions::new().keeps_dequantized(keep_dequantized);
    for (name, extent) in dims.unwrap_or_default() {
        options = options.dim(name, extent);
    }
    for (name, array) in arrays.into_iter().flatten() {
        let name: String = name.extract()?;
        let array = CallerArray::new(&name, &array)?.tensor();
        options = options.bind(name, array);
    }
    match format {
        Some(word) => options.format_called(word).map_err(|why| raised(py, &why)),
        None => Ok(options),
    }
}

/// Reads and verifies a module from a path, or from the bytes of a file. The format is detected from the content.
#[pyfunction]
#[pyo3(signature = (source, *, dims=None, bind=None, format=None, keep_dequantized=false))]
pub(crate) fn load(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    dims: Option<&Bound<'_, PyDict>>,
    bind: Option<&Bound<'_, PyDict>>,
    format: Option<&str>,
    keep_dequantized: bool,
) -> PyResult<Module> {
    let options = options(py, extents(dims)?, bind, format, keep_dequantized)?;
    let read = match source.extract::<PathBuf>() {
        Ok(path) => signals::waiting(py, move || mind::Module::from_file_with(path, &options))?,
        Err(_) => {
            let bytes = py.get_type::<PyBytes>().call1((source,));
            let bytes = match bytes {
                Ok(bytes) if !source.is_instance_of::<pyo3::types::PyInt>() => {
                    bytes.extract::<Vec<u8>>()?
                }
                _ => {
                    let kind = source.get_type().name()?;
                    let message =
                        format!("a module is read from a path or from bytes, not from {kind}");
                    return Err(pyo3::exceptions::PyTypeError::new_err(message));
                }
            };
            let read = move || mind::Module::from_bytes("<bytes>", bytes, &options);
            signals::waiting(py, read)?
        }
    };
    let own = read.map_err(|why| raised(py, &why))?;
    Ok(Module::new(own, Report::default()))
}

/// Parses and verifies a module in a text format, which is detected from its first line.
#[pyfunction]
#[pyo3(signature = (text, *, dims=None, format=None, name="<text>"))]
pub(crate) fn parse(
    py: Python<'_>,
    text: &str,
    dims: Option<&Bound<'_, PyDict>>,
    format: Option<&str>,
    name: &str,
) -> PyResult<Module> {
    let options = options(py, extents(dims)?, None, format, false)?;
    let bytes = text.as_bytes().to_vec();
    let name = name.to_owned();
    let read = signals::waiting(py, move || mind::Module::from_bytes(&name, bytes, &options))?;
    let own = read.map_err(|why| raised(py, &why))?;
    Ok(Module::new(own, Report::default()))
}

fn extents(dims: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Vec<(String, usize)>>> {
    let Some(dims) = dims else { return Ok(None) };
    let pairs = dims.iter().map(|(name, extent)| {
        let name: String = name.extract()?;
        match extent.extract::<usize>() {
            Ok(extent) if isize::try_from(extent).is_ok() => Ok((name, extent)),
            _ => {
                let message =
                    format!("the extent of `{name}` is {extent}, expected a number from 0");
                Err(PyValueError::new_err(message))
            }
        }
    });
    pairs.collect::<PyResult<Vec<_>>>().map(Some)
}

/// Returns a module of only inputs and weights, given by name, type and whether it is a weight.
#[pyfunction]
pub(crate) fn interface(py: Python<'_>, ports: Vec<(String, String, bool)>) -> PyResult<Module> {
    let mut own = mind::Module::new();
    for (name, ty, is_param) in &ports {
        let made = if *is_param {
            own.param(name, ty.as_str())
        } else {
            own.input(name, ty.as_str())
        };
        made.map_err(|why| raised(py, &why))?;
    }
    own.set_outputs(&[]);
    Ok(Module::new(own, Report::default()))
}

#[pymethods]
impl Module {
    /// The inputs of each run, in order.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> Vec<Port> {
        self.with(py, |own| Port::of(&own.inputs()))
    }

    /// The weights, in order.
    #[getter]
    fn params(&self, py: Python<'_>) -> Vec<Port> {
        self.with(py, |own| Port::of(&own.params()))
    }

    /// The outputs, in order, with the names of the file that the module was read from, or else those of Core text.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> Vec<Port> {
        self.with(py, outputs)
    }

    /// The ops, in order.
    #[getter]
    fn ops(&self, py: Python<'_>) -> PyResult<Vec<Py<Op>>> {
        let statements = self.with(py, mind::Module::statements);
        ops(py, statements)
    }

    /// The values that are the outputs, in order.
    #[getter]
    fn output_ids(&self, py: Python<'_>) -> Vec<u64> {
        self.with(py, mind::Module::output_ids)
    }

    /// Returns the elements of the constant that computes a value.
    fn constant<'py>(&self, py: Python<'py>, id: u64) -> PyResult<Bound<'py, PyAny>> {
        match self.with(py, |own| own.constant(id)) {
            Some(tensor) => given_out(py, tensor),
            None => Err(PyValueError::new_err(format!("%{id} is not a constant"))),
        }
    }

    /// Returns the module optimised at a level from 0 to 3. Results are bitwise equal, unless classes of `fast_math`
    /// are allowed.
    #[pyo3(signature = (level=2, *, rules=None, fast_math=None, disable=None, missed=false))]
    fn optimize(
        &self,
        py: Python<'_>,
        level: u8,
        rules: Option<&Bound<'_, PyAny>>,
        fast_math: Option<&Bound<'_, PyAny>>,
        disable: Option<Vec<String>>,
        missed: bool,
    ) -> PyResult<Module> {
        let level = match level {
            0 => mind::Level::O0,
            1 => mind::Level::O1,
            2 => mind::Level::O2,
            3 => mind::Level::O3,
            _ => {
                let message = format!("invalid level {level}: expected 0 to 3");
                return Err(PyValueError::new_err(message));
            }
        };
        let requests = Requests::new(rules, fast_math, disable, missed)?;
        self.piped(py, level.pipeline(), &requests)
    }

    /// Returns the module after a pipeline: text, for example `canonicalize,fold{max-iters=8},fuse`, a user-defined
    /// pass, or a list of both.
    #[pyo3(signature = (pipeline, *, rules=None, fast_math=None, disable=None, missed=false))]
    fn run_passes(
        slf: &Bound<'_, Self>,
        pipeline: &Bound<'_, PyAny>,
        rules: Option<&Bound<'_, PyAny>>,
        fast_math: Option<&Bound<'_, PyAny>>,
        disable: Option<Vec<String>>,
        missed: bool,
    ) -> PyResult<Py<Module>> {
        let py = slf.py();
        let requests = Requests::new(rules, fast_math, disable, missed)?;
        let is_one = pipeline.is_instance_of::<PyString>() || pipeline.is_callable();
        let steps = if is_one {
            vec![pipeline.clone()]
        } else {
            pipeline.try_iter()?.collect::<PyResult<Vec<_>>>()?
        };
        let mut module = slf.clone();
        for step in steps {
            module = match step.extract::<String>() {
                Ok(text) => Bound::new(py, module.get().piped(py, &text, &requests)?)?,
                Err(_) => by_function(&module, &step)?,
            };
        }
        Ok(module.unbind())
    }

    /// Returns the module after all edits: a list as described in docs/patching.md, or its JSON text. If an edit fails,
    /// none is applied.
    fn patch(&self, edits: &Bound<'_, PyAny>) -> PyResult<Module> {
        let py = edits.py();
        let text = match edits.extract::<String>() {
            Ok(text) => text,
            Err(_) => {
                let json = py.import(intern!(py, "mind_opt._json"))?;
                json.call_method1(intern!(py, "dumps"), (edits,))?
                    .extract()?
            }
        };
        let patched = self.attempt(py, move |own| {
            let mut module = own.clone();
            let edits = Edit::read_all(&text)?;
            module.apply(&edits)?;
            Ok(module)
        })?;
        Ok(Module::new(patched, self.report.clone()))
    }

    /// Returns the rewrites that led to the module, in order; with `missed`, also the rules that did not fire.
    fn remarks(&self) -> Vec<crate::optimize::Remark> {
        self.report.remarks()
    }

    /// Returns the passes that led to the module, in order, each with whether it changed anything.
    #[getter]
    fn passes(&self) -> Vec<(String, bool)> {
        self.report.passes()
    }

    /// Explains which rewrites led to a value: `%7`, `out:0`, `rule@12` for a rule on a line, or everything.
    #[pyo3(signature = (value=""))]
    fn explain(&self, py: Python<'_>, value: &str) -> PyResult<String> {
        match self.report.last() {
            Some(report) => self.attempt(py, |own| report.explain(own, value)),
            None => Ok("no pass has run\n".to_owned()),
        }
    }

    /// Returns the structural differences to another module, as the lines of a diff; empty if there are none.
    fn diff(&self, py: Python<'_>, other: &Bound<'_, Module>) -> String {
        let other = other.get().with(py, mind::Module::clone);
        self.with(py, move |own| own.diff(&other))
    }

    /// Returns whether another module computes the same bits for random inputs drawn with `seed`.
    #[pyo3(signature = (other, seed=1))]
    fn equal_bits(&self, py: Python<'_>, other: &Bound<'_, Module>, seed: u64) -> PyResult<bool> {
        Ok(self.bit_difference(py, other, seed)?.is_none())
    }

    /// Returns the first output in which another module differs for random inputs drawn with `seed`; `None` if all bits
    /// are equal.
    #[pyo3(signature = (other, seed=1))]
    fn bit_difference(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Module>,
        seed: u64,
    ) -> PyResult<Option<String>> {
        let own = self.with(py, mind::Module::clone);
        let other = other.get().with(py, mind::Module::clone);
        let found = signals::waiting(py, move || own.bit_difference(&other, seed))?;
        found.map_err(|why| raised(py, &why))
    }

    /// Compiles the module for this machine: with `threads` threads, by default as many as the machine has, for the
    /// instruction set `isa` (`avx512`, `avx2`, `portable`), by default the widest. `cache` is a folder in which
    /// programs are stored, or `True` for that of the tools. `tune` measures other schedules of each kernel, at most
    /// this many in total, and selects the fastest; results have the same bits.
    #[pyo3(signature = (threads=None, isa=None, *, cache=None, tune=None))]
    fn compile(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        isa: Option<&str>,
        cache: Option<&Bound<'_, PyAny>>,
        tune: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Executable> {
        let config = config(threads, isa, cache, tune)?;
        let own = self.with(py, mind::Module::clone);
        let names = self.outputs(py).iter().map(Port::called).collect();
        Executable::new(py, own, names, &config)
    }

    /// Reports the effect of a pipeline on the module, by default that of `optimize()`: a page as of `mind-opt
    /// --report`, and a few lines of text.
    #[pyo3(signature = (pipeline=None))]
    fn report<'py>(slf: &Bound<'py, Self>, pipeline: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let own = slf.get();
        let pipeline = pipeline.unwrap_or_else(|| mind::Level::O2.pipeline());
        let fresh = Module::new(own.with(py, mind::Module::clone), Report::default());
        let after = fresh.piped(py, pipeline, &Requests::default())?;
        let text = own.to_text(py, "core")?;
        let args = vec![
            "module.core".to_owned(),
            format!("--pass-pipeline={pipeline}"),
            "--report=report.html".to_owned(),
        ];
        let files = vec![("module.core", text.into_bytes())];
        let work = move || memory::run(mind_opt::run, &args, files, Vec::new());
        let outcome = signals::waiting(py, work)?;
        if outcome.code != 0 {
            return Err(error(py, "RejectedError", &outcome.errors, None));
        }
        let page = outcome.text("report.html");
        let rewrites = after
            .report
            .remarks()
            .into_iter()
            .flat_map(|own| own.rule_names().to_vec());
        let rewrites: Vec<String> = rewrites.collect();
        let counts = [own.with(py, op_count), after.with(py, op_count)];
        let class = py
            .import(intern!(py, "mind_opt._report"))?
            .getattr(intern!(py, "Report"))?;
        class.call1((page, counts, after.report.passes(), rewrites))
    }

    /// Computes the module with the reference interpreter, op by op, from arrays by name. Returns a dict of outputs.
    fn interpret<'py>(
        &self,
        py: Python<'py>,
        arrays: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut named = Vec::new();
        for (name, array) in arrays {
            let name: String = name.extract()?;
            let array = CallerArray::new(&name, &array)?.tensor();
            named.push((name, array));
        }
        let own = self.with(py, mind::Module::clone);
        let outputs = signals::waiting(py, move || own.interpret(named))?;
        let outputs = outputs.map_err(|why| raised(py, &why))?;
        let dict = PyDict::new(py);
        for (port, (_, tensor)) in self.outputs(py).iter().zip(outputs) {
            dict.set_item(port.called(), shown(py, Array::new(tensor).computed())?)?;
        }
        Ok(dict)
    }

    /// Writes the module to a file, in the format of its extension: `.mic`, `.mic2`, `.core`, `.mil`, `.onnx`, `.c`,
    /// `.dot`, `.svg`, `.html`, or the folder `.mlpackage`.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.attempt(py, move |own| own.save(path))
    }

    /// Returns the module as text: `core`, `mic1`, `mic2`, `mil`, `mil-primer`, `c`, `dot`, `svg` or `html`.
    #[pyo3(signature = (format="core"))]
    fn to_text(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        match self.attempt(py, |own| own.write(format))? {
            Written::Text(text) => Ok(text),
            Written::Bytes(_) | Written::Object { .. } | Written::Folder(_) => {
                let message = format!("`{format}` is not a text format: use `to_bytes` or `save`");
                Err(PyValueError::new_err(message))
            }
        }
    }

    /// Returns the module as the bytes of a file: `onnx`, `object`, or a text as UTF-8.
    #[pyo3(signature = (format="onnx"))]
    fn to_bytes<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        match self.attempt(py, |own| own.write(format))? {
            Written::Text(text) => Ok(PyBytes::new(py, text.as_bytes())),
            Written::Bytes(bytes) | Written::Object { file: bytes, .. } => {
                Ok(PyBytes::new(py, &bytes))
            }
            Written::Folder(_) => {
                let message = format!("`{format}` is a folder: `save` writes it");
                Err(PyValueError::new_err(message))
            }
        }
    }

    /// Returns the ops that a format cannot express, each diagnostic with its op and location; empty if `save` can
    /// write it.
    fn missing<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyList>> {
        let written = self.with(py, |own| own.write(format).map(|_| ()));
        match written {
            Err(why) if !Written::formats().contains(&format) => Err(raised(py, &why)),
            Ok(()) => Ok(PyList::empty(py)),
            Err(Error::Rejected(why)) => listed(py, &why.diagnostics, Some(&why.file)),
            Err(why) => Err(raised(py, &why)),
        }
    }

    /// Returns Core text with large constants abbreviated; `to_text` has all elements.
    fn __str__(&self, py: Python<'_>) -> String {
        self.with(py, |own| text::shown(&own.to_string()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with(py, |own| {
            let ports = |ports: Vec<Port>| {
                let texts: Vec<String> = ports.iter().map(Port::text).collect();
                texts.join(", ")
            };
            let ops = own.statements().len();
            let (inputs, outputs) = (ports(Port::of(&own.inputs())), ports(outputs(own)));
            format!("Module({inputs} -> {outputs}; {ops} ops)")
        })
    }

    /// Returns the drawing of the module with the types of its inputs and outputs, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let drawing = self.to_text(py, "svg")?;
        let row = |kind: &str, port: &Port| {
            format!(
                "<tr><td>{kind}</td><td>{}</td><td>{}</td></tr>",
                escaped(&port.called()),
                escaped(&port.ty_text())
            )
        };
        let kinds = [
            ("input", self.inputs(py)),
            ("weight", self.params(py)),
            ("output", self.outputs(py)),
        ];
        let rows = kinds
            .iter()
            .flat_map(|(kind, ports)| ports.iter().map(move |port| (kind, port)));
        let rows: String = rows.map(|(kind, port)| row(kind, port)).collect();
        Ok(format!(
            "<div style=\"overflow-x:auto\">{drawing}</div><table>{rows}</table>"
        ))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let module = slf.get();
        let rebuild = py
            .import(intern!(py, "mind_opt._pickle"))?
            .getattr(intern!(py, "module"))?;
        let (packed, names) = module.with(py, |own| (own.packed(), own.output_names()));
        let state = (env!("CARGO_PKG_VERSION"), PyBytes::new(py, &packed), names);
        Ok((rebuild, state.into_pyobject(py)?))
    }
}

impl Module {
    fn piped(&self, py: Python<'_>, pipeline: &str, requests: &Requests) -> PyResult<Module> {
        let mut module = self.with(py, mind::Module::clone);
        let optimizer = requests
            .optimizer(pipeline)
            .map_err(|why| raised(py, &why))?;
        let ran = signals::waiting(py, move || {
            let report = optimizer.run(&mut module)?;
            Ok((module, report))
        })?;
        let (module, report) = ran.map_err(|why: Error| raised(py, &why))?;
        Ok(Module::new(module, self.report.then(Arc::new(report))))
    }
}

/// Returns the module after a pass that is a Python function.
fn by_function<'py>(
    module: &Bound<'py, Module>,
    step: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Module>> {
    let py = module.py();
    if !step.is_callable() {
        let kind = step.get_type().name()?;
        let message = format!("a step of a pipeline is a text or a pass, not {kind}");
        return Err(pyo3::exceptions::PyTypeError::new_err(message));
    }
    let passes = py.import(intern!(py, "mind_opt._passes"))?;
    let (name, edits): (String, Bound<'py, PyAny>) = passes
        .call_method1(intern!(py, "edits"), (module, step))?
        .extract()?;
    let is_changed = edits.len()? > 0;
    let own = if is_changed {
        module.get().patch(&edits)?.own
    } else {
        Mutex::new(module.get().with(py, mind::Module::clone))
    };
    let report = module.get().report.then_by(name, is_changed);
    Bound::new(py, Module { own, report })
}

fn op_count(own: &mind::Module) -> usize {
    own.statements().len()
}

fn outputs(own: &mind::Module) -> Vec<Port> {
    let port = |own: mind::Port| Port::new(own.name, own.ty);
    own.outputs().into_iter().map(port).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns the module of a pickle.
#[pyfunction]
pub(crate) fn restore(py: Python<'_>, packed: &[u8], names: Vec<String>) -> PyResult<Module> {
    let read = py.detach(|| mind::Module::unpacked(packed));
    let mut own = read.map_err(|why| raised(py, &why))?;
    own.name_outputs(names);
    Ok(Module::new(own, Report::default()))
}
