//! Documents and checkpoints as a whole.

#[path = "../../../mind-weights/tests/files/writers.rs"]
#[allow(dead_code, reason = "each test binary needs some of the writers")]
mod writers;

mod checkpoint;
mod corrupted;
mod dialects;
mod hf;
mod models;
mod rejections;
mod round_trip;
