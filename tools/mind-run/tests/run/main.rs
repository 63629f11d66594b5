//! The tool on a host in memory, and its array files.

mod benchmarks;
mod conversations;
mod hostile;
mod memory_host;
mod npz_files;
mod outputs;
mod rejections;
mod usage;
