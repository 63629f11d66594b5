//! What the façade and the tools share: the default registry, reading, pipelines, writing, running.
//!
//! - [`session`] holds the dialects, formats and passes that all tools know; [`formats`] is the table of formats,
//!   [`mod@canonical`] their canonical form.
//! - [`host`] is what a tool may touch of the world, [`disk`] the real one; [`input`] and [`load`] lead from a file to a
//!   verified module, [`mod@emit`] and [`draw`] back to text and pictures; [`mod@interface`] says what a format leaves out.
//! - [`engine`] compiles modules, [`compiled`] runs them for tools and [`executable`] for programs that hold a module;
//!   [`segments`] says at which ops a program is cut, [`cache`] keeps programs on disk, [`tune`] measures schedules.
//! - [`patch`] edits modules, [`graph_diff`] compares them as graphs, [`equivalence`] by the bits of their results.
//! - [`admission`] checks rules of the user before they act, [`history`] words what rewrites did, [`mod@explain`] which of
//!   them led to a value, [`failure`] why a pipeline stopped.
//!
//! Features, all on by default, leave out what a pass author may not need: `egraph`, `loops` and `jit` are parts of the
//! compiler, `draw`, `irv2`, `mil`, `onnx` and `package` formats.

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
