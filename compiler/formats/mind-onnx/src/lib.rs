//! Importer and exporter of ONNX models.
//!
//! `proto.rs` has the messages of the format, `tensor.rs` decodes elements, and `files.rs` reads external data.
//! `operators/` has a table row for each operator, with one file for each family. `import/` walks a graph, folds shape
//! arithmetic, and collects everything that cannot be imported in the report of `mind-convert`. `export/` is the
//! reverse: it has a row for each core op, with one file for each family.

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
