//! ONNX models as modules of core.
//!
//! `proto.rs` has the messages of the format, `tensor.rs` the elements in them and `files.rs` those beside them;
//! `operators/` has a row for each operator, one file a family; `import/` walks a graph, folds what it does with shapes
//! and gathers what cannot be imported in the report of `mind-convert`. `export/` is the way back: what each op of core is in ONNX, one
//! file a family.

mod export;
mod files;
mod import;
mod interface;
mod operators;
mod options;
pub mod proto;
mod read;
mod tensor;

pub use export::{DEFAULT_OPSET, ExportOptions, Exported, OPSETS, write};
pub use files::{Files, files};
pub use mind_convert::Imported;
pub use operators::{ReadOperator, operators};
pub use options::ImportOptions;
pub use prost::bytes::Bytes;
pub use read::{import, is_model, read};
