//! Modules.

use std::borrow::Borrow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use mind_core::ops::input::Input;
use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_driver::cache;
use mind_driver::disk::Disk;
use mind_driver::formats::{FormatInfo, LoadOptions};
use mind_driver::input::{self, Access};
use mind_driver::load::load_module;
use mind_driver::mil::weights;
use mind_driver::patch::{self, Edit};
use mind_driver::session::Session;
use mind_ir::builder::{Build, Builder};
use mind_ir::builtin::Yield;
use mind_ir::graph::{InsertPoint, NewOp};
use mind_ir::interface::Interface;
use mind_ir::opdef::Op;
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Bytes, Graph, ValueId};
use mind_transforms::{Known, specialize};

pub use mind_driver::formats::Format;

use crate::error::{Error, Rejected, invalid};
use crate::read::ReadOptions;
use crate::run::{Outputs, Tensor};
use crate::types::Type;

/// A module: a graph of ops with inputs and outputs.
///
/// Modules are read from text or built op by op:
///
/// ```
/// use mind::Module;
/// use mind::ops::elementwise::Relu;
/// use mind::ops::contract::MatMul;
///
/// let mut module = Module::new();
/// let x = module.input("x", "f32[B, 784]")?;
/// let w = module.param("w", "f32[784, 10]")?;
/// let product = MatMul::build(&mut module, x, w)?;
/// let y = Relu::build(&mut module, product)?;
/// module.output(y);
/// module.verify()?;
/// assert_eq!(
///     module.to_string(),
///     "%0 = Input {name=x} : tensor<f32[B, 784]>
/// %1 = Input {name=w, role=param} : tensor<f32[784, 10]>
/// %2 = MatMul (%0, %1) : tensor<f32[B, 10]>
/// %3 = Relu (%2) : tensor<f32[B, 10]>
/// outputs: %3"
/// );
/// # Ok::<(), mind::Error>(())
/// ```
#[derive(Clone)]
pub struct Module {
    pub(crate) graph: Graph,
    pub(crate) source: Arc<SourceFile>,
    pub(crate) format: &'static FormatInfo,
}

/// An input or output of a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Port {
    /// Its name. An unnamed output has the name of its value, for example `%3`.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

impl Module {
    /// Creates a module without ops.
    pub fn new() -> Module {
        Module::from(Graph::new())
    }

    /// Parses and verifies a module in any text format, detected from its first line.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text.
    pub fn parse(text: &str) -> Result<Module, Error> {
        Module::load("<text>", text.to_owned().into(), &LoadOptions::default())
    }

    /// Parses and verifies a module in the format `format`.
    ///
    /// # Errors
    ///
    /// Returns all errors of the text.
    pub fn parse_as(format: Format, text: &str) -> Result<Module, Error> {
        let options = LoadOptions {
            from: Some(format.info()),
            ..LoadOptions::default()
        };
        Module::load("<text>", text.to_owned().into(), &options)
    }

    /// Reads and verifies the module in a file or Core ML package, including the weight files of MIL. The format is
    /// detected from the contents.
    ///
    /// # Errors
    ///
    /// Errors if a file cannot be read, and returns all errors of the module.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Module, Error> {
        Module::from_file_with(path, &ReadOptions::default())
    }

    /// As [`from_file`](Module::from_file), with `options`.
    ///
    /// # Errors
    ///
    /// Errors as [`from_file`](Module::from_file), if the module lacks a dimension or an input of `options`, or if
    /// arrays are bound and the format does not support it.
    pub fn from_file_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Module, Error> {
        let path = path.as_ref().to_string_lossy();
        let input = input::read(&mut Disk, &path, &options.load, Access::Read)?;
        options.check(&input.path, input.options.from)?;
        let mut module = Module::load(&path, input.bytes, &input.options)?;
        let read = weights::read(&mut module.graph, &input.path, &mut Disk);
        read.map_err(|found| module.refused(found))?;
        module.extended(options)
    }

    /// Reads and verifies a module from the bytes of a file, in any text or binary format. `name` is the name of the
    /// file in diagnostics. External data files cannot be read.
    ///
    /// ```
    /// use mind::{Module, ReadOptions};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/classifier.onnx");
    /// let bytes = std::fs::read(path).expect("a file");
    /// let module = Module::from_bytes("classifier.onnx", bytes, &ReadOptions::new().dim("batch", 2))?;
    /// assert_eq!(module.inputs()[0].ty.to_string(), "f32[2, 1, 8, 8]");
    /// assert_eq!(module.output_names(), ["classes"]);
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors as [`from_file_with`](Module::from_file_with).
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Module, Error> {
        let format = options.load.from.or_else(|| FormatInfo::of_bytes(&bytes));
        options.check(name, format)?;
        Module::load(name, bytes.into(), &options.load)?.extended(options)
    }

    /// Specialises the module to the extents of `options`, unless the reader did.
    fn extended(mut self, options: &ReadOptions) -> Result<Module, Error> {
        let dims = &options.load.dims;
        if dims.is_empty() || self.format.reads_dims() {
            return Ok(self);
        }
        let pairs = dims.iter().map(|(name, extent)| (name.as_str(), *extent));
        let extents = mind_interp::Extents::given(&self.graph, pairs).map_err(|error| {
            let unbound: mind_interp::Unbound = error.into();
            self.refused(unbound.diagnostic(&self.graph))
        })?;
        let extents = extents.env();
        let known = Known {
            symbol: &|sym| extents.get(sym).map(|extent| extent as i64),
            input: &|_, _| None,
        };
        let done = specialize(&mut self.graph, &known, &VerifyConfig::default());
        done.map_err(|found| self.refused(found))?;
        Ok(self)
    }

    fn load(name: &str, bytes: Bytes, options: &LoadOptions) -> Result<Module, Error> {
        let loaded = load_module(&session().formats, name, bytes, options)?;
        Ok(Module {
            graph: loaded.graph,
            source: Arc::new(loaded.file),
            format: loaded.format,
        })
    }

    /// Adds an input. `ty` is a [`Type`] or its text.
    ///
    /// # Errors
    ///
    /// Errors if the text is not a type.
    pub fn input<T>(&mut self, name: &str, ty: T) -> Result<ValueId, Error>
    where
        T: TryInto<Type, Error: Into<Error>>,
    {
        self.declare(name, ty, false)
    }

    /// Adds a weight, which is bound once. `ty` is a [`Type`] or its text.
    ///
    /// # Errors
    ///
    /// Errors if the text is not a type.
    pub fn param<T>(&mut self, name: &str, ty: T) -> Result<ValueId, Error>
    where
        T: TryInto<Type, Error: Into<Error>>,
    {
        self.declare(name, ty, true)
    }

    fn declare<T>(&mut self, name: &str, ty: T, is_param: bool) -> Result<ValueId, Error>
    where
        T: TryInto<Type, Error: Into<Error>>,
    {
        let ty: Type = ty.try_into().map_err(Into::into)?;
        let ty = ty.intern(&mut self.graph);
        let ty = self.graph.intern_type(ty.view());
        let name = self.graph.intern(name);
        let attrs = Input::attrs(name, is_param, None);
        let op = self.builder().create_typed(Input::DEF, &[], &attrs, &[ty]);
        Ok(self.graph.result(op))
    }

    /// Appends an output.
    pub fn output(&mut self, value: ValueId) {
        let mut outputs = self.graph.outputs().to_vec();
        outputs.push(value);
        self.end(&outputs);
    }

    /// Replaces the outputs; the new ones have no names.
    pub fn set_outputs(&mut self, outputs: &[ValueId]) {
        self.graph.interface.outputs.clear();
        self.graph.interface.classifier = None;
        self.end(outputs);
    }

    fn end(&mut self, outputs: &[ValueId]) {
        let body = self.graph.body();
        if let Some(end) = self.graph.terminator(body) {
            self.graph.erase(end);
        }
        self.graph.insert(
            InsertPoint::End(body),
            NewOp {
                def: Yield::DEF,
                operands: outputs,
                attrs: &[],
                results: 0,
                span: Span::FILE,
            },
        );
    }

    /// Returns the inputs other than weights, in order.
    pub fn inputs(&self) -> Vec<Port> {
        self.ports(false)
    }

    /// Returns the weights, in order.
    pub fn params(&self) -> Vec<Port> {
        self.ports(true)
    }

    fn ports(&self, is_param: bool) -> Vec<Port> {
        let all = mind_interp::inputs(&self.graph).into_iter();
        let own = all.filter(|input| input.param == is_param);
        let port = |input: mind_interp::InputSpec<'_>| Port {
            name: input.name.to_owned(),
            ty: Type::of(input.ty, &self.graph),
        };
        own.map(port).collect()
    }

    /// Returns the outputs, in order.
    pub fn outputs(&self) -> Vec<Port> {
        let port = |(at, &value): (usize, &ValueId)| Port {
            name: self.graph.output_text(at),
            ty: Type::of(self.graph.ty(value), &self.graph),
        };
        self.graph.outputs().iter().enumerate().map(port).collect()
    }

    /// Returns the names of the outputs, in order; empty if an output has no name.
    pub fn output_names(&self) -> Vec<String> {
        let count = self.graph.outputs().len();
        let name = |at| self.graph.interface.output_name(at).map(str::to_owned);
        (0..count)
            .map(name)
            .collect::<Option<_>>()
            .unwrap_or_default()
    }

    /// Names the outputs, in order. [`verify`](Module::verify) rejects names that are equal, empty or too many.
    pub fn name_outputs(&mut self, names: Vec<String>) {
        self.graph.interface.name_outputs(names);
    }

    /// Returns the names of the outputs, metadata, images and class labels.
    pub fn interface(&self) -> &Interface {
        &self.graph.interface
    }

    /// Returns the ids of the outputs in Core text, in order.
    pub fn output_ids(&self) -> Vec<u64> {
        let outputs = self.graph.outputs().iter();
        outputs.map(|&value| self.graph.label(value)).collect()
    }

    /// Verifies the ops and infers the types of all values.
    ///
    /// # Errors
    ///
    /// Returns all errors of the module.
    pub fn verify(&mut self) -> Result<(), Error> {
        let found = verify(&mut self.graph, &VerifyConfig::default());
        if found.has_errors() {
            Err(self.refused(found))
        } else {
            Ok(())
        }
    }

    /// Applies edits in order, all or none, and verifies the result.
    ///
    /// # Errors
    ///
    /// Errors if an edit cannot be applied, if a deleted op still has users, or if the verifier rejects the result.
    pub fn apply(&mut self, edits: &[Edit]) -> Result<(), Error> {
        let config = VerifyConfig::default();
        self.graph = patch::apply(&self.graph, edits, &session().registry, &config)?;
        Ok(())
    }

    /// Prints the module in a text format.
    ///
    /// # Errors
    ///
    /// Returns an error for each op that the format cannot express.
    pub fn print(&self, format: Format) -> Result<String, Error> {
        let printed = session().formats.print(format, &self.graph);
        printed.map_err(|found| self.refused(found))
    }

    /// Serializes the module into bytes, little more than the bytes of its constants, for
    /// [`unpacked`](Module::unpacked).
    ///
    /// Only the same version of the compiler can read them. Use [`save`](Module::save) for files that are kept.
    ///
    /// ```
    /// use mind::Module;
    ///
    /// let module = Module::parse("mic@2\nS B\nT0 f32 B 2\na x T0\nr 0\nO 1")?;
    /// let bytes = module.packed();
    /// assert_eq!(Module::unpacked(&bytes)?.to_string(), module.to_string());
    /// assert!(Module::unpacked(&bytes[1..]).is_err());
    /// # Ok::<(), mind::Error>(())
    /// ```
    pub fn packed(&self) -> Vec<u8> {
        cache::pack(&self.graph)
    }

    /// Reads the output of [`packed`](Module::packed) and verifies the module. Its ops have no spans.
    ///
    /// # Errors
    ///
    /// Errors if the bytes are invalid or of another version, or if the verifier rejects the module.
    pub fn unpacked(bytes: &[u8]) -> Result<Module, Error> {
        let graph = cache::unpack(&session().registry, bytes);
        let mut module = Module::from(graph.ok_or_else(|| {
            invalid(
                "<bytes>",
                "",
                "these bytes are not a module of this version",
            )
        })?);
        module.verify()?;
        Ok(module)
    }

    /// Returns the module with the states of a MIL program as inputs and outputs.
    pub(crate) fn without_states(&self) -> Result<Module, Error> {
        let mut module = self.clone();
        let threaded = mind_mil::state::thread(&mut module.graph);
        threaded.map_err(|found| self.refused(found))?;
        Ok(module)
    }

    /// Runs the module in the reference interpreter, with inputs and weights by name. Symbolic and unknown extents are
    /// those of the arrays.
    ///
    /// ```
    /// use mind::{Module, Tensor};
    ///
    /// let module = Module::parse("mic@2\nS B\nT0 f32 B\na x T0\nr 0\nO 1")?;
    /// let outputs = module.interpret([("x", Tensor::of(vec![3], vec![-1.0f32, 0.0, 2.0]))])?;
    /// assert_eq!(outputs[0].elements::<f32>(), [0.0, 0.0, 2.0]);
    /// # Ok::<(), mind::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Errors if an array is missing or does not match, or if an op fails, for example because of an index out of
    /// bounds.
    pub fn interpret<N: Into<String>, T: Borrow<Tensor>>(
        &self,
        arrays: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Outputs, Error> {
        let named = arrays.into_iter();
        let arrays = named
            .map(|(name, array)| (name.into(), array.borrow().clone()))
            .collect();
        let module = self.without_states()?;
        let g = &module.graph;
        let bound = mind_interp::bind(g, &arrays, mind_interp::Extents::default());
        let bound = bound.map_err(|errors| module.unbound(&errors))?;
        let results = mind_interp::run(g, &bound, &mind_interp::RunConfig::default());
        let tensors = results.map_err(|error| self.refused(error.diagnostic(g)))?;
        let names = module.outputs().into_iter().map(|port| port.name);
        Ok(Outputs::new(names, tensors))
    }

    /// Returns the graph of ops and values.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the graph for modification; call [`verify`](Module::verify) afterwards.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    pub(crate) fn refused(&self, found: impl Into<Diagnostics>) -> Error {
        Error::Rejected(Rejected {
            diagnostics: found.into(),
            file: self.source.clone(),
        })
    }
}

/// Appends ops to the module.
impl Build for Module {
    fn builder(&mut self) -> Builder<'_> {
        let body = self.graph.body();
        let at = match self.graph.terminator(body) {
            Some(end) => InsertPoint::Before(end),
            None => InsertPoint::End(body),
        };
        Builder::new(&mut self.graph, at, Span::FILE)
    }
}

impl Default for Module {
    fn default() -> Module {
        Module::new()
    }
}

/// Prints Core text.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match session().formats.print(Format::Core, &self.graph) {
            Ok(text) => f.write_str(&text),
            Err(found) => write!(f, "# {found}"),
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Graph> for Module {
    fn from(graph: Graph) -> Module {
        Module {
            graph,
            source: Arc::new(SourceFile::new("<module>", "")),
            format: Format::Core.info(),
        }
    }
}

impl From<Module> for Graph {
    fn from(module: Module) -> Graph {
        module.graph
    }
}

/// Returns the dialects, formats and passes of all modules.
pub(crate) fn session() -> &'static Session {
    static SESSION: std::sync::OnceLock<Session> = std::sync::OnceLock::new();
    SESSION.get_or_init(Session::default)
}

/// Returns an error about a module as a whole.
pub(crate) fn error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Span::FILE, message)
}
