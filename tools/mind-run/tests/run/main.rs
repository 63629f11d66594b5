//! The tool through a host in memory, and the files of arrays that it reads.

mod benchmarks;
mod conversations;
mod hostile;
mod memory_host;
mod npz_files;
mod outputs;
mod rejections;
mod usage;
