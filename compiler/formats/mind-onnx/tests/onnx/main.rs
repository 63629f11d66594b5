//! Tests of the importer and exporter of ONNX models.

mod damaged;
mod export;
mod guard;
mod import;
mod kernels;
mod model;
mod older;
mod open;
mod quantised;
mod refused;
mod windows;
