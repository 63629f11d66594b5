//! Benchmark modules and their measurement.

use mind_driver::formats::{Format, Formats};
use mind_ir::Graph;
use mind_ir::verify::{VerifyConfig, verify};
use mind_text::Limits;

pub mod dense;
pub mod generate;
pub mod pages;
pub mod qwen2;
pub mod workloads;

/// Returns the median of some times.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Parses and verifies a module.
///
/// # Panics
///
/// If the text is invalid.
pub fn parsed(formats: &Formats, format: Format, text: &str) -> Graph {
    let read = formats.parse(format, text, 0, &Limits::none());
    let mut g = read.unwrap_or_else(|found| panic!("{found:?}"));
    assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
    g
}
