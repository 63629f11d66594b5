//! Modules compiled for this machine.

use std::num::NonZero;
use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_interp::Bound;
use mind_ir::Graph;
use mind_ir::listener::Silent;
use mind_ir::verify::VerifyConfig;
use mind_jit::pool::Pool;
use mind_jit::program::{Options, Program};
use mind_jit::target::{Isa, TargetInfo};
use mind_pass::{
    Failure, Manager, PassError, Pipeline, Rewriting, Shared, Statistics, parse_pipeline,
};
use mind_transforms::{Known, specialize};

use crate::session::{PASSES, Session};

/// What runs before kernels are made, on a module whose extents are known. It keeps every bit.
pub const PIPELINE: &str = "canonicalize,cse,fuse,dce,lower-to-loops";

/// What an engine compiles for.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The instruction set; the widest of this machine unless given.
    pub isa: Option<Isa>,
    /// Threads; as many as the machine has unless given.
    pub threads: Option<NonZero<usize>>,
}

/// Compiles modules; its programs share its threads.
pub struct Engine {
    session: Session,
    pipeline: Pipeline,
    shared: Shared,
    rewriting: Rewriting,
    options: Options,
}

impl Engine {
    /// An engine for this machine.
    ///
    /// Errors: an instruction set that the machine lacks.
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
        Ok(Engine {
            session: Session::default(),
            pipeline: parse_pipeline(PIPELINE, &PASSES)?,
            shared: Shared::default(),
            rewriting: Rewriting::default(),
            options: Options {
                target: TargetInfo::with_detected_caches(isa),
                pool: Arc::new(Pool::new(threads)),
            },
        })
    }

    /// The machine that programs are compiled for.
    pub fn target(&self) -> &TargetInfo {
        &self.options.target
    }

    /// The threads that programs run on.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.options.pool
    }

    /// Lowers a verified module to kernels, by way of [`PIPELINE`].
    ///
    /// Errors: an extent that is not known, an op without loops.
    pub fn lower(&self, g: &mut Graph) -> Result<(), Diagnostics> {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: cfg!(debug_assertions),
            verify: VerifyConfig::default(),
            rewriting: &self.rewriting,
            shared: &self.shared,
        };
        let mut statistics = Statistics::default();
        let done = manager.run(&self.pipeline, g, &mut statistics, &mut Silent);
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

    /// Lowers a verified module to kernels for the extents of the arrays that are bound to it.
    ///
    /// Errors: extents that contradict each other, and those of [`lower`](Engine::lower).
    pub fn lower_for(&self, g: &mut Graph, bound: &Bound<'_>) -> Result<(), Diagnostics> {
        let known = Known {
            symbol: &|sym| bound.dims().get(sym).map(|extent| extent as i64),
            input: &|op, axis| bound.tensor(op).map(|tensor| tensor.shape()[axis] as i64),
        };
        specialize(g, &known, &VerifyConfig::default())?;
        self.lower(g)
    }

    /// Makes the code of a module of kernels.
    ///
    /// Errors: kernels that cannot be made.
    pub fn program(&self, lowered: &Graph) -> Result<Arc<Program>, Diagnostics> {
        let program = Program::compile(lowered, &self.options);
        program
            .map(Arc::new)
            .map_err(|why| Diagnostic::error(Span::FILE, why.to_string()).into())
    }

    /// Compiles a verified module for the extents of the arrays that are bound to it.
    ///
    /// Errors: those of [`lower_for`](Engine::lower_for) and [`program`](Engine::program).
    pub fn compile_for(&self, g: &Graph, bound: &Bound<'_>) -> Result<Arc<Program>, Diagnostics> {
        let mut g = g.clone();
        self.lower_for(&mut g, bound)?;
        self.program(&g)
    }
}

/// The threads that the machine can run at one time.
fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}
