//! Compiles and runs modules.

use std::borrow::Borrow;
use std::sync::Arc;

use mind_driver::executable;

pub use mind_driver::cache::{CacheStats, CompileCache};
pub use mind_driver::engine::{Config, Engine};
pub use mind_driver::executable::{ExecutionError, View, ViewMut};
pub use mind_jit::interrupt::interruptible;
pub use mind_jit::program::{BoundProgram, RunError};
pub use mind_vir::target::Isa;

use crate::error::Error;
use crate::module::{Module, Port};
use crate::run::{Outputs, Tensor};

impl Module {
    /// Compiles the module for this machine, with its own thread pool. The module must be verified; modules that were
    /// read or optimised are.
    ///
    /// ```
    /// use mind::{Config, Module, Tensor};
    ///
    /// let module = Module::parse("mic@2\nS B\nT0 f32 B 2\nT1 f32 2 2\na x T0\np w T1\nm 0 1\nr 2\nO 3")?;
    /// let executable = module.compile(&Config::default())?;
    /// assert_eq!(executable.outputs()[0].ty.to_string(), "f32[B, 2]");
    ///
    /// let w = Tensor::of(vec![2, 2], vec![1.0f32, -1.0, 1.0, 1.0]);
    /// let model = executable.bind([("w", &w)])?;
    /// let x = Tensor::of(vec![1, 2], vec![1.0f32, 2.0]);
    /// assert_eq!(model.run([("x", &x)])?[0].elements::<f32>(), [3.0, 1.0]);
    /// let x = Tensor::of(vec![2, 2], vec![1.0f32, 2.0, 3.0, 4.0]);
    /// assert_eq!(model.run([("x", &x)])?[0].elements::<f32>(), [3.0, 1.0, 7.0, 1.0]);
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// Programs are cached on disk if the configuration has a cache, and their steps are timed if it has a profiler:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use mind::profile::Profiler;
    /// use mind::{CompileCache, Config, Module, Tensor};
    ///
    /// let folder = std::env::temp_dir().join(format!("programs-{}", std::process::id()));
    /// let cache = Arc::new(CompileCache::open(&folder, CompileCache::LIMIT).unwrap());
    /// let profiler = Arc::new(Profiler::default());
    /// let config = Config {
    ///     cache: Some(cache.clone()),
    ///     profiler: Some(profiler.clone()),
    ///     ..Config::default()
    /// };
    /// let module = Module::parse("mic@2\nT0 f32 2\na x T0\nr 0\nO 1")?;
    /// module.compile(&config)?;
    /// let executable = module.compile(&config)?;
    /// assert_eq!((cache.stats().missed, cache.stats().found), (1, 1));
    ///
    /// executable.run([("x", Tensor::of(vec![2], vec![1.0f32, -1.0]))])?;
    /// let ran: Vec<u64> = profiler.rows().iter().map(|step| step.runs).collect();
    /// assert_eq!(ran, [0, 1]);
    /// # std::fs::remove_dir_all(folder).unwrap();
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the machine lacks the instruction set, or if an op or extent cannot be compiled.
    pub fn compile(&self, config: &Config) -> Result<Executable, Error> {
        let engine = Engine::new(config).map_err(|found| self.refused(found))?;
        self.compile_on(&Arc::new(engine))
    }

    /// Compiles the module with an engine, whose thread pool its executables share.
    ///
    /// # Errors
    ///
    /// Errors if an op or extent cannot be compiled.
    pub fn compile_on(&self, engine: &Arc<Engine>) -> Result<Executable, Error> {
        let mut module = self.without_states()?;
        let imported = mind_from_mil::import(&mut module.graph);
        imported.map_err(|found| self.refused(found))?;
        let (inputs, params, outputs) = (module.inputs(), module.params(), module.outputs());
        let made = executable::Executable::new(engine.clone(), module.graph);
        Ok(Executable {
            inner: made.map_err(|found| self.refused(found))?,
            inputs,
            params,
            outputs,
        })
    }
}

/// A compiled module. If it has symbolic or unknown extents, it is specialised when arrays first have certain extents.
///
/// It can be used from several threads at once.
pub struct Executable {
    inner: executable::Executable,
    inputs: Vec<Port>,
    params: Vec<Port>,
    outputs: Vec<Port>,
}

impl Executable {
    /// Returns the inputs other than weights, in order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// Returns the weights, in order.
    pub fn params(&self) -> &[Port] {
        &self.params
    }

    /// Returns the outputs, in order.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Binds all weights by name. They are packed once for each set of extents, so the arrays must not be modified.
    ///
    /// # Errors
    ///
    /// Errors if an array is missing, does not match, or is not a weight of the module.
    pub fn bind<'m, N: AsRef<str>>(
        &'m self,
        weights: impl IntoIterator<Item = (N, &'m Tensor)>,
    ) -> Result<Model<'m>, Error> {
        let weights: Vec<(N, &Tensor)> = weights.into_iter().collect();
        let named: Vec<_> = weights
            .iter()
            .map(|(name, array)| (name.as_ref(), *array))
            .collect();
        let views = in_order("weight", &self.params, &named)?;
        Ok(Model {
            inner: self.inner.bind(&views)?,
            executable: self,
        })
    }

    /// Binds weights as borrowed views, in the order of [`params`](Executable::params).
    ///
    /// # Errors
    ///
    /// Errors if the number, the dtype or the shape of weights does not match.
    pub fn bind_views<'m>(&'m self, weights: &[View<'m>]) -> Result<Model<'m>, Error> {
        Ok(Model {
            inner: self.inner.bind(weights)?,
            executable: self,
        })
    }

    /// Binds the weights and runs once, with inputs and weights by name. Use [`bind`](Executable::bind) to run several
    /// times, because binding packs the weights.
    ///
    /// # Errors
    ///
    /// Errors if an array is missing or does not match, if an index is out of bounds, or if an integer division is by
    /// zero or overflows.
    pub fn run<N: AsRef<str>, T: Borrow<Tensor>>(
        &self,
        arrays: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Outputs, Error> {
        let arrays: Vec<(N, T)> = arrays.into_iter().collect();
        let is_weight = |name: &str| self.params.iter().any(|port| port.name == name);
        let named = arrays
            .iter()
            .map(|(name, array)| (name.as_ref(), array.borrow()));
        let (weights, inputs): (Vec<_>, Vec<_>) = named.partition(|(name, _)| is_weight(name));
        self.bind(weights)?.run(inputs)
    }
}

/// A compiled module with bound weights. It can be run from several threads at once.
pub struct Model<'m> {
    inner: executable::Model<'m>,
    executable: &'m Executable,
}

impl Model<'_> {
    /// Runs on inputs by name.
    ///
    /// # Errors
    ///
    /// Errors if an array is missing or does not match, if an index is out of bounds, or if an integer division is by
    /// zero or overflows.
    pub fn run<N: AsRef<str>, T: Borrow<Tensor>>(
        &self,
        inputs: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Outputs, Error> {
        let inputs: Vec<(N, T)> = inputs.into_iter().collect();
        let named = inputs
            .iter()
            .map(|(name, array)| (name.as_ref(), array.borrow()));
        let named: Vec<(&str, &Tensor)> = named.collect();
        self.run_views(&in_order("input", &self.executable.inputs, &named)?)
    }

    /// Runs on borrowed views, in the order of [`inputs`](Executable::inputs), and returns new tensors.
    ///
    /// ```
    /// use mind::{Config, DType, Module, View};
    ///
    /// let module = Module::parse("mic@2\nT0 f32 2\na x T0\nr 0\nO 1")?;
    /// let executable = module.compile(&Config::default())?;
    /// let model = executable.bind_views(&[])?;
    /// let x: Vec<u8> = [-1.0f32, 2.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
    /// let outputs = model.run_views(&[View::from_bytes(DType::F32, &[2], &x)])?;
    /// assert_eq!(outputs[0].elements::<f32>(), [0.0, 2.0]);
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors as [`run_into`](Model::run_into).
    pub fn run_views(&self, inputs: &[View<'_>]) -> Result<Outputs, Error> {
        let tensors = self.inner.run_new(inputs)?;
        let names = self.executable.outputs.iter().map(|port| port.name.clone());
        Ok(Outputs::new(names, tensors))
    }

    /// Runs on borrowed views of inputs and outputs, in the order of [`inputs`](Executable::inputs) and
    /// [`outputs`](Executable::outputs).
    ///
    /// ```
    /// use mind::{Config, Module, View, ViewMut};
    ///
    /// let module = Module::parse("mic@2\nT0 f32 2\na x T0\nr 0\nO 1")?;
    /// let executable = module.compile(&Config::default())?;
    /// let model = executable.bind_views(&[])?;
    /// let mut y = [0f32; 2];
    /// model.run_into(&[View::new(&[2], &[-1.0f32, 2.0])], &mut [ViewMut::new(&mut y)])?;
    /// assert_eq!(y, [0.0, 2.0]);
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if the number, dtype or shape of arrays does not match, if extents contradict each other, if an index is
    /// out of bounds, or if an integer division is by zero or overflows. The contents of outputs are then unspecified.
    pub fn run_into(&self, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<(), Error> {
        Ok(self.inner.run(inputs, outputs)?)
    }

    /// Returns the bound program for the extents of `inputs`; calls of it check sizes only.
    ///
    /// # Errors
    ///
    /// Errors as [`run_into`](Model::run_into), and if the module has ops with data-dependent shapes.
    pub fn bound_for(&self, inputs: &[View<'_>]) -> Result<Arc<BoundProgram>, Error> {
        Ok(self.inner.bound_for(inputs)?)
    }
}

/// Returns the arrays of `ports`, in their order.
///
/// # Errors
///
/// Errors if an array is missing, is passed twice, or has an unknown name.
fn in_order<'a>(
    kind: &'static str,
    ports: &[Port],
    arrays: &[(&str, &'a Tensor)],
) -> Result<Vec<View<'a>>, ExecutionError> {
    let unknown = |(name, _): &&(&str, &Tensor)| ports.iter().all(|port| port.name != *name);
    if let Some((name, _)) = arrays.iter().find(unknown) {
        let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
        return Err(ExecutionError::Unknown {
            kind,
            name: (*name).to_owned(),
            known: names.join(", "),
        });
    }
    let array = |port: &Port| {
        let mut own = arrays.iter().filter(|(name, _)| *name == port.name);
        match (own.next(), own.next()) {
            (Some((_, array)), None) => Ok(View::of(array)),
            (None, _) => Err(ExecutionError::Missing {
                kind,
                name: port.name.clone(),
                ty: port.ty.to_string(),
            }),
            (Some(_), Some(_)) => Err(ExecutionError::Twice {
                kind,
                name: port.name.clone(),
            }),
        }
    };
    ports.iter().map(array).collect()
}
