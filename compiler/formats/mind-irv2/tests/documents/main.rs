//! Documents and checkpoints as a whole.

#[path = "../../../mind-weights/tests/files/writers.rs"]
#[allow(dead_code, reason = "each test binary needs some of the writers")]
mod writers;

mod agreement;
mod checkpoint;
mod completed;
mod corrupted;
mod dialects;
mod encoders;
mod families;
mod hf;
mod images;
mod keys;
mod models;
#[path = "../../../../../tools/fuzz/fuzz_targets/mutated.rs"]
mod mutated;
mod pairs;
mod published;
mod rejections;
mod round_trip;
