//! Compiled modules for embedding in a program.
//!
//! ```
//! use mind_driver::engine::{Config, Engine};
//! use mind_driver::executable::{Executable, View, ViewMut};
//!
//! let text = "%0 = Input {name=x} : tensor<f32[B, 2]>\n\
//!             %1 = Input {name=w, role=param} : tensor<f32[2]>\n\
//!             %2 = Mul (%0, %1) : tensor<f32[B, 2]>\n\
//!             outputs: %2";
//! let engine = Engine::new(&Config::default()).unwrap();
//! let executable = Executable::from_text(engine.into(), text).unwrap();
//! let model = executable.bind(&[View::new(&[2], &[10.0f32, 100.0])]).unwrap();
//! let mut y = [0f32; 4];
//! let x = [1.0f32, 2.0, 3.0, 4.0];
//! model.run(&[View::new(&[2, 2], &x)], &mut [ViewMut::new(&mut y)]).unwrap();
//! assert_eq!(y, [10.0, 200.0, 30.0, 400.0]);
//! ```

mod split;

use std::sync::{Arc, Mutex, PoisonError};

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_interp::InputSpec;
use mind_ir::eval::can_allocate;
use mind_ir::tensor::{Buffer, Element, Tensor};
use mind_ir::types::{DType, Dim};
use mind_ir::verify::VerifyConfig;
use mind_ir::{Graph, OpId, Sym};
use mind_jit::program::{BoundProgram, Port, Program, RunError};
use mind_transforms::{Known, specialize};
use rustc_hash::FxHashMap;

use self::split::{BoundSplit, SplitModule, Views};
use crate::cut::cut;
use crate::engine::Engine;
use crate::formats::LoadOptions;
use crate::load::load_module;
use crate::segments::Segments;

/// A borrowed input array.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    dtype: DType,
    shape: &'a [usize],
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// Returns a view of row-major elements. Whether they fill the shape is checked when the view is bound or run.
    pub fn new<T: Element + bytemuck::NoUninit>(shape: &'a [usize], elements: &'a [T]) -> View<'a> {
        View {
            dtype: T::DTYPE,
            shape,
            bytes: bytemuck::cast_slice(elements),
        }
    }

    /// Returns a view of row-major elements in native byte order; booleans are the bytes 0 and 1. Whether they fill the
    /// shape is checked when the view is bound or run.
    pub fn from_bytes(dtype: DType, shape: &'a [usize], bytes: &'a [u8]) -> View<'a> {
        View {
            dtype,
            shape,
            bytes,
        }
    }

    /// Returns a view of a tensor.
    pub fn of(tensor: &'a Tensor) -> View<'a> {
        View {
            dtype: tensor.dtype(),
            shape: tensor.shape(),
            bytes: tensor.buffer().as_bytes(),
        }
    }
}

/// A borrowed output array.
#[derive(Debug)]
pub struct ViewMut<'a> {
    dtype: DType,
    bytes: &'a mut [u8],
}

impl<'a> ViewMut<'a> {
    /// Returns a view of row-major elements to be written.
    pub fn new<T: Element + bytemuck::Pod>(elements: &'a mut [T]) -> ViewMut<'a> {
        ViewMut {
            dtype: T::DTYPE,
            bytes: bytemuck::cast_slice_mut(elements),
        }
    }
}

/// Error of a call of an executable.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionError {
    /// The module could not be compiled, for the extents of these arrays or for any extents.
    #[error("{0}")]
    Compile(Diagnostics),
    /// An array has an unknown name.
    #[error("the module has no {kind} `{name}`; it has {known}")]
    Unknown {
        /// The kind of array: `input` or `weight`.
        kind: &'static str,
        /// The unknown name.
        name: String,
        /// The names of the module's arrays.
        known: String,
    },
    /// An array is missing.
    #[error("no array is given for {kind} `{name}` of type {ty}")]
    Missing {
        /// The kind of array: `input` or `weight`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Its type.
        ty: String,
    },
    /// An array was passed twice.
    #[error("two arrays are given for {kind} `{name}`")]
    Twice {
        /// The kind of array: `input` or `weight`.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// An array has the wrong dtype.
    #[error("`{name}` is {expected}, found {found}")]
    DType {
        /// The name of the array.
        name: String,
        /// The dtype in the module.
        expected: DType,
        /// The dtype of the array.
        found: DType,
    },
    /// An array has the wrong shape.
    #[error("`{name}` is {expected}, found shape {found:?}")]
    Shape {
        /// The name of the array.
        name: String,
        /// The type in the module.
        expected: String,
        /// The shape of the array.
        found: Vec<usize>,
    },
    /// The module is not a single program, because of an op with a data-dependent shape.
    #[error("the module is split at `{op}`, whose results have data-dependent shapes")]
    InParts {
        /// The op.
        op: &'static str,
    },
    /// Arrays have the wrong count or size, or the run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The extents of the symbolic dimensions and `?` of inputs, in order of declaration.
type Extents = Vec<usize>;

/// A module with its compiled programs, one for each set of extents.
///
/// It can be used from several threads at once. If an op has a data-dependent shape, the module runs in parts: the ops
/// before it as machine code, the op itself by its `eval`, and the ops after it as machine code, which is compiled when
/// their extents first occur.
pub struct Executable {
    source: Arc<Source>,
}

/// The shared part of executables and models: a module with its compiled programs.
struct Source {
    engine: Arc<Engine>,
    graph: Graph,
    plans: Mutex<FxHashMap<Extents, Plan>>,
}

/// The compiled form of a module for one set of extents.
#[derive(Clone)]
enum Plan {
    Whole(Arc<Program>, Arc<Segments>),
    Cut(Arc<SplitModule>),
}

impl Executable {
    /// Creates an executable of a verified module. A module without symbolic or unknown extents is compiled at once.
    ///
    /// # Errors
    ///
    /// Errors if an op or extent cannot be compiled.
    pub fn new(engine: Arc<Engine>, graph: Graph) -> Result<Executable, Diagnostics> {
        let source = Source {
            engine,
            graph,
            plans: Mutex::default(),
        };
        if source.open_dims().next().is_none() {
            source.plan(&[])?;
        }
        Ok(Executable {
            source: Arc::new(source),
        })
    }

    /// Creates an executable of a module in any format.
    ///
    /// # Errors
    ///
    /// Errors if the text is invalid or the module cannot be compiled.
    pub fn from_text(engine: Arc<Engine>, text: &str) -> Result<Executable, Diagnostics> {
        let formats = &engine.session().formats;
        let loaded = load_module(
            formats,
            "module",
            text.to_owned().into(),
            &LoadOptions::default(),
        );
        let graph = loaded.map_err(|rejected| rejected.diagnostics)?.graph;
        Executable::new(engine, graph)
    }

    /// Returns the inputs other than weights, in the order in which runs take them.
    pub fn inputs(&self) -> Vec<InputSpec<'_>> {
        self.specs(false)
    }

    /// Returns the weights, in the order in which [`bind`](Executable::bind) takes them.
    pub fn params(&self) -> Vec<InputSpec<'_>> {
        self.specs(true)
    }

    fn specs(&self, is_param: bool) -> Vec<InputSpec<'_>> {
        let all = self.graph_inputs().into_iter();
        all.filter(|input| input.param == is_param).collect()
    }

    /// Returns inputs and weights in order of declaration.
    fn graph_inputs(&self) -> Vec<InputSpec<'_>> {
        mind_interp::inputs(&self.source.graph)
    }

    /// Returns the cut points for one of the sets of extents that were compiled so far.
    pub fn segments(&self) -> Segments {
        let plans = self.source.plans.lock();
        let plans = plans.unwrap_or_else(PoisonError::into_inner);
        match plans.values().next() {
            Some(Plan::Whole(_, segments)) => segments.as_ref().clone(),
            Some(Plan::Cut(parts)) => parts.segments(),
            None => Segments::default(),
        }
    }

    /// Binds weights. They are packed once for each set of extents, so the arrays must not be modified.
    ///
    /// # Errors
    ///
    /// Errors if the number, the dtype or the shape of weights does not match.
    pub fn bind<'m>(&self, params: &[View<'m>]) -> Result<Model<'m>, ExecutionError> {
        let specs = self.params();
        check_count("weights", specs.len(), params.len())?;
        for (spec, view) in specs.iter().zip(params) {
            self.source.check(spec, view)?;
        }
        let model = Model {
            source: self.source.clone(),
            params: params.to_vec(),
            bound: Mutex::default(),
        };
        if self.source.open_dims().next().is_none() {
            model.bound(&[])?;
        }
        Ok(model)
    }
}

impl Source {
    /// Checks an array against its input.
    ///
    /// # Errors
    ///
    /// Errors if the dtype, the rank, a fixed extent or the number of elements does not match.
    fn check(&self, spec: &InputSpec<'_>, view: &View<'_>) -> Result<(), ExecutionError> {
        let name = || spec.name.to_owned();
        if view.dtype != spec.ty.dtype {
            return Err(ExecutionError::DType {
                name: name(),
                expected: spec.ty.dtype,
                found: view.dtype,
            });
        }
        let mut dims = spec.ty.shape.iter().zip(view.shape);
        let same_rank = spec.ty.rank() == view.shape.len();
        let fits = |(dim, extent): (&Dim, &usize)| dim.fixed().is_none_or(|n| n == *extent as i64);
        let count = view
            .shape
            .iter()
            .try_fold(view.dtype.size(), |all, &n| all.checked_mul(n));
        if same_rank && dims.all(fits) && count == Some(view.bytes.len()) {
            return Ok(());
        }
        Err(ExecutionError::Shape {
            name: name(),
            expected: spec.ty.text(self.graph.symbols()),
            found: view.shape.to_vec(),
        })
    }

    /// Returns the dimensions of inputs that are symbolic or `?`.
    fn open_dims(&self) -> impl Iterator<Item = (OpId, usize, Dim)> {
        let inputs = mind_interp::inputs(&self.graph).into_iter();
        let dims = inputs.flat_map(|input| {
            let dims = input.ty.shape.iter().copied().enumerate();
            let dims: Vec<_> = dims.map(|(axis, dim)| (input.op, axis, dim)).collect();
            dims
        });
        dims.filter(|(_, _, dim)| dim.fixed().is_none())
    }

    /// Returns the plan for these extents of [`open_dims`](Source::open_dims); compiles it on first use.
    fn plan(&self, extents: &[usize]) -> Result<Plan, Diagnostics> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans.get(extents) {
            return Ok(known.clone());
        }
        let mut symbols: FxHashMap<Sym, usize> = FxHashMap::default();
        let mut unnamed: FxHashMap<(OpId, usize), usize> = FxHashMap::default();
        for ((op, axis, dim), &extent) in self.open_dims().zip(extents) {
            if let Dim::Symbol(sym) = dim {
                let first = *symbols.entry(sym).or_insert(extent);
                if first != extent {
                    let name = self.graph.name(sym);
                    let text =
                        format!("dimension {name} is {first} in one array and {extent} in another");
                    return Err(Diagnostic::error(Span::FILE, text).into());
                }
            } else {
                unnamed.insert((op, axis), extent);
            }
        }
        let known = Known {
            symbol: &|sym| symbols.get(&sym).map(|&extent| extent as i64),
            input: &|op, axis| unnamed.get(&(op, axis)).map(|&extent| extent as i64),
        };
        let mut g = self.graph.clone();
        specialize(&mut g, &known, &VerifyConfig::default())?;
        let plan = match cut(&g) {
            Some(cut) => Plan::Cut(Arc::new(SplitModule::new(&self.engine, g, cut)?)),
            None => {
                let (program, segments) = self.engine.compile(g)?;
                Plan::Whole(program, Arc::new(segments))
            }
        };
        plans.insert(extents.to_vec(), plan.clone());
        Ok(plan)
    }
}

/// An executable with bound weights. It can be run from several threads at once.
pub struct Model<'m> {
    source: Arc<Source>,
    params: Vec<View<'m>>,
    bound: Mutex<FxHashMap<Extents, Bound<'m>>>,
}

/// The compiled form of a module for one set of extents, with bound weights.
#[derive(Clone)]
enum Bound<'m> {
    Whole(Arc<BoundProgram>),
    Cut(Arc<BoundSplit<'m>>),
}

impl<'m> Model<'m> {
    /// Runs on `inputs` and writes the results to `outputs`, without copies of the caller's arrays if the module is a
    /// single program.
    ///
    /// # Errors
    ///
    /// Errors if the number, dtype or shape of arrays does not match, if extents contradict each other, if an integer
    /// division is by zero or overflows, or if an index is out of bounds. The contents of outputs are then unspecified.
    pub fn run(
        &self,
        inputs: &[View<'_>],
        outputs: &mut [ViewMut<'_>],
    ) -> Result<(), ExecutionError> {
        let bound = match self.checked(inputs)? {
            Bound::Whole(bound) => bound,
            Bound::Cut(parts) => {
                let results = parts.run(&self.views(inputs))?;
                return self.copy(&results, outputs);
            }
        };
        let ports = bound.program().outputs().iter().zip(outputs.iter());
        for (port, view) in ports {
            check_dtype(&port.name, port.dtype, view)?;
        }
        let inputs: Vec<&[u8]> = inputs.iter().map(|view| view.bytes).collect();
        let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(|view| &mut *view.bytes).collect();
        Ok(bound.run(&inputs, &mut outputs)?)
    }

    /// Runs on `inputs` and returns new tensors.
    ///
    /// # Errors
    ///
    /// Errors as [`run`](Model::run), and if the outputs cannot be allocated.
    pub fn run_new(&self, inputs: &[View<'_>]) -> Result<Vec<Tensor>, ExecutionError> {
        let bound = match self.checked(inputs)? {
            Bound::Whole(bound) => bound,
            Bound::Cut(parts) => return parts.run(&self.views(inputs)),
        };
        let ports = bound.program().outputs();
        let mut outputs = Vec::with_capacity(ports.len());
        for port in ports {
            let bytes = port.bytes();
            if !can_allocate(bytes as u64) {
                return Err(RunError::OutOfMemory { bytes }.into());
            }
            outputs.push(vec![0; bytes]);
        }
        let inputs: Vec<&[u8]> = inputs.iter().map(|view| view.bytes).collect();
        let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        bound.run(&inputs, &mut slices)?;
        let tensor = |(port, bytes): (&Port, Vec<u8>)| {
            Tensor::new(port.shape.clone(), Buffer::from_bytes(port.dtype, &bytes))
        };
        Ok(ports.iter().zip(outputs).map(tensor).collect())
    }

    /// Copies results to the caller's arrays.
    fn copy(&self, results: &[Tensor], outputs: &mut [ViewMut<'_>]) -> Result<(), ExecutionError> {
        check_count("outputs", results.len(), outputs.len())?;
        let g = &self.source.graph;
        for ((tensor, view), &value) in results.iter().zip(outputs).zip(g.outputs()) {
            let name = format!("%{}", g.label(value));
            check_dtype(&name, tensor.dtype(), view)?;
            let bytes = tensor.buffer().as_bytes();
            if view.bytes.len() != bytes.len() {
                return Err(ExecutionError::Run(RunError::Size {
                    name,
                    shape: tensor.shape().to_vec(),
                    dtype: tensor.dtype(),
                    expected: bytes.len(),
                    found: view.bytes.len(),
                }));
            }
            view.bytes.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Returns inputs and weights by their values in the module.
    fn views<'v>(&self, inputs: &[View<'v>]) -> Views<'v>
    where
        'm: 'v,
    {
        let (mut params, mut inputs) = (self.params.iter(), inputs.iter());
        let g = &self.source.graph;
        let specs = mind_interp::inputs(g).into_iter();
        let views = specs.filter_map(|spec| {
            let side = if spec.param { &mut params } else { &mut inputs };
            Some((g.result(spec.op), *side.next()?))
        });
        views.collect()
    }

    /// Checks `inputs` and returns the program for their extents.
    fn checked(&self, inputs: &[View<'_>]) -> Result<Bound<'m>, ExecutionError> {
        let specs = mind_interp::inputs(&self.source.graph).into_iter();
        let specs: Vec<_> = specs.filter(|spec| !spec.param).collect();
        check_count("inputs", specs.len(), inputs.len())?;
        for (spec, view) in specs.iter().zip(inputs) {
            self.source.check(spec, view)?;
        }
        self.bound(&self.extents(inputs))
    }

    /// Returns the bound program for the extents of `inputs`; calls of it check sizes only.
    ///
    /// # Errors
    ///
    /// Errors as [`run`](Model::run), and if the module runs in parts.
    pub fn bound_for(&self, inputs: &[View<'_>]) -> Result<Arc<BoundProgram>, ExecutionError> {
        match self.checked(inputs)? {
            Bound::Whole(bound) => Ok(bound),
            Bound::Cut(parts) => Err(ExecutionError::InParts {
                op: parts.evaluated(),
            }),
        }
    }

    fn extents(&self, inputs: &[View<'_>]) -> Extents {
        let (mut params, mut inputs) = (self.params.iter(), inputs.iter());
        let mut extents = Extents::new();
        for spec in mind_interp::inputs(&self.source.graph) {
            let view = if spec.param {
                params.next()
            } else {
                inputs.next()
            };
            let Some(view) = view else { continue };
            let dims = spec.ty.shape.iter().zip(view.shape);
            let open = dims.filter(|(dim, _)| dim.fixed().is_none());
            extents.extend(open.map(|(_, &extent)| extent));
        }
        extents
    }

    fn bound(&self, extents: &[usize]) -> Result<Bound<'m>, ExecutionError> {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = bound.get(extents) {
            return Ok(known.clone());
        }
        let new = match self.source.plan(extents).map_err(ExecutionError::Compile)? {
            Plan::Whole(program, _) => {
                let params: Vec<&[u8]> = self.params.iter().map(|view| view.bytes).collect();
                Bound::Whole(Arc::new(BoundProgram::new(program, &params)?))
            }
            Plan::Cut(parts) => {
                let specs = mind_interp::inputs(&self.source.graph).into_iter();
                let values = specs.filter(|spec| spec.param);
                let values = values.map(|spec| self.source.graph.result(spec.op));
                let params = values.zip(self.params.iter().copied()).collect();
                Bound::Cut(Arc::new(parts.bind(&params)?))
            }
        };
        bound.insert(extents.to_vec(), new.clone());
        Ok(new)
    }
}

/// Checks the dtype of an output array.
///
/// # Errors
///
/// Errors if it is not `expected`.
fn check_dtype(name: &str, expected: DType, view: &ViewMut<'_>) -> Result<(), ExecutionError> {
    if view.dtype == expected {
        return Ok(());
    }
    Err(ExecutionError::DType {
        name: name.to_owned(),
        expected,
        found: view.dtype,
    })
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<(), RunError> {
    match expected == found {
        true => Ok(()),
        false => Err(RunError::Count {
            what,
            expected,
            found,
        }),
    }
}
