//! Modules compiled for this machine.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use mind::{CompileCache, Config, ExecutionError, Isa, RunError, Tensor, View};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use self_cell::self_cell;

use crate::array::{Array, given_out, shown};
use crate::cache;
use crate::caller_array::CallerArray;
use crate::errors::{error, raised};
use crate::memory;
use crate::port::Port;
use crate::signals;

/// Returns the compile options: target, threads, cache and tuner.
///
/// # Errors
///
/// Zero threads; an unknown instruction set; a folder that cannot be used.
pub(crate) fn config(
    threads: Option<usize>,
    isa: Option<&str>,
    cache: Option<&Bound<'_, PyAny>>,
    tune: Option<&Bound<'_, PyAny>>,
) -> PyResult<Config> {
    let threads = match threads {
        None => None,
        Some(count) => match NonZero::new(count) {
            Some(count) => Some(count),
            None => {
                return Err(PyValueError::new_err(
                    "a module runs on one thread at least",
                ));
            }
        },
    };
    let isa = isa.map(|name| {
        let known = Isa::ALL.into_iter().find(|own| own.name() == name);
        known.ok_or_else(|| {
            let names = Isa::ALL.map(Isa::name).join(", ");
            PyValueError::new_err(format!(
                "unknown instruction set `{name}`: expected one of {names}"
            ))
        })
    });
    Ok(Config {
        threads,
        isa: isa.transpose()?,
        cache: cache::cache(cache)?,
        tuner: cache::tuner(tune)?,
        ..Config::default()
    })
}

type Model<'m> = mind::Model<'m>;

/// A compiled module, with weights by name.
struct Weights {
    executable: Arc<mind::Executable>,
    arrays: Vec<(String, Tensor)>,
}

self_cell!(
    /// An executable bound to its weights.
    struct BoundModel {
        owner: Weights,
        #[not_covariant]
        dependent: Model,
    }
);

/// # Errors
///
/// Weights are missing, do not fit, or are not weights of the module.
fn bound(
    executable: &Arc<mind::Executable>,
    arrays: Vec<(String, Tensor)>,
) -> Result<BoundModel, mind::Error> {
    let executable = executable.clone();
    BoundModel::try_new(Weights { executable, arrays }, |own| {
        own.executable
            .bind(own.arrays.iter().map(|(name, array)| (name, array)))
    })
}

/// A compiled module. Calling it runs it on arrays by position or by name, first the inputs, then the weights. It can
/// be called on any thread, and on several at once.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct Executable {
    inner: Arc<mind::Executable>,
    /// The module and its compile options, so that a pickle can be compiled again on another machine.
    module: Arc<Mutex<mind::Module>>,
    config: Config,
    outputs: Arc<[String]>,
    /// The bound executable, if it has no weights.
    complete: Option<BoundModel>,
}

impl Executable {
    pub(crate) fn new(
        py: Python<'_>,
        module: mind::Module,
        outputs: Vec<String>,
        config: &Config,
    ) -> PyResult<Executable> {
        let wanted = config.clone();
        let made = signals::waiting(py, move || -> Result<_, mind::Error> {
            let inner = Arc::new(module.compile(&wanted)?);
            let complete = inner.params().is_empty();
            let complete = complete.then(|| bound(&inner, Vec::new())).transpose()?;
            Ok((module, inner, complete))
        });
        let (module, inner, complete) = made?.map_err(|why| raised(py, &why))?;
        Ok(Executable {
            inner,
            module: Arc::new(Mutex::new(module)),
            config: config.clone(),
            outputs: outputs.into(),
            complete,
        })
    }

    /// Returns the arrays of a call, first the inputs, then the weights.
    fn arrays(
        &self,
        args: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
        has_weights: bool,
    ) -> PyResult<Vec<CallerArray>> {
        let weights = if has_weights {
            self.inner.params()
        } else {
            &[]
        };
        let ports: Vec<&mind::Port> = self.inner.inputs().iter().chain(weights).collect();
        arrays(&ports, args, named)
    }
}

/// Returns the arrays of a call, in the order of `ports`.
///
/// # Errors
///
/// Arrays are missing, given twice, or unknown.
fn arrays(
    ports: &[&mind::Port],
    args: &Bound<'_, PyTuple>,
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<CallerArray>> {
    let py = args.py();
    let known = || {
        let names: Vec<String> = ports
            .iter()
            .map(|port| format!("{}: {}", port.name, port.ty))
            .collect();
        format!("the module takes {}", names.join(", "))
    };
    let refused = |message: String| error(py, "ArrayError", &message, Some(&known()));
    let one = args.get_item(0).ok().filter(|_| args.len() == 1);
    let one = one.as_ref().and_then(|one| one.cast::<PyDict>().ok());
    let (positional, named) = match (one, named) {
        (Some(dict), None) => (0, Some(dict)),
        (_, named) => (args.len(), named),
    };
    if positional > ports.len() {
        return Err(refused(format!(
            "{positional} arrays are given, expected {}",
            ports.len()
        )));
    }
    for name in named.into_iter().flat_map(|named| named.keys()) {
        let name: String = name.extract()?;
        match ports.iter().position(|port| port.name == name) {
            None => return Err(refused(format!("the module has no input `{name}`"))),
            Some(at) if at < positional => {
                return Err(refused(format!(
                    "`{name}` is given by position and by name"
                )));
            }
            Some(_) => {}
        }
    }
    let each = ports.iter().enumerate().map(|(at, port)| {
        let array = if at < positional {
            Some(args.get_item(at)?)
        } else {
            named
                .map(|named| named.get_item(&port.name))
                .transpose()?
                .flatten()
        };
        match array {
            Some(array) => CallerArray::new(&port.name, &array),
            None => Err(refused(format!(
                "no array is given for `{}` of type {}",
                port.name, port.ty
            ))),
        }
    });
    each.collect()
}

/// Runs a model and returns its outputs in order.
fn run<'py>(
    py: Python<'py>,
    model: &BoundModel,
    arrays: &[CallerArray],
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let outputs = run_arrays(py, model, arrays)?;
    outputs.into_iter().map(|array| shown(py, array)).collect()
}

/// As [`run`], with outputs that do not depend on numpy.
fn run_arrays(py: Python<'_>, model: &BoundModel, arrays: &[CallerArray]) -> PyResult<Vec<Array>> {
    let work = || model.with_dependent(|own, model| computed(own, model, arrays));
    signals::running(py, work)?.map_err(|why| raised(py, &why))
}

/// Returns the outputs of a model.
fn computed(
    own: &Weights,
    model: &mind::Model<'_>,
    arrays: &[CallerArray],
) -> Result<Vec<Array>, mind::Error> {
    let views: Vec<View<'_>> = arrays.iter().map(CallerArray::view).collect();
    let inputs = own.executable.inputs();
    let fits = |(port, array): (&mind::Port, &CallerArray)| array.fits(&port.ty);
    let new = || {
        Ok(model
            .run_views(&views)?
            .into_iter()
            .map(|(_, own)| Array::new(own).computed())
            .collect())
    };
    if inputs.len() != arrays.len() || !inputs.iter().zip(arrays).all(fits) {
        return new();
    }
    let bound = match model.bound_for(&views) {
        Ok(bound) => bound,
        Err(mind::Error::Execution(ExecutionError::InParts { .. })) => return new(),
        Err(why) => return Err(why),
    };
    // Results are written directly to the memory that Python reads.
    let ports = bound.program().outputs();
    let mut memory = Vec::with_capacity(ports.len());
    for port in ports {
        let bytes = port.bytes();
        let words = bytes.div_ceil(size_of::<u64>());
        if Vec::<u64>::new().try_reserve_exact(words).is_err() {
            return Err(ExecutionError::from(RunError::OutOfMemory { bytes }).into());
        }
        memory.push(vec![0u64; words]);
    }
    let inputs: Vec<&[u8]> = arrays.iter().map(CallerArray::bytes).collect();
    let slices = memory.iter_mut().zip(ports).map(|(memory, port)| {
        let all: &mut [u8] = bytemuck::must_cast_slice_mut(memory);
        &mut all[..port.bytes()]
    });
    let mut slices: Vec<&mut [u8]> = slices.collect();
    bound
        .run(&inputs, &mut slices)
        .map_err(ExecutionError::from)?;
    let arrays = memory.into_iter().zip(ports);
    let arrays = arrays.map(|(memory, port)| {
        Array::of_words(memory, port.bytes(), port.dtype, &port.shape).computed()
    });
    Ok(arrays.collect())
}

/// Returns the only output, or a tuple of several.
fn result<'py>(
    py: Python<'py>,
    mut outputs: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match outputs.len() {
        1 => Ok(outputs.remove(0)),
        _ => Ok(PyTuple::new(py, outputs)?.into_any()),
    }
}

fn dict<'py>(
    py: Python<'py>,
    names: &[String],
    outputs: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, output) in names.iter().zip(outputs) {
        dict.set_item(name, output)?;
    }
    Ok(dict)
}

#[pymethods]
impl Executable {
    /// The inputs of each call, in order.
    #[getter]
    fn inputs(&self) -> Vec<Port> {
        Port::of(self.inner.inputs())
    }

    /// The weights, in order.
    #[getter]
    fn params(&self) -> Vec<Port> {
        Port::of(self.inner.params())
    }

    /// The outputs, in order.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        let ports = self.inner.outputs().iter().zip(self.outputs.iter());
        ports
            .map(|(port, name)| Port::new(name, port.ty.clone()))
            .collect()
    }

    /// Binds all weights by name. They are copied, and packed once for each set of extents.
    #[pyo3(signature = (weights=None, /, **named))]
    fn bind(
        slf: &Bound<'_, Self>,
        weights: Option<&Bound<'_, PyDict>>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<BoundExecutable> {
        let py = slf.py();
        let own = slf.get();
        let given = match (weights, named) {
            (Some(_), Some(_)) => {
                return Err(PyTypeError::new_err(
                    "weights are a dict or keywords, not both",
                ));
            }
            (dict, named) => dict.or(named),
        };
        let ports: Vec<&mind::Port> = own.inner.params().iter().collect();
        let arrays = arrays(&ports, &PyTuple::empty(py), given)?;
        let named = own.inner.params().iter().zip(&arrays);
        let named: Vec<(String, Tensor)> = named
            .map(|(port, array)| (port.name.clone(), array.tensor()))
            .collect();
        let model = signals::running(py, || bound(&own.inner, named))?;
        let model = model.map_err(|why| raised(py, &why))?;
        Ok(BoundExecutable {
            executable: slf.clone().unbind(),
            model,
        })
    }

    /// Runs on arrays by position, by keyword, or in one dict. Returns the output, or a tuple of several.
    #[pyo3(signature = (*args, **named))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        result(args.py(), self.outputs_of(args, named)?)
    }

    /// Runs on arrays as a call does. Returns the outputs by name.
    #[pyo3(signature = (*args, **named))]
    fn run<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        dict(args.py(), &self.outputs, self.outputs_of(args, named)?)
    }

    /// Profiles a call with these arrays: a table of the time of each step, as text and in notebooks, and a trace for
    /// Perfetto.
    #[pyo3(signature = (*args, **named))]
    fn profile<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = self.arrays(args, named, true)?;
        let ports = self.inner.inputs().iter().chain(self.inner.params());
        let tensors = ports
            .zip(&arrays)
            .map(|(port, array)| (port.name.clone(), array.tensor()));
        self.profiled(args.py(), &tensors.collect::<Vec<_>>())
    }

    /// The content and the statistics of the cache in which the program is stored; `None` without a cache.
    #[getter]
    fn cache_stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let cache = self.config.cache.as_deref();
        cache.map(|cache| cache::stats(py, cache)).transpose()
    }

    /// The kernels with tuned schedules, each a dict; `None` without a tuner.
    #[getter]
    fn tuned<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        let Some(tuner) = &self.config.tuner else {
            return Ok(None);
        };
        let choices = tuner.choices().into_iter().map(|choice| {
            let dict = PyDict::new(py);
            dict.set_item("kernel", choice.kernel)?;
            dict.set_item("count", choice.count)?;
            dict.set_item("from", choice.from)?;
            dict.set_item("to", choice.to)?;
            dict.set_item("gain", choice.gain)?;
            Ok(dict)
        });
        choices.collect::<PyResult<Vec<_>>>().map(Some)
    }

    fn __repr__(&self) -> String {
        let isa = self.config.isa.unwrap_or_else(Isa::detect);
        let (inputs, params) = (self.inner.inputs().len(), self.inner.params().len());
        let outputs = self.outputs.len();
        format!("Executable({inputs} inputs, {params} weights, {outputs} outputs, {isa})")
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let own = slf.get();
        let rebuild = py
            .import(intern!(py, "mind_opt._pickle"))?
            .getattr(intern!(py, "executable"))?;
        let names: Vec<&str> = own.outputs.iter().map(String::as_str).collect();
        let threads = own.config.threads.map(NonZero::get);
        let isa = own.config.isa.map(Isa::name);
        let packed = own.packed(py);
        let state = (env!("CARGO_PKG_VERSION"), packed, names, threads, isa);
        Ok((rebuild, state.into_pyobject(py)?))
    }
}

impl Executable {
    /// Calls `work` with the module, without the interpreter lock.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mind::Module) -> T + Send) -> T {
        py.detach(|| work(&self.module.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns the module as bytes for a pickle.
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.with(py, mind::Module::packed))
    }

    /// Returns the profile of runs on arrays by name, measured by `mind-run`.
    fn profiled<'py>(
        &self,
        py: Python<'py>,
        arrays: &[(String, Tensor)],
    ) -> PyResult<Bound<'py, PyAny>> {
        let named = arrays.iter().map(|(name, array)| (name.clone(), array));
        let archive = mind_cli::npz::write(named);
        let archive = archive.map_err(|why| error(py, "ArrayError", &why.to_string(), None))?;
        let mut args: Vec<String> = ["module.core", "--inputs=in.npz", "--format=json"]
            .map(str::to_owned)
            .into();
        args.push("--profile-steps=trace.json".to_owned());
        let Config {
            threads,
            isa,
            cache,
            tuner,
            ..
        } = &self.config;
        args.extend(threads.map(|count| format!("--threads={count}")));
        args.extend(isa.map(|isa| format!("--isa={isa}")));
        args.extend(
            tuner
                .as_ref()
                .map(|tuner| format!("--tune={}", tuner.limit())),
        );
        let folder = cache.as_ref().map(|cache| cache.stats().folder);
        let folder = folder.map_or_else(String::new, |folder| folder.display().to_string());
        let text = self.with(py, |own| own.print(mind::Format::Core));
        let text = text.map_err(|why| raised(py, &why))?;
        let files = vec![("module.core", text.into_bytes()), ("in.npz", archive)];
        let variables = vec![(CompileCache::FOLDER, folder)];
        let work = move || memory::run(mind_run::run, &args, files, variables);
        let outcome = signals::waiting(py, work)?;
        if outcome.code != 0 {
            return Err(error(py, "RunError", outcome.errors.trim_end(), None));
        }
        let class = py
            .import(intern!(py, "mind_opt._profile"))?
            .getattr(intern!(py, "Profile"))?;
        class.call1((&outcome.shown, outcome.text("trace.json")))
    }

    fn outputs_of<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = args.py();
        if let Some(model) = &self.complete {
            return run(py, model, &self.arrays(args, named, false)?);
        }
        let arrays = self.arrays(args, named, true)?;
        let (inputs, weights) = arrays.split_at(self.inner.inputs().len());
        let named = self.inner.params().iter().zip(weights);
        let named = named
            .map(|(port, array)| (port.name.clone(), array.tensor()))
            .collect();
        let model = signals::running(py, || bound(&self.inner, named))?;
        let model = model.map_err(|why| raised(py, &why))?;
        run(py, &model, inputs)
    }
}

/// A compiled module with its weights. Calling it runs it on inputs by position or by name.
#[pyclass(frozen, module = "mind_opt")]
pub(crate) struct BoundExecutable {
    executable: Py<Executable>,
    model: BoundModel,
}

impl BoundExecutable {
    fn outputs_of<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let arrays = self.executable.get().arrays(args, named, false)?;
        run(args.py(), &self.model, &arrays)
    }
}

#[pymethods]
impl BoundExecutable {
    /// The inputs of each call, in order.
    #[getter]
    fn inputs(&self) -> Vec<Port> {
        self.executable.get().inputs()
    }

    /// The outputs, in order.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        self.executable.get().outputs()
    }

    /// Runs on inputs by position, by keyword, or in one dict. Returns the output, or a tuple of several.
    #[pyo3(signature = (*args, **named))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        result(args.py(), self.outputs_of(args, named)?)
    }

    /// Runs on inputs as a call does. Returns the outputs by name.
    #[pyo3(signature = (*args, **named))]
    fn run<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let outputs = self.outputs_of(args, named)?;
        dict(args.py(), &self.executable.get().outputs, outputs)
    }

    /// Runs on inputs by name. Returns the outputs as objects of the class `Array`.
    fn _arrays(&self, named: &Bound<'_, PyDict>) -> PyResult<Vec<Array>> {
        let py = named.py();
        let own = self.executable.get();
        let arrays = own.arrays(&PyTuple::empty(py), Some(named), false)?;
        run_arrays(py, &self.model, &arrays)
    }

    /// Profiles a call with these inputs, as `Executable.profile`.
    #[pyo3(signature = (*args, **named))]
    fn profile<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let own = self.executable.get();
        let arrays = own.arrays(args, named, false)?;
        let inputs = own.inner.inputs().iter().zip(&arrays);
        let inputs = inputs.map(|(port, array)| (port.name.clone(), array.tensor()));
        let mut all: Vec<(String, Tensor)> = inputs.collect();
        self.model
            .with_dependent(|weights, _| all.extend(weights.arrays.iter().cloned()));
        own.profiled(args.py(), &all)
    }

    fn __repr__(&self) -> String {
        format!("Bound{}", self.executable.get().__repr__())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let own = slf.get();
        let rebuild = py
            .import(intern!(py, "mind_opt._pickle"))?
            .getattr(intern!(py, "bound"))?;
        let weights = PyDict::new(py);
        own.model.with_dependent(|weights_of, _| -> PyResult<()> {
            for (name, array) in &weights_of.arrays {
                weights.set_item(name, given_out(py, array.clone())?)?;
            }
            Ok(())
        })?;
        let state = (own.executable.bind(py), weights);
        Ok((rebuild, state.into_pyobject(py)?))
    }
}
