//! Compiles modules for this machine.

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use mind_core::ops::input::Input;
use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_interp::Bound;
use mind_ir::eval::EvalCx;
use mind_ir::listener::NoopListener;
use mind_ir::opdef::Trait;
use mind_ir::types::{DType, Dim};
use mind_ir::verify::VerifyConfig;
use mind_ir::{Graph, OpId, ValueId};
use mind_jit::pool::Pool;
use mind_jit::profile::Profiler;
use mind_jit::program::{
    CPart, Options, PanelChoice, Program, ProgramError, RunError, c_part, emit_c,
};
#[cfg(feature = "object")]
use mind_jit::program::{ObjectConfig, ObjectFile, emit_object};
use mind_pass::{
    Failure, Manager, PassError, Pipeline, RewriteOptions, RunCache, Statistics, parse_pipeline,
};
use mind_transforms::{Known, specialize};
use mind_vir::c::SharedFunctions;
use mind_vir::target::{Isa, TargetInfo, processor};
use serde_json::Value;

use crate::cache::{CompileCache, Entry, Packing};
use crate::cut::{cut, has_in_regions};
use crate::segments::Segments;
use crate::session::{PASSES, Session};
use crate::tune::{Choice, Tuner, Tuning};

pub use mind_transforms::quantize_activations;

/// Pipeline that lowers a module with known extents to kernels. Results stay bit-identical.
pub const PIPELINE: &str = "canonicalize,cse,channels-last,fuse,dce,lower-to-loops";

/// As [`PIPELINE`], for targets with dot products of bytes (VNNI).
pub const VNNI_PIPELINE: &str =
    "canonicalize,cse,channels-last,fuse,dce,lower-to-loops{dot-bytes=true}";

/// Pipeline for the output of C: as [`PIPELINE`], without packing weights, because the caller supplies them.
pub const C_PIPELINE: &str = "canonicalize,cse,channels-last,fuse,dce,lower-to-loops{pack=never}";

/// Limit on the number of threads of an engine.
pub const MAX_THREADS: usize = 1024;

/// Configuration of an engine.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The instruction set; by default the widest of this machine.
    pub isa: Option<Isa>,
    /// Number of threads, at most [`MAX_THREADS`]; by default one per hardware thread.
    pub threads: Option<NonZero<usize>>,
    /// Limit in bytes on each constant, and on all outputs together; by default 4 GiB.
    pub memory_limit: Option<u64>,
    /// Limit on the steps of a loop with a data-dependent trip count; by default [`EvalCx::MAX_STEPS`].
    pub max_steps: Option<u64>,
    /// How the panels of packed weights are chosen.
    pub panels: PanelChoice,
    /// Profiler of the steps of programs, if any.
    pub profiler: Option<Arc<Profiler>>,
    /// Cache of compiled programs, if any.
    pub cache: Option<Arc<CompileCache>>,
    /// Autotuner of kernel schedules, if any.
    pub tuner: Option<Arc<Tuner>>,
}

/// Compiles modules; its programs share its thread pool.
pub struct Engine {
    session: Session,
    pipeline: Pipeline,
    shared: RunCache,
    options: Options,
    memory_limit: u64,
    cache: Option<Arc<CompileCache>>,
    tuner: Option<Arc<Tuner>>,
    /// Everything that programs depend on besides the module and this build, as part of the cache key.
    settings: String,
}

impl Engine {
    /// Creates an engine for this machine.
    ///
    /// # Errors
    ///
    /// Errors if the machine lacks the instruction set.
    pub fn new(config: &Config) -> Result<Engine, Diagnostics> {
        let isa = config.isa.unwrap_or_else(Isa::detect);
        if !isa.is_available() {
            let best = Isa::detect();
            let text = format!("this machine cannot run {isa}");
            let error = Diagnostic::error(Span::FILE, text);
            return Err(error
                .help(format!(
                    "the widest instruction set that it supports is {best}"
                ))
                .into());
        }
        let threads = config.threads.map_or_else(available_threads, NonZero::get);
        let threads = threads.min(MAX_THREADS);
        let target = TargetInfo::detected(isa);
        let pipeline = if target.has_vnni {
            VNNI_PIPELINE
        } else {
            PIPELINE
        };
        let mut settings = format!("{pipeline} {target:?} {:?}", config.panels);
        if let Some(tuner) = &config.tuner {
            settings += &format!(", tuned {} on {threads} of {}", tuner.limit(), processor());
        }
        Ok(Engine {
            session: Session::default(),
            pipeline: parse_pipeline(pipeline, &PASSES)?,
            shared: RunCache::default(),
            settings,
            cache: config.cache.clone(),
            tuner: config.tuner.clone(),
            memory_limit: config.memory_limit.unwrap_or(EvalCx::TENSOR_LIMIT),
            options: Options {
                target,
                pool: Arc::new(Pool::new(threads)),
                panels: config.panels,
                max_steps: config.max_steps.unwrap_or(EvalCx::MAX_STEPS),
                profiler: config.profiler.clone(),
            },
        })
    }

    /// Returns the dialects, formats and passes.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the target that programs are compiled for.
    pub fn target(&self) -> &TargetInfo {
        &self.options.target
    }

    /// Returns the thread pool of the programs.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.options.pool
    }

    /// Returns the location of the packed weights for the weight files `files` and the model that the text `model`
    /// describes in full; returns `None` without a cache.
    ///
    /// # Errors
    ///
    /// Errors if a file does not exist.
    pub fn packing(&self, model: &str, files: &[PathBuf]) -> Option<io::Result<Packing>> {
        let cache = self.cache.as_ref()?;
        Some(cache.packing(&self.settings, (model, files)))
    }

    /// Returns the limit on the steps of a loop with a data-dependent trip count.
    pub fn max_steps(&self) -> u64 {
        self.options.max_steps
    }

    /// Lowers a verified module to kernels with [`PIPELINE`], or with [`VNNI_PIPELINE`] if the target has VNNI.
    ///
    /// # Errors
    ///
    /// Errors if an extent is unknown or an op cannot be lowered to loops.
    pub fn lower(&self, g: &mut Graph) -> Result<(), Diagnostics> {
        let Engine {
            session,
            shared,
            pipeline,
            ..
        } = self;
        lower(session, shared, pipeline, g)
    }

    /// Lowers a verified module to kernels, specialised to the extents of the bound arrays.
    ///
    /// # Errors
    ///
    /// Errors if extents contradict each other, if constants or outputs exceed the memory limit, and as
    /// [`lower`](Engine::lower).
    pub fn lower_for(&self, g: &mut Graph, bound: &Bound<'_>) -> Result<(), Diagnostics> {
        self.specialize_for(g, bound)?;
        check_sizes(g, self.memory_limit)?;
        self.lower(g)
    }

    /// Returns whether a verified module runs in parts for the extents of the bound arrays, because an op has a
    /// data-dependent shape. It is then run by an [`Executable`](crate::executable::Executable).
    ///
    /// # Errors
    ///
    /// Errors if extents contradict each other.
    pub fn is_cut(&self, g: &Graph, bound: &Bound<'_>) -> Result<bool, Diagnostics> {
        let is_open = |value: ValueId| g.ty(value).shape.contains(&Dim::Dynamic);
        let mut ops = g.ops(g.body()).filter(|&op| !g.is::<Input>(op));
        if !ops.any(|op| g.results(op).into_iter().any(is_open) || has_in_regions(g, op, is_open)) {
            return Ok(false);
        }
        let mut g = g.clone();
        self.specialize_for(&mut g, bound)?;
        Ok(cut(&g).is_some())
    }

    /// Replaces symbolic and unknown extents by those of the bound arrays.
    fn specialize_for(&self, g: &mut Graph, bound: &Bound<'_>) -> Result<(), Diagnostics> {
        let known = Known {
            symbol: &|sym| bound.dims().get(sym).map(|extent| extent as i64),
            input: &|op, axis| bound.tensor(op).map(|tensor| tensor.shape()[axis] as i64),
        };
        specialize(g, &known, &VerifyConfig::default())?;
        Ok(())
    }

    /// Generates the code of a module of kernels.
    ///
    /// # Errors
    ///
    /// Errors if a kernel cannot be compiled.
    pub fn program(&self, lowered: &Graph) -> Result<Arc<Program>, Diagnostics> {
        let program = Program::compile(lowered, &self.options);
        program.map(Arc::new).map_err(|why| refused(&why))
    }

    /// Compiles a verified module, specialised to the extents of the bound arrays.
    ///
    /// # Errors
    ///
    /// Errors as [`lower_for`](Engine::lower_for) and [`program`](Engine::program).
    pub fn compile_for(&self, g: &Graph, bound: &Bound<'_>) -> Result<Arc<Program>, Diagnostics> {
        let (program, _) = self.compile_and_cut(g, bound)?;
        Ok(program)
    }

    /// As [`compile_for`](Engine::compile_for); also returns the cut points of the program.
    ///
    /// # Errors
    ///
    /// Errors as [`compile_for`](Engine::compile_for).
    pub fn compile_and_cut(
        &self,
        g: &Graph,
        bound: &Bound<'_>,
    ) -> Result<(Arc<Program>, Segments), Diagnostics> {
        let mut g = g.clone();
        self.specialize_for(&mut g, bound)?;
        check_sizes(&g, self.memory_limit)?;
        self.compile(g)
    }

    /// Compiles a verified module with known extents, or loads it from the cache. Also returns the cut points of the
    /// program.
    ///
    /// # Errors
    ///
    /// Errors as [`lower`](Engine::lower) and [`program`](Engine::program).
    pub fn compile(&self, mut g: Graph) -> Result<(Arc<Program>, Segments), Diagnostics> {
        let Some(cache) = &self.cache else {
            self.lower(&mut g)?;
            let program = self.tuned(&mut g)?.0;
            return Ok((program, Segments::of(&g)));
        };
        let request = cache.request(&g, &self.settings);
        let chosen = [b"chosen", request.digest()];
        if let Some(Entry { lowered, code }) = cache.load(&request, &self.session.registry) {
            // SAFETY: the cache key confirms that this build compiled the code from this module with these options.
            let program = unsafe { Program::restore(&lowered, &self.options, &code) };
            if let Ok(program) = program {
                if let Some(tuner) = &self.tuner {
                    let kept = cache.note(&chosen);
                    let kept = kept.as_ref().and_then(Value::as_array);
                    tuner.add(
                        kept.into_iter()
                            .flatten()
                            .filter_map(Choice::read)
                            .collect(),
                    );
                }
                return Ok((Arc::new(program), Segments::of(&lowered)));
            }
        }
        self.lower(&mut g)?;
        let (program, choices) = self.tuned(&mut g)?;
        if self.tuner.is_some() {
            let choices: Vec<Value> = choices.iter().map(Choice::json).collect();
            cache.keep_note(&chosen, &Value::Array(choices));
        }
        cache.keep(&request, &g, &program.code());
        Ok((program, Segments::of(&g)))
    }

    /// Generates the code of a module of kernels, after tuning their schedules if the engine has a tuner. Also returns
    /// the schedules that were changed.
    ///
    /// # Errors
    ///
    /// Errors as [`program`](Engine::program).
    fn tuned(&self, lowered: &mut Graph) -> Result<(Arc<Program>, Vec<Choice>), Diagnostics> {
        let Some(tuner) = &self.tuner else {
            return Ok((self.program(lowered)?, Vec::new()));
        };
        let tuning = Tuning {
            tuner,
            options: &self.options,
            cache: self.cache.as_deref().map(|cache| (cache, &*self.settings)),
        };
        let mut tuned = lowered.clone();
        let choices = tuning.tune(&mut tuned);
        // Kernels that compile alone may fail in the whole program, for example because of memory; the untuned module
        // is then used.
        match self.program(&tuned) {
            Ok(program) => {
                *lowered = tuned;
                tuner.add(choices.clone());
                Ok((program, choices))
            }
            Err(_) => Ok((self.program(lowered)?, Vec::new())),
        }
    }
}

/// Prints a verified module with known extents as a C file with the function `name`, and with a `main` function if
/// `has_main`.
///
/// # Errors
///
/// Errors if an extent is unknown, if an op cannot be lowered to loops, or if `name` is not a valid name in C.
pub fn c_text(
    session: &Session,
    mut g: Graph,
    name: &str,
    has_main: bool,
) -> Result<String, Diagnostics> {
    check_sizes(&g, EvalCx::TENSOR_LIMIT)?;
    let pipeline = parse_pipeline(C_PIPELINE, &PASSES)?;
    lower(session, &RunCache::default(), &pipeline, &mut g)?;
    emit_c(&g, name, has_main).map_err(|why| refused(&why))
}

/// Compiles a verified module with known extents to an object file for the targets of `config`.
///
/// # Errors
///
/// Errors if an extent is unknown, if an op cannot be lowered to loops or can only be evaluated by the compiler, if the
/// name is not a valid name in C, or if there are too many constants.
#[cfg(feature = "object")]
pub fn object_file(
    session: &Session,
    g: Graph,
    config: &ObjectConfig<'_>,
) -> Result<ObjectFile, Diagnostics> {
    check_sizes(&g, EvalCx::TENSOR_LIMIT)?;
    let shared = RunCache::default();
    let lowered = |pipeline: &str, mut g: Graph| -> Result<Graph, Diagnostics> {
        let pipeline = parse_pipeline(pipeline, &PASSES)?;
        lower(session, &shared, &pipeline, &mut g)?;
        Ok(g)
    };
    let may_use_vnni = config.isas.iter().any(|isa| isa.may_have_vnni());
    let dotted = match may_use_vnni && has_bytes(&g) {
        true => Some(lowered(VNNI_PIPELINE, g.clone())?),
        false => None,
    };
    let g = lowered(PIPELINE, g)?;
    emit_object(&g, dotted.as_ref(), config).map_err(|why| refused(&why))
}

/// Returns whether the module has values of 8-bit integers.
#[cfg(feature = "object")]
fn has_bytes(g: &Graph) -> bool {
    let is_byte = |value: ValueId| matches!(g.ty(value).dtype, DType::I8 | DType::U8);
    g.walk().any(|op| g.results(op).into_iter().any(is_byte))
}

/// Register tiles of matrix products in generated C; 0 leaves a size to the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CTiles {
    /// Rows of a tile.
    pub rows: u32,
    /// Vectors per row.
    pub vectors: u32,
    /// Depth of a cache block: terms of a dot product per block.
    pub depth: u32,
}

/// Prints a verified module with known extents as C functions that read packed weights. Kernels are added to `shared`.
///
/// # Errors
///
/// Errors if an extent is unknown, if an op cannot be lowered to loops, if `name` is not a valid name in C, or if a
/// tile does not fit in the registers.
pub fn c_functions(
    session: &Session,
    mut g: Graph,
    name: &str,
    tiles: CTiles,
    shared: &mut SharedFunctions,
) -> Result<CPart, Diagnostics> {
    let CTiles {
        rows,
        vectors,
        depth,
    } = tiles;
    let pipeline =
        format!("{PIPELINE}{{micro-rows={rows} micro-vectors={vectors} block-depth={depth}}}");
    let pipeline = parse_pipeline(&pipeline, &PASSES)?;
    lower(session, &RunCache::default(), &pipeline, &mut g)?;
    c_part(&g, name, shared).map_err(|why| refused(&why))
}

/// Converts a compile error to a diagnostic.
fn refused(why: &ProgramError) -> Diagnostics {
    match why {
        ProgramError::OutOfMemory(why) => out_of_memory(why).into(),
        ProgramError::Evaluated { span, .. } | ProgramError::NoCode { span, .. } => {
            let error = Diagnostic::error(*span, why.to_string());
            error.help("`mind-run` runs the module").into()
        }
        ProgramError::Op { .. }
        | ProgramError::Kernel { .. }
        | ProgramError::Object(_)
        | ProgramError::C(_)
        | ProgramError::Memory(_) => Diagnostic::error(Span::FILE, why.to_string()).into(),
    }
}

/// Help for errors of memory.
pub const MORE_MEMORY: &str =
    "smaller inputs need less memory; `ulimit -v` shows the limit on the process";

/// Returns the error for a failed allocation.
pub(crate) fn out_of_memory(why: &RunError) -> Diagnostic {
    let mut error = Diagnostic::error(Span::FILE, why.to_string());
    error.code = Some(Code(6004));
    error.help(MORE_MEMORY)
}

/// Checks that each constant, and all outputs together, are within the limit, before memory is allocated for them.
///
/// # Errors
///
/// Errors with E6004.
fn check_sizes(g: &Graph, limit: u64) -> Result<(), Diagnostics> {
    let bytes = |value: ValueId| {
        let ty = g.ty(value);
        let count = ty.count().and_then(|count| u64::try_from(count).ok());
        count.and_then(|count| count.checked_mul(ty.dtype.size() as u64))
    };
    let refuse = |op: OpId, text: String| {
        let mut error = Diagnostic::error(g.span(op), text);
        error.code = Some(Code(6004));
        Err(error.help("`--memory-limit` allows more").into())
    };
    for op in g.walk() {
        let constants = g
            .results(op)
            .into_iter()
            .filter(|_| g.def(op).has(Trait::Constant));
        for value in constants {
            if bytes(value).is_some_and(|bytes| bytes > limit) {
                let ty = g.ty(value).text(g.symbols());
                let text = format!("a constant of {ty} needs more than the allowed {limit} bytes");
                return refuse(op, text);
            }
        }
    }
    let total = g.outputs().iter().filter_map(|&value| bytes(value));
    let total = total.fold(0u64, u64::saturating_add);
    match g.terminator(g.body()) {
        Some(end) if total > limit => {
            let text = format!("the outputs need {total} bytes, more than the allowed {limit}");
            refuse(end, text)
        }
        _ => Ok(()),
    }
}

/// Runs a pipeline that lowers to kernels.
fn lower(
    session: &Session,
    shared: &RunCache,
    pipeline: &Pipeline,
    g: &mut Graph,
) -> Result<(), Diagnostics> {
    let manager = Manager {
        registry: &session.registry,
        verify_each: cfg!(debug_assertions),
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared,
    };
    let mut statistics = Statistics::default();
    let done = manager.run(pipeline, g, &mut statistics, &mut NoopListener);
    done.map_err(|failure| match failure {
        Failure::Pass {
            error: PassError::Rejected(found),
            ..
        } => (*found).into(),
        Failure::Pass {
            error: PassError::Invalid(found),
            ..
        }
        | Failure::Invalid { found, .. } => found,
        Failure::Pass { pass, error } => {
            Diagnostic::error(Span::FILE, format!("{pass}: {error}")).into()
        }
    })
}

/// Returns the number of hardware threads.
fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}
