//! ONNX models as modules of core.
//!
//! `proto.rs` has the messages of the format and `tensor.rs` the elements in them; `operators/` has a row for each
//! operator, one file a family; `import/` walks a graph, folds what it does with shapes and gathers in `report.rs` what
//! cannot be imported. `export/` is the way back: what each op of core is in ONNX, one file a family.

mod export;
mod import;
mod operators;
mod options;
pub mod proto;
mod read;
mod refused;
mod report;
mod tensor;

pub use export::{DEFAULT_OPSET, ExportOptions, Exported, OPSETS, output_names, write};
pub use options::ImportOptions;
pub use read::{is_model, read};
