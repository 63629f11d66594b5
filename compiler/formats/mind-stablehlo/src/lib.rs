//! Importer of StableHLO modules to core.
//!
//! `text/` parses the text that JAX and other MLIR tools print. `ops/` has a table row for each op, with one file for
//! each family. `import/` imports the public function: it inlines calls, folds the arithmetic on shapes, and collects
//! everything that cannot be imported in the report of `mind-convert`.

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
