//! The public Rust API of mind-opt: reading, building, optimising, compiling and running modules.
//!
//! ```
//! use mind::{Config, Level, Module, Tensor};
//!
//! let text = "mic@2\nT0 f32 2 2\na x T0\np w T0\nm 0 1\nr 2\nO 3";
//! let mut module = Module::parse(text)?;
//! module.optimize(Level::O2)?;
//!
//! let executable = module.compile(&Config::default())?;
//! let w = Tensor::of(vec![2, 2], vec![1.0f32, -1.0, 1.0, 1.0]);
//! let model = executable.bind([("w", &w)])?;
//! let x = Tensor::of(vec![2, 2], vec![1.0f32, 2.0, 3.0, 4.0]);
//! let outputs = model.run([("x", &x)])?;
//! assert_eq!(outputs[0].elements::<f32>(), [3.0, 1.0, 7.0, 1.0]);
//! # Ok::<(), mind::Error>(())
//! ```
//!
//! - [`Module`]: reading, building, verifying, printing and interpreting; [`ReadOptions`]: options for reading.
//! - [`Statement`]: iteration over ops.
//! - [`Optimizer`]: pass pipelines and rewrite rules; [`Report`]: the rewrites they made. [`check_rules`]: soundness
//!   checks of rules.
//! - [`Executable`]: machine code, called with arrays by name or as borrowed views.
//! - [`decoder`] and [`encoder`]: models that generate text, and models that compute embeddings.
//! - [`ir`]: the formats mic@1 and mic@2 as functions, and the graph of a module.
//! - [`patch`]: edits of a module by the ids of its values.

mod compare;
mod error;
mod exec;
mod generation;
mod module;
mod optimize;
mod read;
mod rules;
mod run;
mod statement;
mod types;
mod write;

pub mod decoder;
pub mod encoder;
pub mod ir;

pub use error::{Error, Rejected};
pub use exec::{
    BoundProgram, CacheStats, CompileCache, Config, Engine, Executable, ExecutionError, Isa, Model,
    RunError, View, ViewMut, interruptible,
};
pub use mind_diag::{Diagnostic, Diagnostics, Severity, SourceFile, Span};
pub use mind_driver::input::FileError;
pub use mind_ir::ValueId;
pub use mind_ir::builder::{Build, Builder};
pub use module::{Format, Module, Port};
pub use optimize::{
    FastMath, Level, Optimizer, PassReport, Remark, Report, RuleCounts, RuleReport,
};
pub use read::ReadOptions;
pub use rules::{Refusal, RuleVerdict, check_rules};
pub use run::{Buffer, Element, Outputs, Tensor};
pub use statement::{Attribute, Body, Statement};
pub use types::{DType, Extent, Type};
pub use write::Written;

/// The ops of the core dialect, by family. Each has a constructor `build`, and `with` to set attributes first, if it
/// has any.
///
/// ```
/// use mind::Module;
/// use mind::ops::contract::MatMul;
/// use mind::ops::reduce::Sum;
/// use mind::ops::shape::Transpose;
///
/// let mut module = Module::new();
/// let x = module.input("x", "f32[2, 3]")?;
/// let columns = Transpose::with().permutation(&[1, 0]).build(&mut module, x)?;
/// let products = MatMul::build(&mut module, x, columns)?;
/// let sums = Sum::with().axes(&[1]).keepdims(true).build(&mut module, products)?;
/// module.output(sums);
/// assert_eq!(module.outputs()[0].ty.to_string(), "f32[2, 1]");
/// # Ok::<(), mind::Error>(())
/// ```
pub mod ops {
    pub use mind_core::ops::*;
}

/// Times of the steps of programs, measured by the profiler of [`Config`].
pub mod profile {
    pub use mind_jit::profile::{Event, Origin, Profiler, Row};
}

/// Autotuning of schedules by the tuner of [`Config`]. The caller supplies the clock:
///
/// ```
/// use std::sync::Arc;
/// use std::time::Instant;
/// use mind::tune::Tuner;
/// use mind::{Config, Module, Tensor};
///
/// let began = Instant::now();
/// let tuner = Arc::new(Tuner::new(Tuner::LIMIT, move || began.elapsed()));
/// let config = Config {
///     tuner: Some(tuner.clone()),
///     ..Config::default()
/// };
/// let module = Module::parse("mic@2\nT0 f32 2\na x T0\nr 0\nO 1")?;
/// let executable = module.compile(&config)?;
/// assert!(tuner.measured() > 0);
/// let x = Tensor::of(vec![2], vec![1.0f32, -1.0]);
/// assert_eq!(executable.run([("x", x)])?[0].elements::<f32>(), [1.0, 0.0]);
/// # Ok::<(), mind::Error>(())
/// ```
pub mod tune {
    pub use mind_driver::tune::{Choice, Stopwatch, Tuner};
}

/// Edits of a module by the ids of its values, applied all or none.
///
/// ```
/// use mind::{Format, Module};
/// use mind::patch::Edit;
///
/// let mut module = Module::parse("mic@2\nT0 f32 4\na x T0\nr 0\nO 1")?;
/// let edits = Edit::read_all(r#"[{"replace": 1, "with": {"op": "Tanh", "operands": [0]}}]"#);
/// module.apply(&edits.unwrap())?;
/// assert_eq!(module.print(Format::Mic2)?, "mic@2\nT0 f32 4\na x T0\nth 0\nO 1");
/// # Ok::<(), mind::Error>(())
/// ```
pub mod patch {
    pub use mind_driver::patch::{Edit, NewBody, NewStatement, PatchError, Place};
}
