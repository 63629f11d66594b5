//! The layer shared by the façade and the tools: registry, reading, pipelines, writing and running.
//!
//! - [`session`]: the dialects, formats and passes that all tools know. [`formats`]: the table of formats;
//!   [`mod@canonical`]: their canonical form.
//! - [`host`]: a tool's interface to files and processes; [`disk`]: its implementation on the file system. [`input`]
//!   and [`load`]: from a file to a verified module. [`mod@emit`] and [`draw`]: from a module to text and drawings.
//!   [`mod@interface`]: warnings about parts of a module's interface that an output format drops.
//! - [`engine`]: compiles modules. [`compiled`]: runs them for tools; [`executable`]: runs them for programs that hold
//!   a module. [`segments`]: the cut points of a program; [`cache`]: the compile cache on disk; [`tune`]: autotuning of
//!   schedules.
//! - [`patch`]: edits of modules. [`graph_diff`]: structural comparison; [`equivalence`]: comparison of results bit for
//!   bit.
//! - [`admission`]: checks the user's rules before they are enabled. [`history`]: descriptions of rewrites;
//!   [`mod@explain`]: the rewrites that led to a value; [`failure`]: diagnostics of failed pipelines.
//!
//! Features, all on by default, leave out parts that a pass author may not need: `egraph`, `loops` and `jit` are parts
//! of the compiler; `draw`, `irv2`, `mil`, `onnx` and `package` are formats.

#[cfg_attr(not(feature = "egraph"), path = "admission/absent.rs")]
pub mod admission;
#[cfg(feature = "jit")]
pub mod cache;
pub mod canonical;
#[cfg(feature = "jit")]
pub mod compiled;
#[cfg(feature = "jit")]
mod cut;
pub mod disk;
#[cfg(feature = "draw")]
pub mod draw;
pub mod emit;
#[cfg(feature = "jit")]
pub mod engine;
#[cfg(feature = "interp")]
pub mod equivalence;
#[cfg(feature = "jit")]
pub mod executable;
pub mod expected_panic;
pub mod explain;
pub mod failure;
pub mod formats;
pub mod graph_diff;
pub mod history;
pub mod host;
pub mod input;
pub mod interface;
pub mod load;
#[cfg_attr(not(feature = "mil"), path = "mil/absent.rs")]
pub mod mil;
pub mod patch;
#[cfg(feature = "jit")]
pub mod segments;
pub mod session;
#[cfg(feature = "jit")]
pub mod tune;
