//! StableHLO modules as modules of core.
//!
//! `text/` parses the text that JAX and other tools of MLIR print into functions and operations; `ops/` has a row for
//! each op, one file a family; `import/` walks the public function, inlines those that it calls, folds what it does with
//! extents and gathers what cannot be imported in the report of `mind-convert`.

mod constant;
mod import;
mod ops;
mod options;
mod read;
mod text;

pub use mind_convert::Imported;
pub use ops::op_names;
pub use options::ImportOptions;
pub use read::{import, is_module, read};
