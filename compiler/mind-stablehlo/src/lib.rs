//! StableHLO modules as modules of core.
//!
//! `text/` parses the text that JAX and other tools of MLIR print into functions and operations; `ops/` has a row for
//! each op, one file a family; `import/` walks the public function, inlines those that it calls, folds what it does with
//! extents and gathers in `report.rs` what cannot be imported.

mod constant;
mod import;
mod ops;
mod options;
mod read;
mod refused;
mod report;
mod text;

pub use ops::op_names;
pub use options::ImportOptions;
pub use read::{is_module, read};
