//! Modules compiled for this machine.

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

/// What runs before kernels are made, on a module whose extents are known. It keeps every bit.
pub const PIPELINE: &str = "canonicalize,cse,channels-last,fuse,dce,lower-to-loops";

/// As [`PIPELINE`], for targets that add up products of bytes.
pub const VNNI_PIPELINE: &str =
    "canonicalize,cse,channels-last,fuse,dce,lower-to-loops{dot-bytes=true}";

/// What runs before C is written: as [`PIPELINE`], but that weights stay as the caller has them.
pub const C_PIPELINE: &str = "canonicalize,cse,channels-last,fuse,dce,lower-to-loops{pack=never}";

/// The most threads that an engine starts.
pub const MAX_THREADS: usize = 1024;

/// What an engine compiles for.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The instruction set; the widest of this machine unless given.
    pub isa: Option<Isa>,
    /// Threads, at most [`MAX_THREADS`]; as many as the machine has unless given.
    pub threads: Option<NonZero<usize>>,
    /// The most bytes of a constant, and of all outputs; 4 GiB unless given.
    pub memory_limit: Option<u64>,
    /// The most steps of a loop whose end only running tells; [`EvalCx::MAX_STEPS`] unless given.
    pub max_steps: Option<u64>,
    /// How the panels that weights are packed into are chosen.
    pub panels: PanelChoice,
    /// What measures the steps of programs, if anything does.
    pub profiler: Option<Arc<Profiler>>,
    /// Where programs are kept, if anywhere.
    pub cache: Option<Arc<CompileCache>>,
    /// What chooses the schedules of kernels by measuring, if anything does.
    pub tuner: Option<Arc<Tuner>>,
}

/// Compiles modules; its programs share its threads.
pub struct Engine {
    session: Session,
    pipeline: Pipeline,
    shared: RunCache,
    options: Options,
    memory_limit: u64,
    cache: Option<Arc<CompileCache>>,
    tuner: Option<Arc<Tuner>>,
    /// All that programs depend on besides the module and this build.
    settings: String,
}

impl Engine {
    /// An engine for this machine.
    ///
    /// # Errors
    ///
    /// An instruction set that the machine lacks.
    pub fn new(config: &Config) -> Result<Engine, Diagnostics> {
        let isa = config.isa.unwrap_or_else(Isa::detect);
        if !isa.is_available() {
            let best = Isa::detect();
            let text = format!("this machine cannot run {isa}");
            let error = Diagnostic::error(Span::FILE, text);
            return Err(error
                .help(format!("the widest that it can is {best}"))
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

    /// The dialects, formats and passes.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The machine that programs are compiled for.
    pub fn target(&self) -> &TargetInfo {
        &self.options.target
    }

    /// The threads that programs run on.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.options.pool
    }

    /// Where what programs make of the weights in `files` is kept, for the model that the text `model` describes in full;
    /// `None` without a cache.
    ///
    /// # Errors
    ///
    /// A file that is not there.
    pub fn packing(&self, model: &str, files: &[PathBuf]) -> Option<io::Result<Packing>> {
        let cache = self.cache.as_ref()?;
        Some(cache.packing(&self.settings, (model, files)))
    }

    /// The most steps of a loop whose end only running tells.
    pub fn max_steps(&self) -> u64 {
        self.options.max_steps
    }

    /// Lowers a verified module to kernels, through [`PIPELINE`], or [`VNNI_PIPELINE`] where
    /// the target has VNNI.
    ///
    /// # Errors
    ///
    /// An extent that is not known, an op without loops.
    pub fn lower(&self, g: &mut Graph) -> Result<(), Diagnostics> {
        let Engine {
            session,
            shared,
            pipeline,
            ..
        } = self;
        lower(session, shared, pipeline, g)
    }

    /// Lowers a verified module to kernels for the extents of the arrays that are bound to it.
    ///
    /// # Errors
    ///
    /// Extents that contradict each other, constants or outputs beyond the memory limit, and those of
    /// [`lower`](Engine::lower).
    pub fn lower_for(&self, g: &mut Graph, bound: &Bound<'_>) -> Result<(), Diagnostics> {
        self.specialize_for(g, bound)?;
        check_sizes(g, self.memory_limit)?;
        self.lower(g)
    }

    /// Whether a verified module runs in parts for the extents of the arrays that are bound to it: an op decides the
    /// extents of what it computes. It is then run by an [`Executable`](crate::executable::Executable).
    ///
    /// # Errors
    ///
    /// Extents that contradict each other.
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

    /// Puts the extents of the arrays that are bound to a module in the place of names and `?`.
    fn specialize_for(&self, g: &mut Graph, bound: &Bound<'_>) -> Result<(), Diagnostics> {
        let known = Known {
            symbol: &|sym| bound.dims().get(sym).map(|extent| extent as i64),
            input: &|op, axis| bound.tensor(op).map(|tensor| tensor.shape()[axis] as i64),
        };
        specialize(g, &known, &VerifyConfig::default())?;
        Ok(())
    }

    /// Makes the code of a module of kernels.
    ///
    /// # Errors
    ///
    /// Kernels that cannot be made.
    pub fn program(&self, lowered: &Graph) -> Result<Arc<Program>, Diagnostics> {
        let program = Program::compile(lowered, &self.options);
        program.map(Arc::new).map_err(|why| refused(&why))
    }

    /// Compiles a verified module for the extents of the arrays that are bound to it.
    ///
    /// # Errors
    ///
    /// Those of [`lower_for`](Engine::lower_for) and [`program`](Engine::program).
    pub fn compile_for(&self, g: &Graph, bound: &Bound<'_>) -> Result<Arc<Program>, Diagnostics> {
        let (program, _) = self.compile_and_cut(g, bound)?;
        Ok(program)
    }

    /// As [`compile_for`](Engine::compile_for), with the ops at which the program is cut.
    ///
    /// # Errors
    ///
    /// Those of [`compile_for`](Engine::compile_for).
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

    /// Compiles a verified module whose extents are known, or takes what the cache has of it. Returns the ops at which the
    /// program is cut, too.
    ///
    /// # Errors
    ///
    /// Those of [`lower`](Engine::lower) and [`program`](Engine::program).
    pub fn compile(&self, mut g: Graph) -> Result<(Arc<Program>, Segments), Diagnostics> {
        let Some(cache) = &self.cache else {
            self.lower(&mut g)?;
            let program = self.tuned(&mut g)?.0;
            return Ok((program, Segments::of(&g)));
        };
        let request = cache.request(&g, &self.settings);
        let chosen = [b"chosen", request.digest()];
        if let Some(Entry { lowered, code }) = cache.load(&request, &self.session.registry) {
            // SAFETY: the key of the entry says that this build made the code of this module, for these options.
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

    /// Makes the code of a module of kernels, whose schedules are first chosen by measuring where the engine has a
    /// tuner; returns what was changed, too.
    ///
    /// # Errors
    ///
    /// Those of [`program`](Engine::program).
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
        // Kernels that run alone may still not run together; the module is then as it was.
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

/// A verified module, whose extents are known, as one C file with the function `name`; with `has_main` as a
/// program.
///
/// # Errors
///
/// An extent that is not known, an op without loops, a name that C cannot have.
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

/// A verified module, whose extents are known, as an object file; [`ObjectConfig`] says for what.
///
/// # Errors
///
/// An extent that is not known, an op without loops, one that only the compiler evaluates, a name that C cannot have, too
/// many constants.
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

/// Whether a value of a module holds integers of 8 bits.
#[cfg(feature = "object")]
fn has_bytes(g: &Graph) -> bool {
    let is_byte = |value: ValueId| matches!(g.ty(value).dtype, DType::I8 | DType::U8);
    g.walk().any(|op| g.results(op).into_iter().any(is_byte))
}

/// The tiles that products in functions of C are computed in; 0 leaves a number to the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CTiles {
    /// Rows of a tile.
    pub rows: u32,
    /// Vectors of a row.
    pub vectors: u32,
    /// Terms of a chain that are computed at a time.
    pub depth: u32,
}

/// A verified module, whose extents are known, as functions of C that read packed weights. Kernels are among
/// `shared`.
///
/// # Errors
///
/// An extent that is not known, an op without loops, a name that C cannot have, tiles that the registers do not hold.
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

/// Why a module could not be compiled, as one error of the file.
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

/// What lets a process have more memory.
pub const MORE_MEMORY: &str =
    "smaller inputs need less memory; `ulimit -v` shows the limit on the process";

/// An error of the file: the system gives no memory.
pub(crate) fn out_of_memory(why: &RunError) -> Diagnostic {
    let mut error = Diagnostic::error(Span::FILE, why.to_string());
    error.code = Some(Code(6004));
    error.help(MORE_MEMORY)
}

/// Checks that each constant, which code holds or makes before it runs, and the outputs together are within
/// the limit, before anything is allocated for them.
///
/// # Errors
///
/// E6004.
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

/// Runs a pipeline that makes kernels.
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

/// The threads that the machine can run at one time.
fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}
