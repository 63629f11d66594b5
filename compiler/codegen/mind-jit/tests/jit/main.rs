//! Compiled kernels against the interpreters, bit for bit.

mod block_products;
mod byte_products;
mod c;
mod columns;
mod conversions;
mod convolutions;
mod dot_bytes;
mod elementwise;
mod harness;
mod if_any;
mod lookups;
mod moved_bytes;
mod nests;
mod parts;
mod pool;
mod products;
mod programs;
mod quantised;
mod reductions;
mod reference;
mod samples;
