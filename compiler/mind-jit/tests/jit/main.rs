//! Compiled kernels against the interpreters, bit for bit.

mod c;
mod elementwise;
mod guarded;
mod harness;
mod pool;
mod programs;
mod reductions;
mod samples;
