//! The tools through a host in memory.

mod benchmarks;
mod formatting;
mod hostile;
mod lowering;
mod memory_host;
mod npz_files;
mod outputs;
mod patches;
mod places;
mod rejections;
mod usage;
