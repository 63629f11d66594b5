//! The reader of ONNX models.

mod damaged;
mod export;
mod import;
mod model;
mod open;
mod quantised;
mod refused;
