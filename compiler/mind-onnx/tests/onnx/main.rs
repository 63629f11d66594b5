//! The reader of ONNX models.

mod damaged;
mod export;
mod import;
mod model;
mod quantised;
mod refused;
