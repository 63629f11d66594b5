//! The reader of ONNX models.

mod damaged;
mod import;
mod model;
mod refused;
